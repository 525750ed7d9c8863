"""Inline PTX that accesses memory: it gets what CUDA C++ gets, and each access is written down as it is."""

from pathlib import Path

import numpy as np
import pytest
from ptx_kernels import PtxKernel
from ptx_memory_kernels import MEMORY

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

BY_NAME = {kernel.name.removeprefix("memory_"): kernel for kernel in MEMORY}


@pytest.mark.sweep("memory_ld_shared_offset", "memory_copy_sizes", "memory_stmatrix", "memory_named_barriers")
@pytest.mark.parametrize("kernel", MEMORY, ids=lambda kernel: kernel.name)
def test_memory_holds_what_the_same_cuda_finds(kernel: PtxKernel) -> None:
    recording = record(kernel.launch, deadline_s=20)
    assert not recording.notes
    assert (recording.c == 1).all(), recording.c


def at_asm(recording: Recording, word: str) -> list[tuple[str, bool, int]]:
    """Array, whether it is written, and width of the accesses on the lines of a statement, each kind once."""
    text, log = recording.text.splitlines(), recording.accesses
    on_line = [word in text[site.line - 1] for site in recording.sites]
    rows = np.flatnonzero(np.array(on_line)[log.site])
    kinds = {(recording.arrays[log.array[row]].name, bool(log.write[row]), int(log.bytes[row])) for row in rows}
    return sorted(kinds)


@pytest.mark.sweep("copy_sizes-*", "ld_shared_v4-*", "st_shared-st.shared.v2-*")
@pytest.mark.parametrize(
    ("name", "word", "kinds"),
    [
        ("ld_shared", "ld.shared", [("s", False, 4)]),
        ("ld_shared_v4", "ld.shared.v4", [("s", False, 16)]),
        ("ld_global", "ld.global.nc", [("A", False, 16)]),
        ("st_shared", "st.shared.v2", [("A", False, 4), ("s", True, 8)]),
        ("atom", "atom.shared", [("s", False, 4), ("s", True, 4)]),
        ("stmatrix", "stmatrix", [("s", True, 16)]),
        ("ldmatrix_trans", "ldmatrix", [("s", False, 16)]),
        ("copy_sizes", "cp.async.ca", [("A", False, 4), ("A", False, 8), ("to", True, 16)]),
    ],
)
def test_an_access_has_its_width_and_its_line(name: str, word: str, kinds: list[tuple[str, bool, int]]) -> None:
    assert at_asm(record(BY_NAME[name].launch, deadline_s=20), word) == kinds


def test_what_stmatrix_writes_has_its_values() -> None:
    recording = record(BY_NAME["stmatrix"].launch, deadline_s=20)
    log = recording.accesses
    wide = np.flatnonzero((log.bytes == 16) & log.write)
    assert len(wide) == 32
    _, element, value = recording.covered(wide)
    assert sorted(element) == list(range(128)) and len(np.unique(value)) == 128


FRONT = """// ---gemmviz
// entry = "{entry}"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = [1]
// shared = 512
// ---
"""
ROWS = """__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float rows[][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = A[threadIdx.x];
    __syncthreads();
    C[threadIdx.x] = rows[3 - threadIdx.x / 8][threadIdx.x % 8];
}
"""


@pytest.mark.parametrize("namespace", ["", "inner", "outer::inner"])
def test_dynamic_shared_memory_may_have_rows_and_lie_in_a_namespace(namespace: str) -> None:
    text = f"namespace {namespace} {{\n{ROWS}}}\n" if namespace else ROWS
    entry = f"{namespace}::k" if namespace else "k"
    kernel = parse(FRONT.format(entry=entry) + text, Path("rows.cu"))
    recording = record(launch(kernel, Problem(4, 8, 8)), deadline_s=10)
    assert (recording.c == recording.a[::-1]).all()
    shared = next(array for array in recording.arrays if array.name == "rows")
    assert shared.shape == (16, 8)
