"""Guesses of kernels with names that are no tile sizes: local pointers in capitals, and nested namespaces."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_guess_false_alarms import settled

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.roles import named_so
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

KERNEL = """
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float tiles[2][16][16];
    float *SA = &tiles[0][0][0];
    float *SB = SA + 16 * 16;
    const float *BA = A + blockIdx.y * 16 * K;
    int row = threadIdx.y, col = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k += 16) {
        SA[row * 16 + col] = BA[row * K + k + col];
        SB[row * 16 + col] = B[(k + row) * N + blockIdx.x * 16 + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += SA[row * 16 + i] * SB[i * 16 + col];
        __syncthreads();
    }
    C[(blockIdx.y * 16 + row) * N + blockIdx.x * 16 + col] = sum;
}
"""
HOST = """
void run(float *A, float *B, float *C, int M, int N, int K)
{
    product<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
"""


def test_a_local_pointer_in_capitals_is_no_tile_size() -> None:
    made = guess(KERNEL + HOST, Path("mine.cu"))
    assert made.params == {}
    assert record(launch(guessed_kernel(made), Problem(32, 16, 48))).wrong == 0


def test_a_kernel_in_a_nested_namespace_has_its_whole_name() -> None:
    for opening, closing, name in (
        ("namespace mine::kernels {", "}", "mine::kernels::product"),
        ("namespace mine { namespace kernels {", "} }", "mine::kernels::product"),
        ("namespace {", "}", "product"),
    ):
        made = guess(f"{opening}\n{KERNEL}{HOST}{closing}\n", Path("mine.cu"))
        assert made.entry == name
        assert record(launch(guessed_kernel(made), Problem(16, 32, 16))).wrong == 0


def test_rows_and_columns_of_each_matrix_are_its_sizes() -> None:
    kernel = """__global__ void product(float *A, float *B, float *C, int ARows, int ACols, int BRows, int BCols,
                        int CRows, int CCols)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < ACols; k++)
        if (k < BRows && row < ARows && col < BCols) sum += A[row * ACols + k] * B[k * BCols + col];
    if (row < CRows && col < CCols) C[row * CCols + col] = sum;
}
int main()
{
    int m = 100, k = 200, n = 300, CRows = m, CCols = n;
    dim3 block(16, 16), grid;
    grid.x = (CCols + block.x - 1) / block.x;
    grid.y = (CRows + block.y - 1) / block.y;
    product<<<grid, block>>>(0, 0, 0, m, k, k, n, CRows, CCols);
}
"""
    made = guess(kernel, Path("product.cu"))
    assert made.roles == ("A", "B", "C", "M", "K", "K", "N", "M", "N")
    assert made.grid == ("ceil(N / 16)", "ceil(M / 16)")


def test_the_rows_and_columns_of_a_matrix_may_be_called_sizes() -> None:
    sides = {"aRowSize": "M", "a_col_size": "K", "bRowSize": "K", "bColCount": "N", "cColSize": "N"}
    assert {name: named_so(name) for name in sides} == sides
    assert named_so("rowSize") == ""


OTHERS = """
template <int T> __device__ void load(int rows, int columns, int i0, int k0, const float *from, float (&to)[T][T]) {
    for (int i = threadIdx.y; i < T; i += 8)
        for (int k = threadIdx.x; k < T; k += 8) to[i][k] = from[(i0 + i) * columns + k0 + k];
}
__global__ void gemm(int n, int m, int k, const float *a, const float *b, float *c) {
    __shared__ float as[32][32], bs[32][32];
    float sums[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        load<32>(n, k, blockIdx.y * 32, k0, a, as);
        load<32>(k, m, k0, blockIdx.x * 32, b, bs);
        __syncthreads();
        for (int x = 0; x < 32; x++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sums[i][j] += as[threadIdx.y * 4 + i][x] * bs[x][threadIdx.x * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = blockIdx.y * 32 + threadIdx.y * 4 + i, column = blockIdx.x * 32 + threadIdx.x * 4 + j;
            c[row * m + column] = sums[i][j];
        }
}
void run(int n, int m, int k, const float *a, const float *b, float *c) {
    gemm<<<dim3(m / 32, n / 32), dim3(8, 8)>>>(n, m, k, a, b, c);
}
"""


def test_the_rows_may_be_called_n_and_the_columns_m() -> None:
    made = guess(OTHERS, Path("mine.cu"))
    assert made.roles[:3] == ("N", "M", "K")  # only the names say it
    found = settled(OTHERS)
    assert found.right and found.roles[:3] == ("M", "N", "K")
    assert found.grid == ("floor(N / 32)", "floor(M / 32)") and "M == N" not in found.requires


def test_so_they_may_where_the_first_size_is_square() -> None:
    made = guess(OTHERS, Path("mine.cu"))
    tiles = replace(made, requires=("M % 128 == 0", "N % 128 == 0", "K % 32 == 0"))
    found = settle(tiles, lambda kernel, size: "" if kernel.args[0] == "M" or size.m == size.n else "wrong")
    assert found.right and found.roles[:3] == ("M", "N", "K") and "M == N" not in found.requires
    assert OWN_LAUNCH_IS_WRONG not in found.settled and "unless" not in found.settled


@pytest.mark.parametrize(("first", "asked"), [("floor(M / 128)", ()), ("no such side", ("M == N",))])
def test_sizes_that_are_equal_by_chance_are_no_multiples(first: str, asked: tuple[str, ...]) -> None:
    """Right with M and N exchanged and the grid turned back, or for square matrices only, but not for multiples."""
    made = guess(OTHERS, Path("mine.cu"))
    grid = ("floor(M / 128)", "floor(N / 128)")
    tiles = replace(made, grid=grid, requires=("M % 128 == 0", "N % 128 == 0", "K % 8 == 0"))

    def try_one(kernel: Kernel, size: Problem) -> str:
        right = size.m == size.n or (kernel.args[0], kernel.grid[0].text) == ("M", first)
        return "" if right else "wrong"

    found = settle(tiles, try_one)
    assert found.right and tuple(one for one in found.requires if "%" not in one) == asked
    assert not any("256" in one for one in found.requires)
