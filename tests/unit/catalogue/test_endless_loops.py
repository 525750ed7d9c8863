"""A loop whose step is the index of the thread has no end in thread (0, 0, 0): that is a flaw of the kernel."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess

LOOPS = """
__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    for (int row = threadIdx.x; row < n; row += blockDim.x)
        for (int col = threadIdx.y; col < n; col += threadIdx.y) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += A[row * n + k] * B[k * n + col];
            C[row * n + col] = sum;
        }
}
"""


def test_such_a_loop_is_a_flaw_with_its_line() -> None:
    (flaw,) = guess(LOOPS, Path("mine.cu")).flaws
    assert (flaw.kind, flaw.line) == ("no end", 5)
    assert flaw.text == "the loop over col has no end in thread (0, 0, 0): its step threadIdx.y is 0"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("col += threadIdx.y", "col += blockDim.y"),
        ("col += threadIdx.y", "col += threadIdx.y + 1"),
        ("col = threadIdx.y", "col = 1 + threadIdx.y"),
        ("col < n;", "col < threadIdx.y;"),
        ("    for (int row", "    if (threadIdx.y == 0) return;\n    for (int row"),
        ("    for (int row", "    if (threadIdx.y > 0)\n    for (int row"),
        ("= sum;", "= sum;\n            if (threadIdx.y == 0) break;"),
        ("= sum;", "= sum;\n            col++;"),
        ("= sum;", "= sum;\n            step(&col);"),
        ("= sum;", "= sum;\n            n = 0;"),
        ("threadIdx.y) {", "threadIdx.y)\n            for (int once = 0; once < 1; once++) {\n            col++;"),
    ],
)
def test_a_loop_that_may_end_is_none(before: str, after: str) -> None:
    assert before in LOOPS
    assert not guess(LOOPS.replace(before, after, 1), Path("mine.cu")).flaws


def test_a_loop_that_counts_away_from_its_end_is_a_flaw_too() -> None:
    down = LOOPS.replace("col += threadIdx.y", "col += blockDim.y").replace("k++", "k--")
    (flaw,) = guess(down, Path("mine.cu")).flaws
    assert (flaw.kind, flaw.line) == ("no end", 7)
    for other in (
        down.replace("int k", "unsigned k"),
        down.replace("k < n", "k > n"),
        down.replace("sum +=", "k += 2, sum +="),
    ):
        assert not guess(other, Path("mine.cu")).flaws
