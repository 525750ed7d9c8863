"""Kernels that use names of CUDA for their own things (indices, words of its headers), and short macros."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

HEAD = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
"""
OWN_INDICES = """
__device__ void part(const float *A, const float *B, float *C, int M, int N, int K, dim3 blockIdx, uint3 threadIdx)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    unsigned number = blockIdx.y * gridDim.x + blockIdx.x;
    dim3 blockIdx = {number % gridDim.x, number / gridDim.x, 1};
    part(A, B, C, M, N, K, blockIdx, threadIdx);
}
"""
WORDS = """
namespace mine {
struct __device_builtin__ __builtin_align__(16) float4 { float of[4]; };
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    mine::float4 sums = {};
    for (int k = 0; k < K; k++) sums.of[k % 4] += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sums.of[0] + sums.of[1] + sums.of[2] + sums.of[3];
}
"""

MACROS = """
#include <cmath>
#define T 8
#define P 2
#define out 1
#define value 5
namespace {
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    register int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < std::ceil(static_cast<double>(K)); k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = std::isnan(sum) ? std::sqrt(sum) : sum;
}
}
"""
POINTER = """
extern "C" __device__ unsigned __nvvm_get_smem_pointer(void *p);
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) {
        float *mine = &a[threadIdx.y][threadIdx.x], v;
        *mine = row < M ? A[row * K + k] : 0;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(__nvvm_get_smem_pointer(mine)));
        if (col < N) sum += v * B[k * N + col];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""
# As strangers write it: nvcc takes #import, and finds names of the C++ library by itself.
LIBRARY = """
#import <cuda_runtime.h>
#include <thread>
template <class T> __global__ void gemm_of(const T *A, const T *B, T *C, int M, int N, int K)
{
    static_assert(std::is_floating_point_v<T> && !std::is_integral_v<T>, "floats");
    std::uint32_t row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    T sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


# All vectors of CUDA, and functions of <cmath> without their header.
VECTORS = """
#include <iostream>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    static_assert(sizeof(short1) == 2 && sizeof(char3) == 3 && sizeof(double3) == 24 && alignof(uchar3) == 1, "");
    static_assert(sizeof(ulong2) == 16 && alignof(long1) == 8, "");
    if (row >= M || col >= N) return;
    double2 sums = make_double2(0, 0), all;
    float3 one = make_float3(1, 1, 1);
    for (int k = 0; k < std::ceil((float)K); k++) {
        double1 term = make_double1(A[row * K + k] * B[k * N + col]);
        (k % 2 ? sums.x : sums.y) += term.x * one.z;
    }
    all = sums;
    C[row * N + col] = std::fma(all.x, 1.0, all.y);
}
"""
# Newer versions of NVRTC warn of these vectors.
WIDE = (
    VECTORS.replace("double2 sums = make_double2(0, 0)", "double4 sums = make_double4(0, 0, 0, 0)")
    .replace("sums.y", "sums.w")
    .replace("all.y", "all.w")
    .replace("sizeof(ulong2) == 16", "sizeof(double4) == 32 && alignof(ulonglong4) == 16")
)


def job(text: str) -> Launch:
    head = HEAD.replace('"gemm"', '"gemm_of<float>"') if text == LIBRARY else HEAD
    return launch(parse(head + text, Path("mine.cu")), Problem(12, 9, 7))


@pytest.mark.skipif(compiler().kind != "clang", reason="gcc has no properties")
def test_an_index_may_be_a_variable_or_a_parameter() -> None:
    recording = record(job(OWN_INDICES), deadline_s=10)
    assert recording.wrong == 0
    lines = {recording.text.splitlines()[site.line - 1].strip() for site in recording.sites}
    assert all("A[row" in line or "C[row" in line for line in lines)  # the indices are no accesses


@pytest.mark.parametrize("text", [WORDS, MACROS, POINTER, LIBRARY, VECTORS, WIDE])
def test_words_of_the_headers_of_cuda_and_short_macros_do_no_harm(text: str) -> None:
    assert record(job(text), deadline_s=10).wrong == 0


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
@pytest.mark.parametrize("text", [OWN_INDICES, WORDS, MACROS, POINTER, LIBRARY, VECTORS])
def test_nvrtc_takes_them(text: str) -> None:
    assert nvrtc_alone.errors(job(text), "sm_80") == ""


ARRAYS = """
#include <array>
#include <cassert>
using std::array;
template <int n> struct Sum {
    array<float, n> parts;
    __device__ void add(int k, float value) { parts[k % n] += value; }
};
template <int n> __device__ auto sum_of(const Sum<n> &one) -> array<float, int(array<int, n>{}.size()) / n>
{
    array<float, 1> sum{};
    for (int i = 0; i < n; ++i) sum[0] += one.parts[i];
    return sum;
}
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, started = clock();
    if (row >= M || col >= N) return;
    Sum<4> sum{};
    for (int k = 0; k < K; k++) sum.add(k, A[row * K + k] * B[k * N + col]);
    C[row * N + col] = sum_of(sum)[0] + 0 * started;
}
"""


def test_arrays_of_the_standard_library_are_known() -> None:
    gemm = launch(parse(HEAD + ARRAYS, Path("mine.cu")), Problem(9, 10, 11))
    assert record(gemm).wrong == 0
    if nvrtc_alone.library() is not None:
        assert not nvrtc_alone.errors(gemm, "sm_80")


# Each thread computes the element of another one.
EXCHANGED = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float sums[64];
    int mine = threadIdx.y * 8 + threadIdx.x, other = 63 - mine;
    int row = blockIdx.y * 8, col = blockIdx.x * 8;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += row + other / 8 < M && col + other % 8 < N ? A[(row + other / 8) * K + k] * B[k * N + col + other % 8]
                                                          : 0;
    sums[other] = sum;
    {barrier}
    if (row + mine / 8 < M && col + mine % 8 < N) C[(row + mine / 8) * N + col + mine % 8] = sums[mine];
}
"""


def test_a_barrier_without_its_brackets_is_none() -> None:
    """nvcc takes it, with a warning."""
    with_it, without = (
        record(job(EXCHANGED.replace("{barrier}", word)), deadline_s=10)
        for word in ("__syncthreads();", "__syncthreads;")
    )
    assert with_it.wrong == 0 and without.wrong > 0
