"""A kernel that only prints is no product; one that reads its matrices and stores nothing is a wrong one."""

from pathlib import Path

import pytest
from test_guess_false_alarms import program, tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle

SIGNATURE = "const float *A, const float *B, float *C, int M, int N, int K"
PLACE = "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n"
PRINT = '    if (row < M && col < N) printf("C[%d], from A + %p\\n", row * N + col, (void *)&A[row * K]);'
SUM = "    float sum = 0;\n    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n"


def settled(body: str, store: str = "", before: str = "") -> Guess:
    return settle(guess(before + program(SIGNATURE, store, "A, B, C, M, N, K", body), Path("mine.cu")), tried)


def test_a_kernel_that_only_prints_is_no_product() -> None:
    made = settled(PLACE, PRINT.replace("printf", "/* C[0] = 1; */ printf"))
    assert not made.right and not made.wrong_itself
    assert "prints in line 4" in made.settled and "no product" in made.settled


@pytest.mark.parametrize(
    ("body", "store", "before"),
    [
        (PLACE, "", ""),
        (PLACE + SUM, "", ""),
        (PLACE + SUM, 'printf("%f\\n", sum);', ""),
        (PLACE + SUM, 'printf("%f\\n", sum); C[row * N + col] = sum + 1;', ""),
        (PLACE, 'printf("%d\\n", row); STORE(row * N + col);', "#define STORE(i) C[i] = 1\n"),
    ],
    ids=["only its place", "a sum that is lost", "a sum that is printed", "a wrong sum", "a store in a macro"],
)
def test_a_kernel_that_stores_no_product_is_wrong(body: str, store: str, before: str) -> None:
    made = settled(body, store, before)
    assert made.wrong_itself and "no product" not in made.settled
