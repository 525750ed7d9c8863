"""Kernels in HIP, and kernels that take their types from PyTorch's headers."""

from pathlib import Path

import pytest
from guessed_texts import wrong

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.hip import as_cuda
from gemmviz.catalogue.problem import Problem

HIP = """#include <hip/hip_runtime.h>
#include <rocblas.h>
template <typename T, int TILE>
__global__ void product(const T *A, const T *B, T *C, size_t n)
{
    __shared__ T a[TILE][TILE];
    auto row = hipBlockIdx_y * TILE + hipThreadIdx_y;
    auto col = hipBlockIdx_x * TILE + hipThreadIdx_x;
    T sum = 0;
    for (size_t k = 0; k < n; k += TILE) {
        a[hipThreadIdx_y][hipThreadIdx_x] = row < n && k + hipThreadIdx_x < n ? A[row * n + k + hipThreadIdx_x] : 0;
        __syncthreads();
        for (size_t i = 0; i < TILE && k + i < n && col < n; i++) sum += a[hipThreadIdx_y][i] * B[(k + i) * n + col];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}
int main() {
    float *A, *B, *C;
    size_t n = 512;
    hipMalloc(&A, n * n * sizeof(float));
    dim3 threads(16, 16);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(product<float, 16>), dim3((n + 15) / 16, (n + 15) / 16), threads, 0, 0,
                       A, B, C, n);
    hipDeviceSynchronize();
}
"""
TORCH = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
using element = TYPE;
__global__ void product(const element *a, const element *b, element *c, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += float(a[row * K + k]) * float(b[k * N + col]);
    c[row * N + col] = element(sum);
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty({a.size(0), b.size(1)}, a.options());
    dim3 block(16, 8), grid((c.size(1) + 15) / 16, (c.size(0) + 7) / 8);
    product<<<grid, block>>>((element *)a.data_ptr(), (element *)b.data_ptr(), (element *)c.data_ptr(), a.size(0),
                             b.size(1), a.size(1));
    return c;
}
"""


def test_a_kernel_in_hip_is_described_and_recorded() -> None:
    made = guess(HIP, Path("mine.h"))
    assert made.block == ("16", "16") and made.grid == ("ceil(N / 16)", "ceil(N / 16)")
    assert made.entry == "product<float, TILE>" and made.params["TILE"][0] == 16
    assert not wrong(guessed_kernel(made), Problem(32, 32, 32))


def test_hip_is_read_as_cuda_line_by_line() -> None:
    read = as_cuda(HIP)
    assert read.count("\n") == HIP.count("\n") and "hip" not in read.partition("product")[2]
    assert "product<float, 16><<<" in read and "threadIdx.x" in read and "blockIdx.y" in read
    assert as_cuda("hipLaunchKernelGGL(k, grid") == "cudaLaunchKernelGGL(k, grid"
    plain = "int hip = 1; // a ship"
    assert as_cuda(plain) == plain


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("half", "float16"),
        ("at::Half", "float16"),
        ("c10::Half", "float16"),
        ("at::BFloat16", "bfloat16"),
        ("__nv_bfloat16", "bfloat16"),
    ],
)
def test_pytorchs_headers_declare_numbers_with_16_bits(kind: str, dtype: str) -> None:
    made = guess(TORCH.replace("TYPE", kind), Path("mine.cu"))
    assert made.dtype == made.stores == dtype
    assert made.block == ("16", "8") and made.grid == ("ceil(N / 16)", "ceil(M / 8)")
    assert not wrong(guessed_kernel(made), Problem(16, 32, 16))


def test_headers_of_pytorch_that_a_kernel_does_not_need_are_left_out() -> None:
    assert "torch" not in device_code(TORCH.replace("TYPE", "float"), "product")
    own = "#include <cuda_fp16.h>\n" + TORCH.replace("TYPE", "half")
    assert "torch" not in device_code(own, "product")
