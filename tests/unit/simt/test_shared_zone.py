"""The memory around a kernel's shared arrays, which writes out of bounds may change."""

from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.shared_alignment import START
from gemmviz.simt.build import build
from gemmviz.simt.debuginfo import read_debug_info
from gemmviz.simt.job import _SHARED_GUARD as GUARD
from gemmviz.simt.recorder import run

TEXT = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C"]
// block = ["4"]
// grid = ["1"]
// ---
__global__ void k(const float *A, const float *B, float *C)
{
    __shared__ float first[4], last[4];
    int x = threadIdx.x, other = x ^ 1;
    first[x - 64] = A[x];
    last[x + 64] = B[x];
    __syncthreads();
    C[x] = first[other - 64] + last[other + 64];
}
"""


FAR = (
    TEXT.replace("first[4], ", "")
    .replace("first[x - 64] = A[x];", "")
    .replace("first[other - 64]", "0")
    .replace("64", "9000")
)


def kernel(text: str = TEXT) -> Kernel:
    return parse(text, Path("mine.cu"))


@pytest.mark.parametrize("macros", [{}, {"GV_SHARED_START": START}], ids=["usual", "moved"])
def test_the_memory_around_shared_arrays_is_as_large_as_their_guards(macros: dict[str, int]) -> None:
    job = launch(kernel(), Problem(2, 2, 2))
    job.macros.update(macros)
    library = build(job)
    with library.open("rb") as file:
        elf = ELFFile(file)
        segment = next(part for part in elf.iter_segments() if part["p_type"] == "PT_TLS")
        anchor = elf.get_section_by_name(".dynsym").get_symbol_by_name("gv_anchor")[0]["st_value"]
    arrays = read_debug_info(library, "mine.cu").shared
    assert {array.name for array in arrays} == {"first", "last"}
    for array in arrays:
        start = anchor + array.offset
        assert start >= GUARD and start + 4 * np.prod(array.shape) + GUARD <= segment["p_memsz"]


def test_a_write_beside_a_shared_array_is_reported_and_kept() -> None:
    job = launch(kernel(), Problem(2, 2, 2))
    a = b = np.ones(4, np.float32)
    trace = run(build(job), job, a, b, deadline_s=10, capacity=1000)
    found = {(one.array, one.writes, one.count) for one in trace.diagnostics}
    assert found == {(array, writes, 4) for array in ("first", "last") for writes in (True, False)}
    assert trace.c.tolist() == [2, 2, 2, 2]


def test_a_write_far_behind_the_last_shared_array_is_reported() -> None:
    job = launch(kernel(FAR), Problem(2, 2, 2))
    trace = run(build(job), job, np.ones(4, np.float32), np.ones(4, np.float32), deadline_s=10, capacity=1000)
    found = [(one.array, one.writes, one.count) for one in trace.diagnostics]
    assert found == [("last", True, 4), ("last", False, 4)]
