"""Kernels that also take a null pointer for the C that beta scales: they get a C, and without one beta stays 0."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine

TEXT = """__global__ void gemm(const float *A, const float *B, const float *C, float *D, float alpha, float beta,
                     int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0, before = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    if (C != nullptr && beta != 0) before = C[row * N + col];
    D[row * N + col] = alpha * sum + beta * before;
}
"""
MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "0", "C", "alpha", "beta", "M", "N", "K"]
// block = ["8", "8"]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
"""
SIZE = Problem(12, 20, 5)
FORGOTTEN = TEXT.replace("+ beta * before", "")


def without_c(text: str) -> Kernel:
    return parse(MATTER + text, Path("mine.cu"))


def kinds(kernel: Kernel) -> list[str]:
    return [finding.kind for finding in examine(kernel, SIZE, {}).findings]


def test_a_kernel_that_tests_its_c_gets_one() -> None:
    made = guess(TEXT, Path("mine.cu"))
    assert made.roles[:4] == ("A", "B", "C", "D")
    assert kinds(guessed_kernel(made)) == []
    forgets = FORGOTTEN.replace("beta != 0)", "beta != 0) if (sum < 0)")
    assert kinds(guessed_kernel(guess(forgets, Path("mine.cu")))) == ["wrong result"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("const float *C,", "const half *C,"), ("float beta,", "float shift,")],
    ids=["another type", "no beta"],
)
def test_another_pointer_that_may_be_null_is_none(before: str, after: str) -> None:
    assert guess(TEXT.replace(before, after), Path("mine.cu")).roles[2:4] == ("0", "C")


def test_without_a_c_beta_stays_0() -> None:
    scaled = launch(without_c(TEXT), SIZE).scaled
    assert scaled is not None and (scaled.alpha, scaled.beta) == (2, 0)
    assert kinds(without_c(TEXT)) == []


def test_a_number_in_place_of_a_pointer_is_no_c() -> None:
    text = TEXT.replace("const float *C", "int offset").replace("C != nullptr &&", "").replace("C[row * N", "D[row * N")
    assert kinds(without_c(text)) == []
    assert kinds(without_c(text.replace("+ beta * before", ""))) == ["wrong result"]
