"""Kernels whose sizes only their names, their block or the host's constants show."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.trial_sizes import first_size
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_MISSES
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.readings import readings
from gemmviz.trace.recording.record import record


def tried(kernel: Kernel, size: Problem) -> Verdict:
    """Return the verdict on a launch, as the engine gives it."""
    recording = record(launch(kernel, size), deadline_s=10)
    if recording.notes:
        return Verdict.of(recording.notes[0], misses=True)
    if not recording.wrong:
        return Verdict()
    return Verdict.of("wrong", readings=readings(recording, kernel.column_major), comparable=True)


def settled(text: str) -> Guess:
    return settle(guess(text, Path("mine.cu")), tried)


# Each block multiplies one tile of A, as wide as the block, by one of B.
ONE_STEP = """__global__ void narrow(const float *a, const float *b, float *c, int n)
{
    extern __shared__ float tile[];
    int side = blockDim.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.y * side + threadIdx.x] = a[row * side + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < side; i++) sum += tile[threadIdx.y * side + i] * b[i * n + col];
    c[row * n + col] = sum;
}
void run(float *a, float *b, float *c, int n)
{
    int side = 8;
    dim3 block(side, side), grid(n / side, n / side);
    narrow<<<grid, block, side * side * sizeof(float)>>>(a, b, c, n);
}
"""


def test_a_product_may_be_as_deep_as_its_block_is_wide() -> None:
    made = settled(ONE_STEP)
    assert made.right and "K == 8" in made.requires and not made.column_major


# The first comparison is wrong, and says that A has the columns of C: the names say what is meant.
NAMED = """__global__ void gemm(int A_num_ROW, int A_num_COL, const float *A,
                     int B_num_ROW, int B_num_COL, const float *B, float *C)
{
    __shared__ float a[8][8], b[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < (A_num_COL + 7) / 8; i++) {
        a[threadIdx.y][threadIdx.x] =
            row < A_num_ROW && col < A_num_COL ? A[row * A_num_COL + i * 8 + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] =
            i * 8 + threadIdx.y < B_num_ROW && col < B_num_COL ? B[(i * 8 + threadIdx.y) * B_num_COL + col] : 0;
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < A_num_ROW && col < B_num_COL) C[row * B_num_COL + col] = sum;
}
int main()
{
    int A_num_ROW = 96, A_num_COL = 128, B_num_ROW = 128, B_num_COL = 64;
    float *a, *b, *c;
    dim3 block(8, 8), grid((B_num_COL + 7) / 8, (A_num_ROW + 7) / 8);
    gemm<<<grid, block>>>(A_num_ROW, A_num_COL, a, B_num_ROW, B_num_COL, b, c);
}
"""


@pytest.mark.parametrize(("row", "column"), [("rows", "cols"), ("fil", "col"), ("zeilen", "spalten")])
def test_sizes_named_with_their_matrix_are_what_the_names_say(row: str, column: str) -> None:
    made = settled(NAMED.replace("ROW", row).replace("COL", column))
    assert made.right and made.roles == ("M", "K", "A", "K", "N", "B", "C")


# Only the launch bounds have the last argument, which the host computes from the device's limits.
BOUNDED = """template <int T, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * T + threadIdx.x / T, col = blockIdx.x * T + threadIdx.x % T;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    constexpr int T = 4, threads = T * T;
    constexpr int blocks = limit(threads);
    dim3 grid(N / T, M / T);
    gemm<T, threads, blocks><<<grid, threads>>>(A, B, C, M, N, K);
}
"""


def test_a_template_s_argument_that_only_bounds_the_launch_may_be_unknown() -> None:
    made = guess(BOUNDED, Path("mine.cu"))
    assert (made.params["T"], made.params["THREADS"]) == ((4,), (16,))
    assert launch(guessed_kernel(made), Problem(64, 32, 16)).grid == (8, 16, 1)


# Each thread stores four rows of the tile, and the block is as high as the tile: the last ones lie behind it.
TOO_HIGH = """#ifdef USE_GPU
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < K; i += 16) {
        for (int j = 0; j < 4; j++) a[threadIdx.y + 4 * j][threadIdx.x] = A[row * K + i + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[threadIdx.y][k] * B[(i + k) * N + col];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 block(16, 16), grid(N / 16, M / 16);
    gemm<<<grid, block>>>(A, B, C, M, N, K);
}
#endif
"""


def test_a_macro_around_a_kernel_leaves_its_own_launch_known() -> None:
    assert settled(TOO_HIGH).settled.endswith(OWN_LAUNCH_MISSES)


@pytest.mark.parametrize("name", ["mma_m16n8k16", "mma_m16_n8_k16_test"])
def test_a_kernel_for_one_tile_may_have_its_sizes_in_its_name(name: str) -> None:
    text = (
        f"__global__ void {name}(const float *A, const float *B, float *C) {{\n"
        "    for (int at = threadIdx.x; at < 16 * 8; at += 32) {\n        float sum = 0;\n"
        "        for (int k = 0; k < 16; ++k) sum += A[at / 8 * 16 + k] * B[k * 8 + at % 8];\n"
        "        C[at] = sum;\n    }\n}\n"
        f"void run(float *A, float *B, float *C) {{ {name}<<<1, 32>>>(A, B, C); }}\n"
    )
    made = settled(text)
    assert made.right and made.requires == ("M == 16", "N == 8", "K == 16")


ROWS = """__global__ void gemm(const float *A, const float *B, float *C, int m, int n, int k) {
    int i = blockIdx.x, j = threadIdx.x;
    float sum = 0;
    for (int t = 0; t < k; ++t) sum += A[i * 512 + t] * PRODUCT;
    C[i * 512 + j] = sum;
}
void run(float *A, float *B, float *C) { gemm<<<512, 512>>>(A, B, C, 512, 512, 512); }
"""


@pytest.mark.parametrize(("product", "by_columns"), [("B[j * 512 + t]", {"B"}), ("B[t * 512 + j]", set())])
def test_rows_that_a_number_of_the_code_sets_apart_have_a_block_each(product: str, by_columns: set[str]) -> None:
    made = settled(ROWS.replace("PRODUCT", product))
    assert made.right and made.grid == ("M",) and made.column_major == by_columns
    assert {"N == 512", "K == 512"} <= {*made.requires}


def test_large_numbers_for_some_sizes_make_the_others_small() -> None:
    made = guess(ROWS.replace("PRODUCT", "B[t * 512 + j]"), Path("mine.cu"))
    free = replace(made, grid=("M",), requires=("N == 512", "K == 512"), others=())
    assert first_size(guessed_kernel(free)) == Problem(48, 512, 512)
    wide = replace(free, requires=("N == 1024", "K == 1024"), block=("1024",))
    assert first_size(guessed_kernel(wide)) == Problem(4, 1024, 1024)
