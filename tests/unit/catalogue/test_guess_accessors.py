"""Guesses of kernels that take PyTorch's accessors of tensors."""

from pathlib import Path

import nvrtc_alone
import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

SIZE = Problem(21, 13, 18)
PLAIN = """#include <torch/extension.h>
template <typename scalar_t>
__global__ void product(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> w,
    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> y
)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= y.size(0) || col >= y.size(1)) return;
    scalar_t sum = 0;
    for (int k = 0; k < x.size(1); k++) sum += x[row][k] * w[k][col];
    y[row][col] = sum;
}
torch::Tensor multiply(torch::Tensor x, torch::Tensor w) {
    auto y = torch::empty({x.size(0), w.size(1)}, x.options());
    dim3 threads(8, 4), blocks((w.size(1) + 7) / 8, (x.size(0) + 3) / 4);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "multiply", [&] {
        product<scalar_t><<<blocks, threads>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
            w.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
            y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    });
    return y;
}
"""
LINEAR = """#include <torch/torch.h>
#define TILE 8
template <typename T>
__global__ void layer(const at::PackedTensorAccessor<T, 2, at::RestrictPtrTraits, size_t> input,
    const at::PackedTensorAccessor<T, 2, at::RestrictPtrTraits, size_t> weight,
    const at::PackedTensorAccessor64<T, 1> bias,
    at::PackedTensorAccessor<T, 2, at::RestrictPtrTraits, size_t> output)
{
    __shared__ T xs[TILE][TILE], ws[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    const int other = blockIdx.x * TILE + threadIdx.y, depth = input.size(1);
    T sum = 0;
    for (int first = 0; first < depth; first += TILE) {
        const int k = first + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] = row < input.size(0) && k < depth ? input[row][k] : T(0);
        ws[threadIdx.y][threadIdx.x] = other < weight.size(0) && k < weight.size(1) ? weight[other][k] : T(0);
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += xs[threadIdx.y][i] * ws[threadIdx.x][i];
        __syncthreads();
    }
    if (row < output.size(0) && col < output.size(1)) output[row][col] = sum + bias[col];
}
at::Tensor forward(at::Tensor input, at::Tensor weight, at::Tensor bias) {
    const auto rows = input.size(0), columns = weight.size(0);
    auto output = at::empty({rows, columns}, input.options());
    layer<float><<<dim3((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        input.packed_accessor<float, 2, at::RestrictPtrTraits, size_t>(),
        weight.packed_accessor<float, 2, at::RestrictPtrTraits, size_t>(), bias.packed_accessor64<float, 1>(),
        output.packed_accessor<float, 2, at::RestrictPtrTraits, size_t>());
    return output;
}
"""
BY_ROWS = '["A", "M", "K", "lda", "1"], ["B", "K", "N", "ldb", "1"], ["C", "M", "N", "ldc", "1"]'
BY_COLUMNS = '["A", "M", "K", "lda", "1"], ["B", "N", "K", "ldb", "1"], ["bias", "N", "1"], ["C", "M", "N", "ldc", "1"]'


@pytest.mark.parametrize(
    ("text", "args", "grid"),
    [
        (PLAIN, BY_ROWS, ("ceil(N / 8)", "ceil(M / 4)")),
        (LINEAR, BY_COLUMNS, ("ceil(N / 8)", "ceil(M / 8)")),
    ],
    ids=["by rows", "weights by columns, with a bias"],
)
def test_accessors_of_tensors_are_described_recorded_and_compiled(text: str, args: str, grid: tuple[str, ...]) -> None:
    made = guess(text, Path("mine.cu"))
    assert not made.doubts
    assert made.grid == grid and f"args    = [{args}]" in made.front_matter()
    kernel = guessed_kernel(made)
    job = launch(kernel, SIZE)
    recording = record(job)
    assert (recording.wrong, recording.diagnostics) == (0, ())
    if nvrtc_alone.library() is not None:
        assert nvrtc_alone.errors(job, "sm_90") == ""


def test_a_type_that_no_macro_dispatches_is_in_doubt() -> None:
    assert any("scalar_t" in doubt for doubt in guess(PLAIN.replace("AT_DISPATCH", "DISPATCH"), Path("mine.cu")).doubts)


def test_an_accessor_of_three_dimensions_is_left_alone() -> None:
    made = guess(PLAIN.replace(", 2,", ", 3,"), Path("mine.cu"))
    assert not made.structs and made.doubts
