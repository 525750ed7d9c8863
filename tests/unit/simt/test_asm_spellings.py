"""Spellings that nvcc takes, of asm and of lists: the recorder and NVRTC take them, too."""

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
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        __asm__ __volatile__("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(A[row * K + k]), "f"(B[k * N + col]));
    C[row * N + col] = sum;
}
"""


def job() -> Launch:
    return launch(parse(TEXT, Path("mine.cu")), Problem(12, 9, 7))


def test_the_recorder_takes_them() -> None:
    assert record(job(), deadline_s=10).wrong == 0


NARROWING = TEXT.replace("float sum = 0;", "struct { int at; } place{blockDim.x}; float sum = 0.0f * place.at;")


def test_numbers_of_a_list_may_become_narrower() -> None:
    assert record(launch(parse(NARROWING, Path("mine.cu")), Problem(12, 9, 7)), deadline_s=10).wrong == 0


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
@pytest.mark.parametrize("text", [TEXT, NARROWING], ids=["spellings", "narrowing"])
def test_nvrtc_takes_them(text: str) -> None:
    assert nvrtc_alone.errors(launch(parse(text, Path("mine.cu")), Problem(12, 9, 7)), "sm_80") == ""
