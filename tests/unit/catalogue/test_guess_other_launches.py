"""Launches that the host code gives only in part: of another kernel, in a comment, for one size or large sizes only."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.candidates import candidates
from gemmviz.catalogue.guessing.grid_sides import least_sizes
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.other_sizes import with_shown_sizes
from gemmviz.catalogue.guessing.trial_sizes import first_size
from gemmviz.catalogue.includes import begins
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

BODY = """
    float s = 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
        C[row * N + col] = s;
    }
"""
PLANE = "int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;"
LINE = "int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;"
SIGNATURE = "const float *A, const float *B, float *C, int M, int N, int K"


def kernel(name: str, indices: str) -> str:
    return f"__global__ void {name}({SIGNATURE}) {{ {indices} {BODY} }}\n"


def test_the_row_of_another_kernels_block_is_not_taken_by_a_kernel_with_two_indices() -> None:
    host = "void run(float *A, float *B, float *C, int M, int N, int K) {\n"
    host += "    fast<<<dim3((N + 255) / 256, M), 256>>>(A, B, C, M, N, K);\n}\n"
    plane, line = (
        guess(kernel("slow", at) + kernel("fast", LINE) + host, Path("x.cu"), "slow") for at in (PLANE, LINE)
    )
    assert line.block == ("256",)
    assert len(plane.block) == 2 and plane.block[1] != "1"


def test_the_distance_between_rows_is_no_number_where_the_sizes_are_numbers_too() -> None:
    text = """
__global__ void gemm(int m, int n, int k, const float *A, int lda, const float *B, int ldb, float *C, int ldc) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (row < m && col < n) {
        for (int i = 0; i < k; ++i) s += A[row * lda + i] * B[i * ldb + col];
        C[row * ldc + col] = s;
    }
}
void run(int m, int n, int k, float *A, int lda, float *B, int ldb, float *C, int ldc) {
    gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, lda, B, ldb, C, ldc);
}
int main() { float *A, *B, *C; run(512, 512, 512, A, 512, B, 512, C, 512); }
"""
    made = guess(text, Path("x.cu"))
    assert {"lda", "ldb", "ldc"} <= {*made.roles} and "512" not in made.roles


def test_a_launch_in_a_comment_of_several_lines_gives_the_tile() -> None:
    text = f"""
