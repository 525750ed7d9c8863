"""Grids that lack a side of C: the host's has K in its place, or the trial of a guess had one block along it."""

from pathlib import Path

import pytest
from settled_files import settled

from gemmviz.catalogue.guessing.cxx import kernels_of
from gemmviz.catalogue.guessing.grid_sides import names_of_sides
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.other_grids import grid_lacks_a_side
from gemmviz.catalogue.guessing.roles import Roles
from gemmviz.catalogue.guessing.settle import GRID_LACKS_A_SIDE, ONLY_ONE_ELEMENT

TILED = """
__global__ void multiply(const float *A, const float *B, float *C, int rows, int inner, int columns) {
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    if (row >= rows || column >= columns) return;
    float sum = 0;
    for (int k = 0; k < inner; k++) sum += A[row * inner + k] * B[k * columns + column];
    C[row * columns + column] = sum;
}
void run(const float *A, const float *B, float *C, int rows, int inner, int columns) {
    dim3 grid(({across} + 7) / 8, ({down} + 7) / 8);
    multiply<<<grid, dim3(8, 8)>>>(A, B, C, rows, inner, columns);
}
"""
# The number of a block is made of both indices, so that no index of C names them.
GROUPED = """
__device__ void part(const float *A, const float *B, float *C, int M, int N, int K) {
    int blocks = gridDim.x * 2, number = blockIdx.y * gridDim.x + blockIdx.x, first = number / blocks * 2;
    int high = min((int)gridDim.y - first, 2);
    int row = (first + number % blocks % high) * 128 + threadIdx.x, left = number % blocks / high * 16;
    for (int column = left; column < left + 16; column++) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += row < M && column < N ? A[row * K + k] * B[k * N + column] : 0;
        if (row < M && column < N) C[row * N + column] = sum;
    }
}
extern "C" __global__ __launch_bounds__(128) void gemm(
    const float *A, const float *B, float *C, int M, int N, int K) {
    part(A, B, C, M, N, K);
}
"""


@pytest.mark.parametrize("side", ["inner", "rows"])
def test_a_grid_without_a_side_of_c_is_mended_and_said(tmp_path: Path, side: str) -> None:
    made = settled(tmp_path, TILED.replace("{across}", side).replace("{down}", side))
    assert made.right and made.grid == ("ceil(N / 8)", "ceil(M / 8)")
    assert GRID_LACKS_A_SIDE in made.settled


def test_a_grid_of_rows_and_columns_lacks_none() -> None:
    of_k, whole = (
        guess(TILED.replace("{across}", across).replace("{down}", down), Path("mine.cu"))
        for across, down in (("inner", "inner"), ("columns", "rows"))
    )
    assert grid_lacks_a_side(of_k, of_k.others[-1])
    assert not grid_lacks_a_side(whole, of_k.others[-1])
    assert not grid_lacks_a_side(of_k.others[-1], whole)


def test_blocks_are_found_along_both_sides_although_one_has_all_rows_of_a_small_c(tmp_path: Path) -> None:
    made = settled(tmp_path, GROUPED)
    assert made.right
    assert {name for side in made.grid for name in "MN" if name in side} == {"M", "N"}


def test_a_size_that_only_the_host_names_is_taken_from_its_name() -> None:
    launch = HostLaunch("multiply", (), (("a_rows",), ("b_cols",)), (("t",),), (), (("A",), ("B",), ("C",), ("n",)))
    (kernel,) = kernels_of("__global__ void multiply(float *A, float *B, float *C, int width) {}")
    roles = Roles(of={"A": "A", "B": "B", "C": "C", "width": "N"})
    assert names_of_sides(launch, kernel, roles, {}) == {"a_rows": "M"}
    assert names_of_sides(launch, kernel, roles, {"a_rows": ("512",)}) == {}


def test_a_launch_of_one_thread_for_one_element_proves_nothing(tmp_path: Path) -> None:
    text = """
__global__ void odd(const float *A, const float *B, float *C, int n) {
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[3 * i + k] * B[k + 5 * i];
    C[7 * i] = sum;
}
"""
    made = settled(tmp_path, text)
    assert not made.right and ONLY_ONE_ELEMENT.split("{size}")[1] in made.settled
