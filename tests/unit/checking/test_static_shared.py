"""Shared arrays of more than 48 KB: CUDA's compiler takes them only as dynamic shared memory."""

from math import prod
from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.checking.static_shared import static_shared_findings
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// shared = "SHARED"
// requires = ["M % 8 == 0", "N % 8 == 0"]
// ---
#define FIRST 6144
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float first[FIRST];
    DECLARED
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, t = threadIdx.y * 8 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < K; k++) s += A[row * K + k] * B[k * N + col];
    first[t] = s;
    __syncthreads();
    second[63 - t] = first[63 - t];
    __syncthreads();
    C[row * N + col] = second[t];
}
"""
SIZE = Problem(8, 8, 8)


@pytest.mark.parametrize(
    ("declared", "shared", "refused"),
    [
        ("__shared__ double second[3072];", "0", False),
        ("__shared__ double second[3073];", "0", True),
        ("extern __shared__ float second[];", "49152", False),
        ("extern __shared__ __align__(16) float second[];", "49152", False),
    ],
)
def test_static_arrays_are_counted_and_dynamic_ones_are_not(declared: str, shared: str, refused: bool) -> None:
    kernel = parse(TEXT.replace("DECLARED", declared).replace("SHARED", shared), Path("mine.cu"))
    report = examine(kernel, SIZE, {}, deadline_s=10)
    found = [one for one in report.findings if one.kind == "does not compile"]
    assert bool(found) == refused
    if refused:
        assert "49\u202f160 bytes" in found[0].text and "extern __shared__" in found[0].text


def test_rungs_with_large_shared_arrays_have_them_in_dynamic_memory() -> None:
    job = launch(find("wgmma", ladder()), Problem(128, 128, 64))
    recording = record(job, deadline_s=20)
    assert sum(prod(one.shape) * one.itemsize for one in recording.arrays if one.space == "shared") > 0
    assert static_shared_findings(job, recording) == []
