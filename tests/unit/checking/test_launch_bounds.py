"""A block with more threads than __launch_bounds__ allows is found, with the line of the bounds."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.checking.launch_bounds import launch_bounds_findings
from gemmviz.checking.plan import plan

HEAD = """// ---gemmviz
// entry = "gemm<BM, BN>"
// args = ["A", "B", "C", "M", "N", "K"]
// params = { BM = [8, 16], BN = [8, 16] }
// block = ["BN", "BM"]
// grid = ["ceil(N / BN)", "ceil(M / BM)"]
// ---
"""
BODY = """(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * BM + threadIdx.y, col = blockIdx.x * BN + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def kernel(bounds: str, before: str = "") -> Kernel:
    head = f"{before}\ntemplate <int BM, int BN>\n__global__ void\n__launch_bounds__({bounds})\ngemm"
    return parse(HEAD + head + BODY, Path("mine.cu"))


def lines(kernel: Kernel, **params: int) -> list[int]:
    return [f.line for f in launch_bounds_findings(launch(kernel, Problem(16, 16, 4), kernel.defaults | params))]


def test_a_bound_below_the_block_is_a_finding_with_its_line() -> None:
    report = examine(kernel("63"), Problem(8, 8, 4), {"BM": 8, "BN": 8})
    (finding,) = report.findings
    assert (finding.kind, finding.line) == ("too many threads", 11)
    assert "64 threads" in finding.text and "63 at most" in finding.text
    assert examine(kernel("64"), Problem(8, 8, 4), {"BM": 8, "BN": 8}).findings == []


@pytest.mark.parametrize(
    ("bounds", "before", "refused"),
    [
        ("BM * BN", "", False),
        ("BM * BN - 1, 2", "", True),
        ("BM == 8 ? 64 : 128", "", False),
        ("(BM <= 8 || BN <= 8) ? 32 : 256", "", True),
        ("THREADS", "#define THREADS (2 * 16)", True),
        ("THREADS", "constexpr int HALF = 32, THREADS = 2 * HALF;", False),
        ("THREADS", "enum { THREADS = 32 };", True),
        ("(int)(WARPS * 32u)", "static const int WARPS = 1;", True),
        ("8 << 2", "", True),
        ("0x40", "", False),
        # Nothing is said where the value is not sure.
        ("THREADS", "#ifdef LARGE\n#define THREADS 64\n#else\n#define THREADS 32\n#endif", False),
        ("threads_of(BM)", "constexpr int threads_of(int n) { return n; }", False),
        ("sizeof(float)", "", False),
    ],
)
def test_the_bound_is_computed_from_the_source(bounds: str, before: str, refused: bool) -> None:
    assert lines(kernel(bounds, before)) == ([11 + before.count("\n")] if refused else [])


def test_the_bound_of_each_parameter() -> None:
    mine = kernel("BM == 8 ? 64 : 128")
    assert lines(mine, BM=16) == []
    assert lines(mine, BM=16, BN=16) == [11]


def test_macros_of_a_launch_count() -> None:
    text = (HEAD + "\n__global__ void __launch_bounds__(BM * 8) gemm" + BODY).replace("gemm<BM, BN>", "gemm")
    mine = parse(text, Path("mine.cu"))
    assert lines(mine) == [] and lines(mine, BN=16) == [9]


def test_no_rung_has_too_many_threads_and_each_has_with_a_smaller_bound() -> None:
    bounded = [one for one in ladder() if one.recordable and "__launch_bounds__(" in one.text]
    assert len(bounded) > 20
    for rung in bounded:
        for size, params in plan(rung, [], {}).launches[:1]:
            job = launch(rung, size, params)
            assert launch_bounds_findings(job) == [], rung.name
            smaller = replace(rung, text=rung.text.replace("__launch_bounds__(", "__launch_bounds__(-1 + ", 1))
            assert launch_bounds_findings(replace(job, kernel=smaller)) or "?" in rung.text, rung.name


def test_the_mutant_of_a_rung_that_was_missed() -> None:
    rung = find("fused_panels", ladder())
    size, params = plan(rung, [], {}).launches[0]
    text = rung.text.replace("__launch_bounds__(128 + 2 * BM, 1)", "__launch_bounds__(128 + BM, 1)")
    (finding,) = launch_bounds_findings(launch(replace(rung, text=text), size, params))
    assert "__launch_bounds__" in text.splitlines()[finding.line - 1]
