"""An instruction of shared memory whose address lies elsewhere: the defect, its line and its thread are named."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

TEXT = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = [1]
// ---
#include <cuda/pipeline>
__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ alignas(16) float s[256];
    unsigned at = (unsigned)__cvta_generic_to_shared(s), r = 0;
    STATEMENT
    C[threadIdx.x] = r + s[threadIdx.x];
}
"""
LINE = 12
COPY = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\\n cp.async.wait_all;" ::{to}, "l"(A));'
LOAD = 'asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : {row});'
STORE = 'asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%1], {{%0}};" :: "r"(r), {row});'


def recorded(statement: str) -> Recording:
    return record(launch(parse(TEXT.replace("STATEMENT", statement), Path("elsewhere.cu")), Problem(32, 32, 32)))


@pytest.mark.sweep("statement0-*")
@pytest.mark.parametrize(
    ("statement", "instruction", "thread", "place"),
    [
        (COPY.format(to='"r"(at + 0x20000000)'), "cp.async", 0, "in no array"),
        # An offset in shared memory instead of an address: right where the array is the first one, on some GPUs.
        (COPY.format(to='"r"(threadIdx.x * 4)'), "cp.async", 0, "in no array"),
        (COPY.format(to='"l"(C + 7)'), "cp.async", 0, r"C\[7\]"),
        (LOAD.format(row='"l"(A + 4 * threadIdx.x)'), "ldmatrix", 0, r"A\[0\]"),
        (LOAD.format(row='"r"(threadIdx.x == 3 ? 16 : at + 16 * threadIdx.x)'), "ldmatrix", 3, "in no array"),
        (STORE.format(row='"l"(C + 4 * threadIdx.x)'), "stmatrix", 0, r"C\[0\]"),
    ],
)
def test_it_ends_the_run_and_is_named(statement: str, instruction: str, thread: int, place: str) -> None:
    text = rf"^elsewhere.cu:{LINE}: {instruction} .* \({thread}, 0, 0\) .*{place}$"
    with pytest.raises(KernelFault, match=text) as found:
        recorded(statement)
    assert (found.value.line, found.value.defect) == (LINE, "out of bounds")


def test_the_same_instructions_run_with_addresses_of_shared_memory() -> None:
    row = '"r"(at + 16 * (threadIdx.x % 8))'
    for statement in (COPY.format(to='"r"(at + threadIdx.x * 4)'), LOAD.format(row=row), STORE.format(row=row)):
        assert not recorded(statement).notes


def test_a_copy_of_the_library_to_global_memory_is_made_at_once() -> None:
    text = "auto p = cuda::make_pipeline(); cuda::memcpy_async(&C[64 + threadIdx.x], &B[threadIdx.x], 4, p);"
    recording = recorded(text)
    assert not recording.notes and (recording.c.ravel()[64:96] == recording.b.ravel()[:32]).all()
