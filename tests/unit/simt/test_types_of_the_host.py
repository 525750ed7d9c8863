"""The names of whole numbers that nvcc has from the host's headers: the recorder and NVRTC have them, too."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
#include <stdint.h>
static_assert(sizeof(u_int8_t) == 1 && sizeof(u_int16_t) == 2 && sizeof(u_int32_t) == 4 && sizeof(u_int64_t) == 8);
__global__ void gemm(const float *A, const float *B, float *C, u_int32_t M, u_int32_t N, u_int32_t K)
{
    u_int32_t row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (u_int32_t k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def job() -> Launch:
    return launch(parse(TEXT, Path("mine.cu")), Problem(12, 9, 7))


def test_the_recorder_has_them() -> None:
    assert record(job(), deadline_s=10).wrong == 0


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_has_them() -> None:
    assert nvrtc_alone.errors(job(), "sm_80") == ""
