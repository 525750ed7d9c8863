"""Sizes and tiles in less usual forms: parts of a size, distances, constants, limits, names that mislead."""

from pathlib import Path

import pytest
from test_guess_false_alarms import BODY, SIGNATURE, program, settled

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG

STORE = "C[row * N + col] = sum;"
TILED = """#include "types.h"
__global__ void gemm(const number *A, const number *B, number *C, int M, int N, int K, int step, int bx, int by)
{
    extern __shared__ number a[];
    int x = blockIdx.x, y = blockIdx.y, row = y * by + threadIdx.y, col = x * bx + threadIdx.x;
    number sum = 0;
    for (int k0 = 0; k0 < K; k0 += step) {
        for (int k = threadIdx.x; k < step; k += bx)
            a[threadIdx.y * step + k] = row < M && k0 + k < K ? A[row * K + k0 + k] : 0;
        __syncthreads();
        for (int k = 0; k < step && k0 + k < K; k++)
            if (col < N) sum += a[threadIdx.y * step + k] * B[(k0 + k) * N + col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
void run(const number *A, const number *B, number *C, int M, int N, int K)
{
    const int wide = 16, tall = 8, step = 24;
    size_t bytes = tall * step * sizeof(number);
    dim3 block(wide, tall), grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    gemm<<<grid, block, bytes>>>(A, B, C, M, N, K, step, wide, tall);
}
"""
PITCHES = """#define N 320
__global__ void gemm(float *a, float *b, float *c, size_t pitch_a, size_t pitch_b, size_t pitch_c)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int i = 0; i < N; ++i)
        sum += a[row * pitch_a / sizeof(float) + i] * b[i * pitch_b / sizeof(float) + col];
    c[row * pitch_c / sizeof(float) + col] = sum;
}
int main()
{
    float *a, *b, *c;
    size_t pitch_a, pitch_b, pitch_c;
    cudaMallocPitch((void **)&a, &pitch_a, N * sizeof(float), N);
    dim3 block(8, 8), grid((N + 7) / 8, (N + 7) / 8);
    gemm<<<grid, block>>>(a, b, c, pitch_a, pitch_b, pitch_c);
}
"""
HELD = """__global__ void gemm(const float *x, const float *y, float *z, int N, int M, int K)
{
    __shared__ float line[96];
    for (int i = threadIdx.x; i < M; i += 32) line[i] = x[blockIdx.x * M + i];
    __syncthreads();
    for (int j = threadIdx.x; j < K; j += 32) {
        float sum = 0;
        for (int i = 0; i < M; i++) sum += line[i] * y[i * K + j];
        z[blockIdx.x * K + j] = sum;
    }
}
void run(const float *x, const float *y, float *z, int N, int M, int K) { gemm<<<N, 32>>>(x, y, z, N, M, K); }
"""
LINES = """template <int SIDE>
__global__ void gemm(int M, int N, int K, const float *A, const float *B, float *C)
{
    int row = blockIdx.x * SIDE + threadIdx.x / SIDE, col = blockIdx.y * blockDim.y + threadIdx.x % SIDE;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def test_the_grid_follows_from_a_size_that_is_a_part_of_another_one() -> None:
    """Each launch gets a half of the rows: for the kernel this is M."""
    text = program(SIGNATURE, STORE, "A, B, C, some / 2, N, K", grid="(N + 7) / 8, (some / 2 + 7) / 8")
    text = text.replace("    dim3 block", "    int some = M / 4;\n    dim3 block")
    made = settled(text)
    assert made.right, made.settled
    assert made.grid == ("ceil(N / 8)", "ceil(M / 8)") and not made.requires


def test_a_part_stays_where_the_whole_size_is_an_argument_too() -> None:
    signature = "const float *A, const float *B, float *C, int M, int N, int K, int half"
    text = program(signature, STORE, "A, B, C, M, N, K, N / 2", grid="(N / 2 + 3) / 4, (M + 7) / 8")
    made = guess(text, Path("mine.cu"))
    assert made.grid == ("ceil(floor(N / 2) / 4)", "ceil(M / 8)")


def test_a_tile_at_run_time_is_known_by_a_copy_of_the_block_index_and_its_bytes_by_a_header() -> None:
    header = "namespace mine { struct Other { typedef double number; }; }\ntypedef float number;\n"
    around = Surroundings(headers=(header,))
    made = guess(TILED, Path("mine.cu"), around=around)
    assert made.roles == ("A", "B", "C", "M", "N", "K", "24", "16", "8")
    assert made.shared == "768"
    assert guess(TILED, Path("mine.cu")).shared != "768"


def test_a_file_with_pitches_may_have_its_size_as_a_constant() -> None:
    made = settled(PITCHES)
    assert made.right, made.settled
    assert made.roles == ("A", "B", "C", "4 * K", "4 * N", "4 * N") and made.constants == {"N": "N"}
    assert {"M == N", "K == N"} == {*made.requires}


def test_a_kernel_that_never_reads_its_depth_multiplies_a_column_by_a_row() -> None:
    body = "    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;\n"
    store = "if (row < M && col < N) C[row * N + col] = A[row] * B[col];"
    made = settled(program(SIGNATURE, store, "A, B, C, M, N, K", body))
    assert made.right, made.settled
    assert made.requires == ("K == 1",)


def test_a_shared_array_for_a_whole_row_limits_the_size_and_a_parameter_that_is_never_read_is_the_last_one() -> None:
    """The rows of A are called N there, and the kernel never reads them."""
    made = settled(HELD)
    assert made.right, made.settled
    assert made.roles == ("A", "B", "C", "M", "K", "N") and made.grid == ("M",)
    assert "K <= 96" in made.requires
    assert not any(
        "<=" in one
        for one in settled(HELD.replace("line[96]", "line[]").replace("__shared__", "extern __shared__")).requires
    )


def test_a_kernel_that_is_right_in_one_block_of_columns_asks_for_as_many() -> None:
    """It takes the columns of a block from the wrong extent of it."""
    made = settled(LINES)
    assert made.right, made.settled
    limits = [one for one in made.requires if one.startswith("N <= ")]
    assert len(limits) == 1
    right = settled(LINES.replace("blockIdx.y * blockDim.y", "blockIdx.y * SIDE"))
    assert right.right and not any("<=" in one for one in right.requires)


@pytest.mark.parametrize("given", ["", "-DTILE=8"])
def test_a_macro_with_a_value_of_its_own_is_no_guess(given: str) -> None:
    """Then a wrong kernel is called wrong by its file's launch."""
    head = "#ifndef TILE\n#define TILE 8\n#endif\n"
    text = head + program(SIGNATURE, "C[row * N + col] = sum + 1;", "A, B, C, M, N, K", BODY.replace("8", "TILE"))
    text = text.replace("(8, 8)", "(TILE, TILE)").replace("+ 7) / 8", "+ TILE - 1) / TILE")
    made = guess(text, Path("mine.cu"), around=Surroundings(scripts=(f"nvcc {given} mine.cu",)))
    assert made.params == {"TILE": (8,)}
    assert settled(text).settled.endswith(OWN_LAUNCH_IS_WRONG)


def test_it_is_one_where_scripts_give_it_several_values() -> None:
    head = "#ifndef TILE\n#define TILE 8\n#endif\n"
    text = head + program(SIGNATURE, STORE, "A, B, C, M, N, K", BODY.replace("8", "TILE")).replace(
        "(8, 8)", "(TILE, TILE)"
    )
    around = Surroundings(scripts=("nvcc -DTILE=16 mine.cu\nnvcc -DTILE=32 mine.cu\n",))
    made = guess(text, Path("mine.cu"), around=around)
    assert made.params["TILE"] == (16, 32) and made.why["params"].confidence < 0.9


def test_the_launch_at_the_end_of_a_long_file_is_read() -> None:
    line = "    t.x = a[m][n + 0] * b[n + 0]; t.y = a[m][n + 1] * b[n + 1];\n"
    other = f"__global__ void other(float *a) {{\n{line * 3000}}}\n"
    kernel, host = program(SIGNATURE, STORE, "A, B, C, M, N, K").split("void run")
    made = guess(f"{kernel}{other}void run{host}", Path("mine.cu"), "gemm")
    assert made.why["grid"].confidence > 0.9
