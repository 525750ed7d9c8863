"""A number of blocks that the host rounds up with a condition is read as a quotient that is rounded up."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import is_stated
from gemmviz.catalogue.guessing.host.round_ups import rounded_up
from gemmviz.catalogue.guessing.tokens import tokens_of

TEXT = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int at = 0; at < K; at += 16) {
        a[y][x] = row < M && at + x < K ? A[row * K + at + x] : 0;
        b[y][x] = at + y < K && column < N ? B[(at + y) * N + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}
void run(const float *left, const float *right, float *out, int M, int N, int K) {
    dim3 block(16, 16);
    BEFORE
    dim3 grid(ACROSS, DOWN);
    gemm<<<grid, block>>>(left, right, out, M, N, K);
}
"""


def grid(across: str, before: str = "") -> tuple[tuple[str, ...], bool]:
    """Return the guessed grid, and whether it is the host's own."""
    down = across.replace("N", "M").replace(".x", ".y").replace("across", "down")
    other = before.replace("N", "M").replace("across", "down")
    text = TEXT.replace("ACROSS", across).replace("DOWN", down).replace("BEFORE", f"{before} {other}")
    made = guess(text, Path("mine.cu"))
    return made.grid, is_stated(made, "grid")


@pytest.mark.parametrize(
    "across",
    [
        "N / 16 + (N % 16 != 0)",
        "N / block.x + (N % block.x > 0)",
        "N / 16 + !!(N % 16)",
        "N / 16 + (N % 16 ? 1 : 0)",
        "(N >> 4) + ((N & 15) ? 1 : 0)",
        "N % 16 ? N / 16 + 1 : N / 16",
        "(N % 16 == 0) ? (N / 16) : (N / 16 + 1)",
    ],
)
def test_a_condition_in_the_grid(across: str) -> None:
    assert grid(across) == (("ceil(N / 16)", "ceil(M / 16)"), True)


@pytest.mark.parametrize(
    "before",
    [
        "int across = N / 16; if (N % 16) across++;",
        "int across = N / 16; if (N % 16 != 0) { across += 1; }",
        "int across = N / 16; if (across * 16 < N) ++across;",
    ],
)
def test_a_condition_in_front_of_the_launch(before: str) -> None:
    assert grid("across", before) == (("ceil(N / 16)", "ceil(M / 16)"), True)


def test_the_size_in_the_file_does_not_decide() -> None:
    text = TEXT.replace("run(const float *left, const float *right, float *out, int M, int N, int K) {", "run() {")
    text = text.replace("BEFORE", "int M = 64, N = 64, K = 64; float *left, *right, *out;")
    made = guess(text.replace("ACROSS", "N % 16 ? N / 16 + 1 : N / 16").replace("DOWN", "(M + 15) / 16"), Path("a.cu"))
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)")


@pytest.mark.parametrize(
    "text",
    [
        "N / 16 + (N % 8 != 0)",
        "N / 16 + 1",
        "N / 16 + (N % 16 == 0)",
        "N % 16 ? N / 16 : N / 16 + 1",
        "N / 16 + (a < b)",
    ],
)
def test_another_expression_is_left_as_it_is(text: str) -> None:
    assert rounded_up(tokens_of(text)) is None
