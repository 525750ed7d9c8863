"""Which parameters a small problem is shown with."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.session.values import picture_size
from gemmviz.session.values.picture_size import picture_params

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
    assert picture_params(kernel, Problem.cube(64))["BK"] in (8, 16)  # nor are there smaller values of the other
    several = parse(TEXT.replace("[64]", "[64, 32]"), Path("mine.cu"))
    assert picture_params(several, Problem.cube(64))["BM"] < 64


def test_what_is_asked_again_is_looked_for_once_and_belongs_to_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, problem, looked = parse(TEXT + "// another text\n", Path("mine.cu")), Problem.cube(64), []
    fitting = picture_size._fitting
    monkeypatch.setattr(picture_size, "_fitting", lambda *args: (looked.append(args), fitting(*args))[1])
    first = picture_params(kernel, problem)
    assert first
    first["BM"] = 1
    assert picture_params(kernel, problem)["BM"] == 64 and len(looked) == 1
    # Another kernel with the same text is another kernel: its demo may differ.
    assert picture_params(replace(kernel, demo=None), problem)["BM"] == 64 and len(looked) == 2
