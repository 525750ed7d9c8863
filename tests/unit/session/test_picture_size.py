"""Which parameters a small problem is shown with."""

from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.session.picture_size import picture_params

TEXT = """// ---gemmviz
// entry = "gemm<BM, BK>"
// args = ["A", "B", "C", "M", "N", "K"]
// params = { BM = [64], BK = [8, 16] }
// block = ["BM"]
// grid = ["N / 64", "M / BM"]
// ---
template <int BM, int BK> __global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {}
"""


def test_a_parameter_with_a_single_value_keeps_it_on_the_stage() -> None:
    kernel = parse(TEXT, Path("mine.cu"))
    assert picture_params(kernel, Problem.cube(64))["BM"] == 64
    several = parse(TEXT.replace("[64]", "[64, 32]"), Path("mine.cu"))
    assert picture_params(several, Problem.cube(64))["BM"] < 64
