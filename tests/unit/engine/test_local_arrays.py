"""An index outside of a local array is the finding, and not what it does to other variables."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.catalogue.guessing.trial_sizes import first_size
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.checking.local_arrays import watch_local_arrays
from gemmviz.engine.messages import Checked, CheckRequest, Failed, RecordRequest
from gemmviz.simt import local_bounds
from gemmviz.simt.local_bounds import watched

# Each thread has four elements of a row of C, in the local array `sum`.
TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["4", "4"]
// grid = ["ceil(N / 16)", "ceil(M / 4)"]
// requires = ["M % 4 == 0", "N % 16 == 0"]
// ---
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x * 4;
    BEFORE
    float sum[LENGTH] = {};
    for (int k = 0; k < K; k++)
        for (int i = 0; i < 4; i++)
            sum[i] += A[row * K + k] * B[k * N + col + i]; // here
    for (int i = 0; i < 4; i++) C[row * N + col + i] = sum[i];
}
"""
HERE = next(number for number, line in enumerate(TEXT.splitlines(), 1) if "// here" in line)
SIZE = Problem(8, 16, 4)
# Only Clang has the check.
clang = pytest.mark.skipif(compiler().kind != "clang", reason="the recorder's compiler is GCC, which has no such check")


def kernel(length: int, before: str = "", more: tuple[str, str] = ("", "")) -> Kernel:
    text = TEXT.replace("LENGTH", str(length)).replace("BEFORE", before)
    return parse(text.replace(*more) if more[0] else text, Path("mine.cu"))


def found(engine, kernel: Kernel) -> list[tuple[str, int, str]]:
    request = CheckRequest(1, "/nowhere/mine.cu", kernel.text, [{"m": 8, "n": 16, "k": 4, "params": {}}], 2.0)
    (report,) = [one.report for one in engine.run(request, threading.Event()) if isinstance(one, Checked)]
    return [(one.kind, one.line, one.text) for one in report.findings]


@clang
def test_a_sum_outside_of_its_array_is_named_where_c_is_wrong(engine) -> None:
    ((kind, line, text),) = found(engine, kernel(2, more=("sum[i] += ", "sum[i < 2 ? i : i + K - 4] -= ")))
    assert (kind, line) == ("out of bounds", HERE)
    assert text == "thread (0, 0, 0) of block (0, 0, 0) uses an element outside of the local array sum"


@clang
def test_a_crash_that_an_index_of_a_local_array_caused_is_out_of_bounds(engine) -> None:
    # The write goes over the counter of the loop, so the next one is far away, or the loop does not end.
    ((kind, line, text),) = found(engine, kernel(4, more=("sum[i] +=", "sum[i + (K << 20) * (k == 3)] +=")))
    assert (kind, line) == ("out of bounds", HERE) and "outside of the local array sum" in text


@clang
def test_a_recording_that_crashes_by_it_says_so(engine) -> None:
    crashing = kernel(4, more=("sum[i] +=", "sum[i + (K << 20) * (k == 3)] +="))
    request = RecordRequest(1, "/nowhere/mine.cu", crashing.text, 8, 16, 4, deadline_s=2.0)
    (failed,) = [one for one in engine.run(request, threading.Event()) if isinstance(one, Failed)]
    assert (failed.kind, failed.line) == ("crash", HERE) and "outside of the local array sum" in failed.message


@clang
def test_it_is_named_where_c_is_right(engine) -> None:
    # What lies behind the array is read, and not used.
    beyond = kernel(4, more=("= sum[i];", "= sum[i] + (i < 3 ? 0 * sum[i + 1] : 0 * (int)(sum[i + 1] == 1));"))
    ((kind, line, text),) = found(engine, beyond)
    assert (kind, line) == ("out of bounds", HERE + 1) and "outside of the local array sum" in text


def test_a_crash_that_a_variable_without_a_value_caused_names_it(engine) -> None:
    ((kind, line, text),) = found(engine, kernel(4, "long long far;", ("C[row", "C[far + row")))
    assert (kind, line) == ("read of memory nobody wrote", 11)
    assert text.startswith("the local variable far is not set before line 16 uses it")


def test_a_crash_for_another_reason_stays_one(engine) -> None:
    ((kind, line, text),) = found(engine, kernel(4, before="if (K == 4) *(volatile int *)8 = 1;"))
    assert (kind, line) == ("crash", 11) and "uses an element outside" not in text


def test_a_wrong_c_for_another_reason_stays_one() -> None:
    report = examine(kernel(4, more=("// here", "if (K == 4) sum[0] += 1;")), SIZE, {})
    assert [one.kind for one in report.findings] == ["wrong result"]


def test_a_step_into_the_next_row_of_a_local_array_is_no_fault() -> None:
    flat = ("    float sum[LENGTH] = {};", "    float two[2][2] = {}; float *sum = two[0];")
    right = parse(TEXT.replace(*flat).replace("BEFORE", ""), Path("mine.cu"))
    assert examine(right, SIZE, {}).findings == []
    watch_local_arrays(launch(right, SIZE, {}), deadline_s=5)


def test_a_kernel_without_local_arrays_is_not_recorded_again() -> None:
    assert (
        watched(launch(parse(TEXT.replace("float sum[LENGTH] = {};", "float *sum = C;"), Path("mine.cu")), SIZE, {}))
        is None
    )


@clang
@pytest.mark.parametrize(
    "rung", [one for one in ladder() if one.recordable and one.backend == "cuda"], ids=lambda kernel: kernel.name
)
def test_no_rung_leaves_a_local_array(rung: Kernel) -> None:
    watch_local_arrays(launch(rung, first_size(rung)), deadline_s=20)


def test_nothing_is_watched_by_a_compiler_without_the_check(monkeypatch) -> None:
    with_arrays = launch(kernel(4), SIZE, {})
    monkeypatch.setattr(local_bounds, "compiler", lambda: replace(compiler(), kind="gcc"))
    assert watched(with_arrays) is None
