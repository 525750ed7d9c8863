"""Arguments that are values of enumerations, such as cuBLAS's words for layouts."""

from pathlib import Path

import pytest
from settled_files import settled

from gemmviz.backends.entry import call
from gemmviz.catalogue.guessing.enumerations import numbers_of
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.tokens import tokens_of
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

OWN = "enum class Side : int { Left = 141, Right };\nenum Order { BY_ROWS, BY_COLUMNS };\n"
KERNEL = """
__global__ void gemm({kind} order, int M, int N, int K, const float *A, const float *B, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * (order == {value} ? B[k * N + column] : 7);
    C[row * N + column] = sum;
}
void run({kind} order, int M, int N, int K, const float *A, const float *B, float *C) {
    gemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>({given}, M, N, K, A, B, C);
}
"""


def text(kind: str, value: str, given: str = "order") -> str:
    return OWN + KERNEL.replace("{kind}", kind).replace("{value}", value).replace("{given}", given)


@pytest.mark.parametrize(
    ("kind", "value", "number"),
    [("Order", "BY_ROWS", "0"), ("Order", "BY_COLUMNS", "1"), ("cublasOperation_t", "CUBLAS_OP_T", "1")],
)
def test_the_value_is_found_with_which_c_is_right(tmp_path: Path, kind: str, value: str, number: str) -> None:
    made = settled(tmp_path, text(kind, value))
    assert made.right and made.roles[0] == number


def test_the_value_that_the_host_gives_is_taken(tmp_path: Path) -> None:
    source = text("Side", "Side::Right", "Side::Right")
    assert guess(source, Path("mine.cu")).roles[0] == "142"
    assert settled(tmp_path, source).right


def test_values_count_from_the_one_before() -> None:
    tokens = tokens_of("enum E { A, B = 5, C, D = B }; enum F { G };")
    assert numbers_of(tokens, {"E"}) == {"A": ("0",), "B": ("5",), "C": ("6",)}


def test_only_a_number_for_an_enumeration_is_cast() -> None:
    source = text("Order", "BY_ROWS", "BY_ROWS")
    job = launch(guessed_kernel(guess(source, Path("mine.cu"))), Problem(16, 16, 16))
    assert call(job, source).startswith("gemm(gv_number<long long>{0}, ")
    assert call(job, source.replace("(Order order", "(int order")).startswith("gemm(0, ")