template <int TILE> __global__ void gemm({SIGNATURE}) {{
    __shared__ float a[TILE * TILE], b[TILE * TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float s = 0;
    for (int at = 0; at < K; at += TILE) {{
        a[threadIdx.y * TILE + threadIdx.x] = A[row * K + at + threadIdx.x];
        b[threadIdx.y * TILE + threadIdx.x] = B[(at + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) s += a[threadIdx.y * TILE + k] * b[k * TILE + threadIdx.x];
        __syncthreads();
    }}
    C[row * N + col] = s;
}}
void run(float *A, float *B, float *C, int M, int N, int K) {{
/*{{
    const int SIDE = 8;
    dim3 block(SIDE, SIDE), grid(N / SIDE, M / SIDE);
    gemm<SIDE>
        <<<grid, block>>>(A, B, C, M, N, K);
}}*/
    other(A, B, C, M, N, K);
}}
"""
    made = guess(text, Path("x.cu"))
    assert made.params["TILE"][0] == 8
    assert "comment" in made.why["block"].why


def test_a_kernel_without_a_block_index_computes_one_tile() -> None:
    text = f"""
__global__ void gemm({SIGNATURE}) {{
    int t = threadIdx.x, row = t / 16;
    for (int col = t % 16 / 8; col < 16; col += 2) {{
        float s = 0;
        for (int k = 0; k < 16; k++) s += A[row * 16 + k] * B[k * 16 + col];
        C[row * 16 + col] = s;
    }}
}}
void run(float *A, float *B, float *C, int M, int N, int K) {{
    gemm<<<dim3((N + 15) / 16, (M + 15) / 16), 256>>>(A, B, C, M, N, K);
}}
"""
    made = guess(text, Path("x.cu"))
    asked = [{*one.requires} for one in candidates(made)]
    assert any({"M == 16", "N == 16", "K == 16"} <= one for one in asked)
    with_blocks = guess(text.replace("row = t / 16", "row = t / 16 + 16 * blockIdx.y"), Path("x.cu"))
    assert not any("K == 16" in one for one in ({*one.requires} for one in candidates(with_blocks)))


def test_an_index_that_is_divided_by_the_columns_counts_the_elements_of_c() -> None:
    text = f"""
__global__ void gemm({SIGNATURE}) {{
    int at = blockIdx.x * blockDim.x + threadIdx.x, row = at / N, col = at % N;
    float s = 0;
    for (int k = 0; k < K; k++) s += A[row * K + k] * B[k * N + col];
    C[at] = s;
}}
"""
    grids = [one.grid for one in candidates(guess(text, Path("x.cu")))][:3]
    assert any(len(grid) == 1 and grid[0].startswith("ceil(M * N / ") for grid in grids)


def blocks(made: Guess) -> Iterator[tuple[str, ...]]:
    return (one.block for one in candidates(made))


def test_known_threads_with_two_indices_stand_in_a_plane() -> None:
    text = f"""
template <int BM = 64, int BN = 64, int BK = 16>
__global__ void gemm({SIGNATURE}) {{
    __shared__ float a[BK][BM], b[BK][BN];
    int x = threadIdx.x, y = threadIdx.y, t = y * blockDim.x + x;
    int am = t / 4, ak = t % 4 * 4, bk = t / 16, bn = t % 16 * 4;
    float s[4][4] = {{}};
    for (int at = 0; at < K; at += BK) {{
        for (int i = 0; i < 4; i++) {{
            a[ak + i][am] = A[(blockIdx.y * BM + am) * K + at + ak + i];
            b[bk][bn + i] = B[(at + bk) * N + blockIdx.x * BN + bn + i];
        }}
        __syncthreads();
        for (int k = 0; k < BK; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    s[i][j] += a[k][y * 2 + i % 2 + i / 2 * 32] * b[k][x * 2 + j % 2 + j / 2 * 32];
        __syncthreads();
    }}
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(blockIdx.y * BM + y * 2 + i % 2 + i / 2 * 32) * N + blockIdx.x * BN + x * 2 + j % 2 + j / 2 * 32] =
                s[i][j];
}}
"""
    made = guess(text, Path("x.cu"))
    assert ("16", "16") in {*blocks(made)}


@pytest.mark.parametrize(
    ("sides", "asked"),
    [
        (["ceil(N / (256 * floor(floor(N / 4) / 256)))", "ceil(M / BM)"], ["N >= 1024"]),
        (["ceil(N / 64)", "ceil(M / BM)"], []),
        (["M / floor(M / 128)"], ["M >= 128"]),
        (["ceil(N / UNKNOWN)"], []),
    ],
)
def test_sizes_below_which_the_grid_divides_by_zero_are_left_out(sides: list[str], asked: list[str]) -> None:
    assert [*least_sizes(sides, {"BM": [64]})] == asked


def test_a_grid_that_needs_a_large_size_is_tried_at_one() -> None:
    host = "void run(float *A, float *B, float *C, int M, int N, int K) {\n    int part = N / 4 / 64 * 64;\n"
    host += "    dim3 grid((N + 15) / 16 / ((N + part - 1) / part), (M + 15) / 16, (N + part - 1) / part);\n"
    host += "    gemm<<<grid, dim3(16, 16)>>>(A, B, C, M, N, K);\n}\n"
    at = "int row = blockIdx.y * 16 + threadIdx.y, col = (blockIdx.z * gridDim.x + blockIdx.x) * 16 + threadIdx.x;"
    made = guess(kernel("gemm", at) + host, Path("x.cu"))
    assert "N >= 256" in made.requires
    size = first_size(guessed_kernel(made))
    assert size is not None and size.n >= 256


def test_many_products_of_square_matrices_are_one_product() -> None:
    text = """
__global__ void batched_gemm(const float *A, const float *B, float *C, int N, int batch_size) {
    int at = blockIdx.y * blockDim.y + threadIdx.y, row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < N && at < N * batch_size) {
        float s = 0;
        int col = at % N, batch = at / N;
        for (int k = 0; k < N; ++k)
            s += A[row * N * batch_size + k + batch * N] * B[k * N * batch_size + col + batch * N];
        C[row * N * batch_size + col + batch * N] = s;
    }
}
"""
    made = guess(text, Path("x.cu"))
    assert made.roles[3:] == ("N", "1")
    assert "K == N" in made.requires


PART = "using half_t = half;\n"
PART += "__global__ void gemm(const half_t *A, const half_t *B, half_t *C, int N) { C[N] = A[0] * B[0]; }\n"


@pytest.mark.parametrize(
    ("source", "is_part"),
    [
        (PART, True),
        ('#include "more.cuh"\n' + PART, True),
        ("#include <cuda_fp16.h>\n" + PART, False),
        (PART.replace("half_t = half", "half_t = float"), False),
        (PART.replace("using half_t = half;", "typedef float half_t; // as half"), False),
    ],
)
def test_a_source_that_names_a_librarys_type_without_its_header_is_part_of_another(source: str, is_part: bool) -> None:
    texts = {
        Path("p/main.cu"): '#include <cuda_fp16.h>\n#include "src/one.cu"\nint main() {}\n',
        Path("p/src/one.cu"): source,
    }
    found = begins(Path("p/src/one.cu"), source, [*texts], texts.__getitem__)
    assert found == ([(Path("p/main.cu"), "#include <cuda_fp16.h>\n")] if is_part else [])


IN_TILES = """
__global__ void gemm(const float *A, const float *B, float *C, int N, int K)
{
    __shared__ float tile[TILE_K];
    float sums[TILE_M] = {};
    int row = blockIdx.y * TILE_M, col = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < K; step += TILE_K) {
        for (int y = 0; y < TILE_M; y++) {
            __syncthreads();
            if (threadIdx.x < TILE_K)
                tile[threadIdx.x] = A[(row + y) * K + step + threadIdx.x];
            __syncthreads();
            for (int k = 0; k < TILE_K; k++)
                sums[y] += tile[k] * B[(step + k) * N + col];
        }
    }
    for (int y = 0; y < TILE_M; y++)
        C[(row + y) * N + col] = sums[y];
}
"""
STARTS = """#include "tiles.h"
#include "one.cu"
void run(float *a, float *b, float *c)
{
    int rows = 4096, columns = 256, depth = rows;
    gemm<<<dim3(columns / 32, rows / TILE_M), 32>>>(a, b, c, columns, depth);
}
"""


@pytest.mark.parametrize(
    ("source", "is_part"),
    [
        (IN_TILES, True),
        ("#include <stdio.h>\n" + IN_TILES, True),
        ('#include "tiles.h"\n' + IN_TILES, False),
        ("#define TILE_M 4\nconst int TILE_K = 16;\n" + IN_TILES, False),
        (IN_TILES + "void run() { gemm<<<1, 32>>>(A_ON_GPU, B_ON_GPU, C_ON_GPU, 32, 32); }\n", False),
    ],
)
def test_a_source_with_names_that_it_nowhere_declares_is_part_of_another(source: str, is_part: bool) -> None:
    texts = {Path("p/main.cu"): STARTS, Path("p/one.cu"): source}
    found = begins(Path("p/one.cu"), source, [*texts], texts.__getitem__)
    assert found == ([(Path("p/main.cu"), '#include "tiles.h"\n')] if is_part else [])


def test_values_from_a_header_of_the_file_that_includes_a_source_and_rows_as_long_as_its_sums(tmp_path: Path) -> None:
    for name, text in {
        "one.cu": IN_TILES,
        "main.cu": STARTS,
        "tiles.h": "#define TILE_M 4\n#define TILE_K 16\n",
    }.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "one.cu"
    made = guess(IN_TILES, path, None, surroundings(path, IN_TILES))
    assert not made.params and (made.block, made.grid) == (("32",), ("floor(N / 32)", "floor(K / 4)"))
    assert "M == K" in made.requires and "M == N" not in made.requires
    assert record(launch(guessed_kernel(made), Problem(32, 64, 32)), deadline_s=5).wrong == 0


def test_such_a_source_is_described_with_what_stands_before_its_include(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    one = tmp_path / "src" / "one.cu"
    one.write_text(kernel("gemm", PLANE).replace("float *", "half *").replace("s += ", "s += (float)"))
    (tmp_path / "main.cu").write_text('#include <cuda_fp16.h>\n#include "src/one.cu"\nint main() {}\n')
    assert any("cuda_fp16" in head for head in surroundings(one, one.read_text()).headers)
    command = [sys.executable, "-m", "gemmviz", "describe", str(one)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert "C is right" in said.stdout, said.stdout + said.stderr


def test_blocks_along_n_and_k_show_that_a_has_n_rows() -> None:
    text = """
