"""Two groups of warps at one named barrier at the same time are found, and groups that take turns are not."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt.diagnostics import Diagnostic
from gemmviz.trace.recording.record import record

# Two groups of 64 threads, each with a half of the columns of C.
TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = [1]
// requires = ["M == 8", "N == 16"]
// ---
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float s[2][64];
    int group = threadIdx.x / 64, t = threadIdx.x % 64, row = t / 8, col = group * 8 + t % 8;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    s[group][t ^ 1] = sum;
    asm volatile("bar.sync %0, %1;" :: "r"(NUMBER), "r"(COUNT) : "memory");
    C[row * N + col] = s[group][t ^ 1];
}
"""


def found(number: str, count: str) -> list[Diagnostic]:
    kernel = parse(TEXT.replace("NUMBER", number).replace("COUNT", count), Path("mine.cu"))
    return list(record(launch(kernel, Problem(8, 16, 4), {}), deadline_s=5).diagnostics)


@pytest.mark.parametrize(("number", "count"), [("group + 1", "64"), ("1", "128")])
def test_a_barrier_for_each_group_or_one_for_all_has_no_finding(number: str, count: str) -> None:
    assert found(number, count) == []


def test_two_groups_at_one_barrier_are_found_with_its_line() -> None:
    (one,) = found("1", "64")
    assert (one.kind, one.line) == ("barrier divergence", 15)
    assert "waits at a named barrier for 64 threads, while more threads wait at the same one" in one.text


def test_two_counts_at_one_barrier_are_found() -> None:
    diagnostics = found("1", "64 + 64 * group")
    assert {(one.kind, one.line) for one in diagnostics} == {("barrier divergence", 15)}
    assert any("for another number of threads" in one.text for one in diagnostics)


def test_a_line_with_more_threads_and_with_two_counts_is_reported_once() -> None:
    (one,) = found("1", "group || t < 32 ? 64 : 96")
    assert (one.kind, one.line) == ("barrier divergence", 15)
    assert one.count > 2


def test_a_line_that_is_compiled_twice_and_meets_two_other_lines_is_reported_once() -> None:
    meet = '    asm volatile("bar.sync %0, %1;" :: "r"(NUMBER), "r"(COUNT) : "memory");\n'
    sync = 'asm volatile("bar.sync {}, {};" ::: "memory");'
    first = f"    if (group == 0) {{ if (t < 32) {sync.format(1, 32)} else {sync.format(2, 32)} }}\n"
    others = "".join(f"    if (group == 1 && t / 32 == {half}) {sync.format(half + 1, 32)}\n" for half in (0, 1))
    kernel = parse(TEXT.replace(meet, first + others), Path("mine.cu"))
    diagnostics = record(launch(kernel, Problem(8, 16, 4), {}), deadline_s=5).diagnostics
    assert [one.line for one in diagnostics] == [15]
