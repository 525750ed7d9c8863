"""Guesses where the host code gives numbers for sizes, where two parameters are one size, and beside tensor maps."""

from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

PITCHES = """template <int BX, int BY>
__global__ void gemm(float *A, float *B, float *C, size_t M, size_t N, size_t K, size_t A_stride, size_t B_stride,
                     size_t C_stride)
{
    size_t col = BX * blockIdx.x + threadIdx.x, row = BY * blockIdx.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (size_t k = 0; k < K; k++) sum += A[row * A_stride + k] * B[k * B_stride + col];
    C[row * C_stride + col] = sum;
}
inline size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }
void run(float *a, float *b, float *c) {
    constexpr size_t BX{16};
    constexpr size_t BY{8};
    const dim3 grid(parts(COLUMNS, BX), parts(ROWS, BY));
    gemm<BX, BY><<<grid, dim3(BX, BY)>>>(a, b, c, ROWS, COLUMNS, SUMMED, SUMMED, COLUMNS, COLUMNS);
}
"""
# One parameter is the width of all matrices, another one the number of columns of C.
TWICE = """__global__ void gemm(float *A, float *B, float *C, int columns_of_c, int rows_of_c, int N) {
    const int row = blockDim.x * blockIdx.x + threadIdx.x, col = blockDim.y * blockIdx.y + threadIdx.y;
    if (row < rows_of_c && col < columns_of_c) {
        float sum = 0.0f;
        for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
"""
MAPPED = """#include <cuda.h>
template <int BM, int BN, int BK>
__global__ void gemm(int M, int N, int K, half *A, half *B, float *C, half *more,
                     const __grid_constant__ CUtensorMap A_tmap, const __grid_constant__ CUtensorMap B_tmap)
{
    C[blockIdx.y * BM * N + blockIdx.x * BN + threadIdx.x] = 0;
}
void run(half *A, half *B, float *C, half *more, int M, int N, int K) {
    constexpr int BM = 64, BN = 32, BK = 16;
    CUtensorMap map_a, map_b;
    made<BM, BK>(&map_a, A, M, K);
    made<BN, BK>(&map_b, B, N, K);
    gemm<BM, BN, BK><<<dim3(N / BN, M / BM), 128>>>(M, N, K, A, B, C, more, map_a, map_b);
}
"""
MAKES = """template <int ROWS, int COLUMNS>
void made(CUtensorMap *map, half *from, uint64_t rows, uint64_t columns) {
    uint64_t sizes[2] = {columns, rows}, strides[1] = {columns * sizeof(half)};
    uint32_t box[2] = {COLUMNS, ROWS}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, from, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
"""
OF_A_BATCH = """__global__ void products(const float *A, const float *B, float *C, int BATCH, int M, int N, int K) {
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const float *left = A + blockIdx.z * M * K, *right = B + blockIdx.z * K * N;
    float sum = 0;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; k++) sum += left[row * K + k] * right[k * N + col];
    C[blockIdx.z * M * N + row * N + col] = sum;
}
void solve(const float *A, const float *B, float *C, int BATCH, int M, int N, int K) {
    dim3 grid((N + 7) / 8, (M + 7) / 8, BATCH);
    products<<<grid, dim3(8, 8)>>>(A, B, C, BATCH, M, N, K);
}
"""
IN_A_STRUCTURE = """#include <cuda_fp16.h>
using Element = half;
template <int BM, int BN, int BK, int STAGES = 2>
struct Tiles {
    alignas(128) float a[STAGES][BM * BK];
    alignas(128) Element b[STAGES * BK * BN];
    uint64_t full[STAGES], done;
};
template <int BM, int BN, int BK>
__global__ void gemm(const float *A, const half *B, float *C, int M, int N, int K) {
    extern __shared__ __align__(128) unsigned char bytes[];
    Tiles<BM, BN, BK> &tiles = *reinterpret_cast<Tiles<BM, BN, BK> *>(bytes);
    tiles.a[0][threadIdx.x] = A[blockIdx.y * BM * K + threadIdx.x];
    C[blockIdx.y * BM * N + blockIdx.x * BN + threadIdx.x] = tiles.a[0][0] + (float)B[blockIdx.x * BN];
}
void run(const float *A, const half *B, float *C, int M, int N, int K) {
    constexpr int BM = 64, BN = 32, BK = 16;
    auto *kernel = gemm<BM, BN, BK>;
    size_t bytes = sizeof(Tiles<BM, BN, BK, 2>);
    kernel<<<dim3(N / BN, M / BM), 128, bytes>>>(A, B, C, M, N, K);
}
"""
# It measures itself if its template says so, and one structure fills dynamic shared memory.
MEASURES_ITSELF = """template <int TILE> struct Tiles { float a[TILE][TILE], b[TILE][TILE]; };
template <int TILE, bool CLOCKS>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, long long *clocks) {
    extern __shared__ Tiles<TILE> tiles;
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    long long began = 0;
    if constexpr (CLOCKS) began = clock64();
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        tiles.a[threadIdx.y][threadIdx.x] = A[row * K + k + threadIdx.x];
        tiles.b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * N + col];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += tiles.a[threadIdx.y][i] * tiles.b[i][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
    if constexpr (CLOCKS) { if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - began; }
}
void run(const float *A, const float *B, float *C, int M, int N, int K, long long *clocks) {
    constexpr int TILE = 8;
    auto *kernel = clocks ? gemm<TILE, true> : gemm<TILE, false>;
    kernel<<<dim3(N / TILE, M / TILE), dim3(TILE, TILE), sizeof(Tiles<TILE>)>>>(A, B, C, M, N, K, clocks);
}
"""


