"""Guesses of kernels whose arguments the host code computes: distances in bytes, counts of tiles."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

IN_BYTES = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K, int step, int tiles
)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const char *left = (const char *)(B + col);
    float sum = 0;
    for (int t = 0; t < tiles; t++)
        for (int k = 0; k < 8; k++, left += step)
            sum += A[row * K + t * 8 + k] * *(const float *)left;
    C[row * N + col] = sum;
}
void run(const float *a, const float *b, float *c, int m, int n, int k) {
    product<<<dim3(n / 8, m / 8), dim3(8, 8)>>>(a, b, c, m, n, k, n * sizeof(float), k / 8);
}
"""


def test_arguments_that_the_host_code_computes_are_expressions_of_sizes() -> None:
    made = guess(IN_BYTES, Path("mine.cu"))
    assert made.roles == ("A", "B", "C", "M", "N", "K", "4 * N", "floor(K / 8)")
    kernel = guessed_kernel(made)
    filled = launch(kernel, Problem(16, 24, 40))
    assert [filled.scalar(name) for name in kernel.args[6:]] == [96, 5]
    assert record(filled).wrong == 0


@pytest.mark.parametrize("role", ["4 * X", "P", "M *"])
def test_an_argument_that_is_no_expression_of_sizes_is_named(role: str) -> None:
    text = guess(IN_BYTES, Path("mine.cu")).described().replace("4 * N", role)
    with pytest.raises(FrontMatterError, match="args names"):
        parse(text, Path("mine.cu"))