__global__ void gemm(const float *a, const float *b, float *c, int N, int M, int K) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    const float *from = a + row * M;
    float s = 0;
    for (int i = 0; i < M; ++i) s += *from++ * b[i * K + col];
    (c + row * K)[col] = s;
}
void run(float *a, float *b, float *c, int n, int m, int k) {
    gemm<<<dim3(k / 16, n / 16), dim3(16, 16)>>>(a, b, c, n, m, k);
}
"""
    first = next(candidates(guess(text, Path("x.cu"))))
    assert (first.roles[3:], first.grid) == (("M", "K", "N"), ("floor(N / 16)", "floor(M / 16)"))


def test_a_launch_that_was_right_at_one_size_only_asks_for_what_was_equal_there() -> None:
    made = guess(kernel("gemm", PLANE), Path("x.cu"))
    assert "M == N" in with_shown_sizes(made, Problem(128, 128, 512)).requires
    assert "M == N" not in with_shown_sizes(made, Problem(128, 256, 512)).requires
    tile = replace(made, requires=("M == 16", "N == 16"))
    assert with_shown_sizes(tile, Problem(16, 16, 16)) == tile


def test_a_loop_over_many_products_does_not_make_their_number_a_size() -> None:
    text = """
__global__ void gemm(const float *A, const float *B, float *C, int N, int batch_size) {
    int col = blockIdx.y * 16 + threadIdx.y, row = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int b = 0; b < batch_size; ++b)
        for (int k = 0; k < N; ++k) s += A[row * N * batch_size + b * N + k] * B[b * N + k * N + col];
    if (row < N && col < N * batch_size) C[row * N * batch_size + col] = s;
}
"""
    assert guess(text, Path("x.cu")).roles[3:] == ("N", "1")
    rows = text.replace("row < N", "row < batch_size").replace("row * N * batch_size", "row * N")
    assert "1" not in guess(rows, Path("x.cu")).roles