def _right(made: Guess, problem: Problem) -> None:
    recording = record(launch(guessed_kernel(made), problem))
    assert (recording.wrong, recording.notes) == (0, ())


@pytest.mark.parametrize(("rows", "columns", "summed"), [("211", "68", "35"), ("4096", "4096", "4096")])
def test_numbers_that_a_launch_gives_are_the_sizes(rows: str, columns: str, summed: str) -> None:
    text = PITCHES.replace("ROWS", rows).replace("COLUMNS", columns).replace("SUMMED", summed)
    made = guess(text, Path("gemm.cu"))
    assert made.roles[3:] == ("M", "N", "K", "lda", "ldb", "ldc")
    assert made.grid == ("ceil(N / BX)", "ceil(M / BY)")
    if rows != columns:
        _right(made, Problem(24, 40, 16))


def test_an_extern_array_with_all_extents_takes_no_shared_memory_of_the_launch() -> None:
    text = MEASURES_ITSELF.replace(
        "extern __shared__ Tiles<TILE> tiles;", "extern __shared__ float a[TILE][TILE], b[TILE][TILE];"
    )
    text = text.replace("tiles.", "").replace(", sizeof(Tiles<TILE>)>>>", ">>>")
    made = guess(text, Path("gemm.cu"))
    assert made.shared == "0" and guess(text.replace("a[TILE]", "a[]"), Path("gemm.cu")).shared != "0"
    _right(made, Problem(16, 24, 8))


def test_two_parameters_may_be_one_size() -> None:
    made = guess(TWICE, Path("gemm.cu"))
    assert made.roles == ("A", "B", "C", "N", "M", "N") and "K == N" in made.requires
    _right(made, Problem(16, 32, 32))


def test_matrices_beside_tensor_maps_may_be_unused(tmp_path: Path) -> None:
    made = guess(MAKES + MAPPED, tmp_path / "gemm.cu")
    assert made.roles == ("M", "N", "K", "0", "0", "C", "0", "A.map", "B.map")
    assert "does not use" in made.why["more"].why


def test_another_file_of_the_project_makes_the_maps(tmp_path: Path) -> None:
    (tmp_path / "maps.hpp").write_text(MAKES)
    path = tmp_path / "gemm.cu"
    path.write_text(MAPPED)
    made = guess(MAPPED, path, around=surroundings(path, MAPPED))
    assert made.boxes == {"A": ("BM", "BK", 32, 2), "B": ("BN", "BK", 32, 2)}


def test_the_bytes_of_a_structure_in_shared_memory_follow_from_its_members() -> None:
    made = guess(IN_A_STRUCTURE, Path("gemm.cu"))
    assert made.shared == "8 * BK * BM + 4 * BK * BN + 24"


def test_of_a_batch_one_product_is_described() -> None:
    made = guess(OF_A_BATCH, Path("products.cu"))
    assert made.roles == ("A", "B", "C", "1", "M", "N", "K") and len(made.grid) == 2
    _right(made, Problem(12, 20, 24))


def test_a_pointer_that_only_a_switch_of_the_template_uses_is_none() -> None:
    made = guess(MEASURES_ITSELF, Path("gemm.cu"))
    assert made.roles == ("A", "B", "C", "M", "N", "K", "0") and made.params["CLOCKS"][0] == 0
    _right(made, Problem(16, 24, 32))


def test_a_pointer_that_is_also_used_elsewhere_is_asked_for() -> None:
    made = guess(
        MEASURES_ITSELF.replace("C[row * N + col] = sum;", "C[row * N + col] = sum + clocks[0];"), Path("gemm.cu")
    )
    assert not made.roles[-1]


def test_an_array_of_pointers_is_no_size_of_a_tile() -> None:
    taken = "float *A0 = &tiles.a[0][0], *A1 = &tiles.b[0][0]; float *TA[] = {A0, A1};"
    made = guess(MEASURES_ITSELF.replace("float sum = 0;", f"float sum = 0; {taken}"), Path("gemm.cu"))
    assert made.params.keys() == {"TILE", "CLOCKS"}


def test_a_header_is_launched_by_another_header(tmp_path: Path) -> None:
    kernel = "__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) { %s }"
    body = "int i = blockIdx.x; float s = 0; for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + threadIdx.x];"
    (tmp_path / "gemm.cuh").write_text(kernel % f"{body} C[i * N + threadIdx.x] = s;")
    launches = (
        "inline void run(float *a, float *b, float *c, int m, int n, int k) { gemm<<<m, n>>>(a, b, c, m, n, k); }"
    )
    guard = '#ifndef RUN_H\n#define RUN_H\n#include "gemm.cuh"\n'
    (tmp_path / "run.cuh").write_text(f"{guard}{launches}\n#endif // RUN_H")
    path = tmp_path / "gemm.cuh"
    made = guess(path.read_text(), path, around=surroundings(path, path.read_text()))
    assert (made.grid, made.block) == (("M",), ("N",))
    _right(made, Problem(8, 12, 16))
