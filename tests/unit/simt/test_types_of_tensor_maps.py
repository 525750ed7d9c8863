"""A structure for kernels may name the driver's types of tensor maps: it is no code of the host."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

TEXT = """// ---gemmviz
// entry = "gemm<float>"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
#include <cuda.h>
template <class T> struct Traits;
template <> struct Traits<float> {
    using sum = float;
    static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    static constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
};
void make(CUtensorMap *map, float *a) { cuTensorMapEncodeTiled(map, Traits<float>::type, 2, a); }
template <class T> __global__ void gemm(const T *A, const T *B, T *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    typename Traits<T>::sum sum = 0;
    static_assert(Traits<T>::type == 7 && Traits<T>::swizzle == 3);
    for (int k = 0; k < K; k++)
        asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(A[row * K + k]), "f"(B[k * N + col]));
    C[row * N + col] = sum;
}
"""


def job() -> Launch:
    return launch(parse(TEXT, Path("mine.cu")), Problem(12, 9, 7))


def test_the_recorder_knows_them() -> None:
    assert record(job(), deadline_s=10).wrong == 0


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_knows_them() -> None:
    assert nvrtc_alone.errors(job(), "sm_90") == ""
