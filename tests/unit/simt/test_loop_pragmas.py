"""``#pragma unroll`` in front of something that is no loop: CUDA's compilers pass over it, so it stops no recording."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt.loop_pragmas import without_idle_pragmas
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// dtype = "float16"
// accumulate = "float32"
// stores = "float16"
// ---
#include <cuda_fp16.h>
__global__ void gemm(const __nv_half *A, const nv_half *B, __nv_half *C, int M, int N, int K)
{
#pragma unroll
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    C[row * N + col] = __float2half(sum);
}
"""


def test_it_is_recorded_and_right() -> None:
    job = launch(parse(TEXT, Path("mine.cu")), Problem(12, 9, 7))
    assert record(job).wrong == 0


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_takes_it() -> None:
    assert nvrtc_alone.errors(launch(parse(TEXT, Path("mine.cu")), Problem(12, 9, 7)), "sm_80") == ""


@pytest.mark.parametrize(
    ("behind", "stays"),
    [
        ("for (;;) {}", True),
        ("// a comment\n#pragma nounroll\nwhile (x) {}", True),
        ("ROWS(8)\n", True),
        ("int x = 1;", False),
        ("/* for */ { x(); }", False),
    ],
)
def test_a_pragma_stays_in_front_of_a_loop(behind: str, stays: bool) -> None:
    text = f"#pragma unroll\n{behind}"
    assert (without_idle_pragmas(text) == text) == stays
    assert without_idle_pragmas(text).splitlines()[1:] == text.splitlines()[1:]
