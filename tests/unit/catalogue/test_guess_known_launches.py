"""Known launches of square kernels and batches; alpha and beta by pointer; the sizes at which a block is tried."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_guess_false_alarms import settled, tried

from gemmviz.catalogue.guessing.block_sides import several_blocks
from gemmviz.catalogue.guessing.certainty import has_known_depth, has_whole_blocks, has_whole_groups, is_known
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.scale_pointers import as_structures, joined
from gemmviz.catalogue.guessing.settle import GRID_IS_TURNED, settle
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.problem import Problem

SUM = """    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
"""


def square(store: str, grid: str) -> str:
    """Return a kernel for square matrices and its host function."""
    return (
        f"__global__ void gemm(const float *A, const float *B, float *C, int n)\n{{\n{SUM}    {store}\n}}\n"
        "void run(const float *A, const float *B, float *C, int n) {\n"
        f"    dim3 block(8, 8), grid({grid});\n    gemm<<<grid, block>>>(A, B, C, n);\n}}\n"
    )


def test_a_wrong_kernel_with_one_size_is_called_wrong_where_its_launch_is_known() -> None:
    made = settled(square("C[row * n + col] = sum + 1;", "n / 8, n / 8"))
    assert made.settled.endswith(OWN_LAUNCH_IS_WRONG)
    assert not made.right


@pytest.mark.parametrize("grid", ["n / 8, 4", "4, 4"])
def test_it_is_not_where_a_side_of_the_grid_is_constant(grid: str) -> None:
    made = guess(square("C[row * n + col] = sum + 1;", grid), Path("mine.cu"))
    assert not any(is_known(one) for one in (made, *made.others) if one.grid != ("N / 8", "N / 8"))


def test_it_is_not_where_the_sum_has_the_width_of_a_block_only() -> None:
    """A has 8 columns and B 8 rows: the kernel is right, and not for square matrices."""
    text = (
        square("C[row * n + col] = sum;", "n / 8, n / 8")
        .replace("k < n", "k < 8")
        .replace("row * n + k", "row * 8 + k")
    )
    made = guess(text, Path("mine.cu"))
    assert not has_known_depth(made)
    assert not settled(text).settled.endswith(OWN_LAUNCH_IS_WRONG)


def batched(parameter: str) -> str:
    """Return a kernel for several products whose sums are wrong, and its host function."""
    return (
        f"__global__ void gemm(const float *A, const float *B, float *C, int {parameter}, int M, int N, int K)\n{{\n"
        "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x, b = blockIdx.z;\n"
        "    if (row >= M || col >= N) return;\n    float sum = 1;\n"
        "    for (int k = 0; k < K; k++) sum += A[b * M * K + row * K + k] * B[b * K * N + k * N + col];\n"
        "    C[b * M * N + row * N + col] = sum;\n}\n"
        f"void run(const float *A, const float *B, float *C, int {parameter}, int M, int N, int K) {{\n"
        f"    dim3 block(8, 8), grid((N + 7) / 8, (M + 7) / 8, {parameter});\n"
        f"    gemm<<<grid, block>>>(A, B, C, {parameter}, M, N, K);\n}}\n"
    )


def test_the_number_of_products_is_a_known_argument() -> None:
    assert settled(batched("BATCH")).settled.endswith(OWN_LAUNCH_IS_WRONG)
    assert not settled(batched("count")).settled.endswith(OWN_LAUNCH_IS_WRONG)


def scaled(first: str, second: str, store: str) -> str:
    """Return a kernel that takes two factors by pointer, and its host function."""
    return (
        f"__global__ void gemm(int M, int N, int K, const float *{first}, const float *A, const float *B, "
        f"const float *{second}, float *C)\n{{\n"
        "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n"
        "    if (row >= M || col >= N) return;\n    float sum = 0;\n"
        "    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n"
        f"    C[row * N + col] = {store};\n}}\n"
        f"void run(int M, int N, int K, const float *a, const float *A, const float *B, const float *b, float *C) {{\n"
        "    dim3 block(8, 8), grid((N + 7) / 8, (M + 7) / 8);\n"
        "    gemm<<<grid, block>>>(M, N, K, a, A, B, b, C);\n}\n"
    )


@pytest.mark.parametrize(
    ("first", "second", "store"),
    [
        ("alpha", "beta", "*alpha * sum + *beta * C[row * N + col]"),
        ("d_alpha", "d_beta", "d_alpha[0] * sum + d_beta[0] * C[row * N + col]"),
        ("alpha_ptr", "beta_ptr", "*alpha_ptr * sum + *beta_ptr * C[row * N + col]"),
    ],
)
def test_alpha_and_beta_by_pointer_are_described(first: str, second: str, store: str) -> None:
    made = settled(scaled(first, second, store))
    assert made.right, made.settled
    assert 'args    = ["M", "N", "K", ["*", "alpha"], "A", "B", ["*", "beta"], "C"]' in made.front_matter()
    kernel = parse(made.described(), Path("mine.cu"))
    assert kernel.structs == ((3, 4), (6, 7))
    assert kernel.struct_pointers == (True, True)


def test_a_factor_for_each_column_is_no_alpha() -> None:
    made = guess(scaled("alpha", "beta", "alpha[col] * sum + *beta * C[row * N + col]"), Path("mine.cu"))
    assert made.roles[3] != "alpha"


def test_a_member_of_a_structure_is_no_structure_itself() -> None:
    scales = as_structures(["A", "alpha", "beta"], ["float *", "float *", "float"])
    assert scales == [(1, 2, True)]
    assert joined([(0, 3, True)], scales) == ((0, 3, True),)
    assert joined([(2, 3, False)], scales) == ((1, 2, True), (2, 3, False))


TILES = """__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    const int rows = blockDim.x * blockDim.y / 32;
    for (int i = blockIdx.y * rows; i < n; i += gridDim.y * rows)
        for (int j = blockIdx.x * 64; j < n; j += gridDim.x * 64)
            for (int at = threadIdx.y * blockDim.x + threadIdx.x; at < 32 * 64; at += blockDim.x * blockDim.y) {
                int row = i + at / 64, col = j + at % 64;
                if (row >= n || col >= n || (at / 64 >= rows && j)) continue;
                float sum = 0;
                for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
                C[row * n + col] = sum;
            }
}
"""


def test_a_guessed_block_is_tried_at_a_size_with_several_blocks_along_each_side() -> None:
    made = guess(TILES, Path("mine.cu"))
    larger = several_blocks(made, Problem(48, 48, 48))
    assert larger is not None
    assert larger.n > 64
    assert several_blocks(made, larger) is None


def test_a_guessed_block_that_is_wrong_with_several_blocks_is_not_called_right() -> None:
    def wrong_where_large(_: Kernel, size: Problem) -> str:
        return "elements of C are wrong" if size.n > 64 else ""

    made = settle(guess(TILES, Path("mine.cu")), wrong_where_large)
    assert not made.right
    assert made.settled.endswith("elements of C are wrong")


def test_a_launch_through_a_pointer_has_the_sizes_of_the_parameters_that_take_them() -> None:
    """Here N is the number of products of a sum, and K the number of columns."""
    text = (
        "using Whole = const int;\n"
        "__global__ void gemm(const float *A, const float *B, float *C, Whole M, Whole N, Whole K)\n{\n"
        "    Whole row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n"
        "    float sum = 0;\n    if (row >= M || col >= K) return;\n"
        "    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * K + col];\n    C[row * K + col] = sum;\n}\n"
        "int main() {\n    Whole M = 1024, N = 512, K = 256;\n    Timed timed(M, N, K);\n"
        "    const dim3 block(8, 8), grid((K + 7) / 8, (M + 7) / 8);\n    timed.measure(gemm, grid, block);\n}\n"
    )
    made = guess(text, Path("mine.cu"))
    assert made.roles[-3:] == ("M", "K", "N")
    assert made.grid == ("ceil(N / 8)", "ceil(M / 8)")


RACE = """#define TILE 8
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    }
    C[row * N + col] = sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K) {
    gemm<<<dim3(N / TILE, M / TILE), dim3(TILE, TILE)>>>(A, B, C, M, N, K);
}
"""


def test_a_kernel_with_a_race_is_described_for_unequal_sizes() -> None:
    made = settled(RACE)
    assert made.wrong_itself and not made.right
    assert {*made.requires} == {"M % 8 == 0", "N % 8 == 0", "K % 8 == 0"}


ONE_BLOCK = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = threadIdx.y + blockIdx.y * 8, col = threadIdx.x + blockIdx.x * 8;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def test_a_grid_that_does_not_grow_is_tried_with_a_larger_c() -> None:
    made = replace(guess(ONE_BLOCK, Path("mine.cu")), block=("8", "8"), grid=("1", "1"), others=())
    one_tile = replace(made, requires=("M % 8 == 0", "N % 8 == 0"))
    assert several_blocks(one_tile, Problem(8, 8, 16)) == Problem(16, 16, 1)
    assert several_blocks(replace(made, requires=("M == 8", "N == 8")), Problem(8, 8, 16)) in (None, Problem(8, 8, 1))
    assert settle(one_tile, tried, alternatives=False).grid != ("1", "1")


def in_groups(added: str) -> str:
    """Return a kernel whose blocks lie in groups of 16 along the columns, and its host function; one tile is 8 x 64."""
    return (
        "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        "    int row = blockIdx.y * 8 + threadIdx.y, tile = blockIdx.z * gridDim.x + blockIdx.x;\n"
        "    if (tile >= N / 64) return;\n"
        f"    int col = tile * 64 + threadIdx.x;\n    float sum = {added};\n"
        "    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n"
        "    C[row * N + col] = sum;\n}\n"
        "void run(const float *A, const float *B, float *C, int M, int N, int K) {\n"
        "    dim3 block(64, 8), grid(16, M / 8, (N + 64 * 16 - 1) / (64 * 16));\n"
        "    gemm<<<grid, block>>>(A, B, C, M, N, K);\n}\n"
    )


def test_the_last_group_of_blocks_may_have_some_beyond_c() -> None:
    made = guess(in_groups("0"), Path("mine.cu"))
    assert not has_whole_blocks(made, Problem(64, 64, 64)) and has_whole_groups(made, Problem(64, 64, 64))
    assert not has_whole_groups(made, Problem(64, 96, 64)) and not has_whole_groups(made, Problem(60, 64, 64))


def test_a_wrong_kernel_whose_blocks_lie_in_groups_is_called_wrong() -> None:
    assert settled(in_groups("1")).settled.endswith(OWN_LAUNCH_IS_WRONG)
    assert settled(in_groups("0")).right


def test_a_grid_that_covers_small_sizes_by_chance_is_tried_with_its_sides_exchanged() -> None:
    """K is larger than M in the first trial, and one block more than M / 16 covers 32 columns, too."""
    made = settled(
        "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {\n"
        "    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;\n"
        "    if (row >= M || col >= N) return;\n    float sum = 0;\n"
        "    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n    C[row * N + col] = sum;\n}\n"
        "void run(const float *A, const float *B, float *C, int M, int N, int K) {\n"
        "    dim3 block(16, 16), grid(N / 16 + 1, M / 16 + 1);\n    gemm<<<grid, block>>>(A, B, C, M, N, K);\n}\n"
    )
    assert made.right and made.grid == ("floor(M / 16) + 1", "floor(N / 16) + 1")
    assert made.settled.endswith(GRID_IS_TURNED)
