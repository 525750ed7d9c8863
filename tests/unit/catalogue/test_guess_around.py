"""Guesses of kernels as repositories hold them: launches elsewhere, helpers, wrappers, values that the host gives."""

import os
from pathlib import Path

import numpy as np
import pytest

from gemmviz.backends.signature import scalar_types
from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel, valid
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, poison_byte
from gemmviz.sandbox import scratch
from gemmviz.trace.recording.record import record

TILED = """template <const int BS, bool CHECKED>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BS][BS], Bs[BS][BS];
    int row = blockIdx.y * BS + threadIdx.y, col = blockIdx.x * BS + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += BS) {
        As[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < BS; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""
OTHER = """void other(float *p) {
    const int TILE = 32;
    dim3 block(TILE, 4), grid(TILE);
    other<<<grid, block>>>(p);
}
"""
RUN = """void run(float *A, float *B, float *C, int M, int N, int K) {
    const int TILE = 8;
    dim3 block(TILE, TILE);
    dim3 grid(N / TILE, M / TILE);
    gemm<TILE, false><<<grid, block>>>(A, B, C, M, N, K);
}
"""


def is_right(made: Guess, problem: Problem) -> None:
    recording = record(launch(guessed_kernel(made), problem))
    assert (recording.wrong, recording.notes) == (0, ())


def test_another_file_launches_a_copy_of_the_name(tmp_path: Path) -> None:
    launch_ = "auto kernel =\n        gemm<TILE, false>;\n    kernel<<<M / TILE * (N / TILE), TILE * TILE>>>"
    text = RUN.replace("gemm<TILE, false><<<grid, block>>>", launch_)
    text = "\n".join(line for line in text.splitlines() if "dim3" not in line)
    (tmp_path / "run.cu").write_text('#include "gemm.cuh"\n' + text)
    path = tmp_path / "gemm.cuh"
    path.write_text(TILED)
    made = guess(TILED, path, around=surroundings(path, TILED))
    assert (made.params["BS"], made.block) == ((8,), ("BS * BS",))


def test_the_launch_in_another_file_gives_block_grid_and_values(tmp_path: Path) -> None:
    (tmp_path / "run.cu").write_text('#include "gemm.cuh"\n' + OTHER + RUN + OTHER)
    path = tmp_path / "gemm.cuh"
    path.write_text(TILED)
    made = guess(TILED, path, None, surroundings(path, TILED))
    assert made.params == {"BS": (8,), "CHECKED": (0,)}
    assert (made.block, made.grid) == (("BS", "BS"), ("floor(N / BS)", "floor(M / BS)"))
    is_right(made, Problem(16, 24, 8))


def test_without_a_launch_a_bool_is_no_size_of_a_tile() -> None:
    made = guess(TILED, Path("gemm.cu"))
    assert made.params["CHECKED"][0] in (0, 1)
    assert guess(TILED.replace("bool CHECKED", "int WARPSIZE"), Path("gemm.cu")).params["WARPSIZE"] == (32,)


def test_constants_of_a_header_count(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#pragma once\n#define EDGE (1 << 3)\nusing number = float;\n")
    text = '#include "sizes.h"\n' + TILED.replace("template <const int BS, bool CHECKED>\n", "").replace("BS", "EDGE")
    text = text.replace("const float *", "const number *")
    path = tmp_path / "gemm.cu"
    made = guess(text, path, None, surroundings(path, text))
    assert (made.params, made.block, made.dtype) == ({}, ("8", "8"), "float32")


PLAIN = """__global__ void gemm(size_t m, size_t n, size_t k, float const *A, float const *B, float *C)
{
    size_t const row{blockIdx.y * blockDim.y + threadIdx.y};
    size_t const col{blockIdx.x * blockDim.x + threadIdx.x};
    float sum{0};
    if (row < m && col < n) {
        for (size_t i{0U}; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}
"""


def test_a_default_argument_of_the_host_is_no_value_of_a_parameter_of_the_kernel(tmp_path: Path) -> None:
    host = "void run(const char *name, int M = 4096, int N = 4096, int K = 4096);\n"
    (tmp_path / "run.h").write_text(host)
    (tmp_path / "main.cu").write_text('#include "run.h"\n#include "gemm.cuh"\n')
    file = tmp_path / "gemm.cuh"
    file.write_text(TILED)
    alone = guess(TILED, file)
    beside = guess(TILED, file, around=surroundings(file, TILED))
    assert (beside.roles, beside.grid, beside.block) == (alone.roles, alone.grid, alone.block)


def test_values_in_braces_are_values() -> None:
    made = guess(PLAIN, Path("gemm.cu"))
    assert made.roles == ("M", "N", "K", "A", "B", "C")
    assert made.grid == ("ceil(N / BX)", "ceil(M / BY)")
    is_right(made, Problem(20, 18, 7))


def test_a_wrapper_round_a_device_function_has_its_indices() -> None:
    inner = PLAIN.replace("__global__ void gemm", "__device__ void inner").replace("blockDim.x", "BS")
    inner = "template <int BS> " + inner.replace("blockDim.y", "BS")
    outer = "__global__ void gemm(size_t m, size_t n, size_t k, float const *A, float const *B, float *C)\n{\n"
    made = guess(inner + outer + "    inner<8>(m, n, k, A, B, C);\n}\n", Path("gemm.cu"))
    assert (made.block, made.grid) == (("8", "8"), ("ceil(N / 8)", "ceil(M / 8)"))
    is_right(made, Problem(20, 18, 7))


def test_extents_of_the_block_that_the_host_gives_are_in_the_conditions() -> None:
    text = PLAIN.replace("    if (row < m && col < n) {\n", "    {\n")
    text += "void run(float *A, float *B, float *C, size_t m, size_t n, size_t k) {\n"
    text += "    dim3 block(4, 8); gemm<<<dim3(n / 4, m / 8), block>>>(m, n, k, A, B, C);\n}\n"
    made = guess(text, Path("gemm.cu"))
    assert made.requires == ("M % 8 == 0", "N % 4 == 0")
    assert valid(made) == ""


def test_a_kernel_that_a_pointer_calls_has_the_launch_beside_it() -> None:
    text = PLAIN + "int main() {\n    const int T = 8;\n    auto kernel = gemm;\n    dim3 blockDim(T, T);\n"
    text += "    dim3 gridDim((n + T - 1) / T, (m + T - 1) / T);\n    test(kernel, gridDim, blockDim);\n}\n"
    made = guess(text, Path("gemm.cu"))
    assert (made.block, made.grid) == (("8", "8"), ("ceil(N / 8)", "ceil(M / 8)"))


SEPARATE = """__global__ void gemm(const half *a, const half *b, const float *c, float *d, int M, int N, int K,
                     float alpha, float beta)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += (float) a[row * K + k] * (float) b[k * N + col];
        d[row * N + col] = alpha * sum + beta * c[row * N + col];
    }
}
"""


def test_a_result_beside_the_c_that_is_read() -> None:
    made = guess("#include <cuda_fp16.h>\n" + SEPARATE, Path("gemm.cu"))
    assert made.roles == ("A", "B", "C", "D", "M", "N", "K", "alpha", "beta")
    assert (made.dtype, made.accumulate) == ("float16", "float32")
    is_right(made, Problem(20, 18, 7))


@pytest.mark.parametrize("kind", ["half", "float", "int"])
def test_the_c_of_before_is_finite_where_it_is_scaled(kind: str) -> None:
    text = PLAIN.replace("float", kind).replace("B, ", "B, float beta, ", 1).replace("= sum;", "= sum + (KIND)0;")
    text = "#include <cuda_fp16.h>\n" + text.replace("(KIND)0", f"({kind})(beta * (float)C[row * n + col])")
    made = guess(text, Path("gemm.cu"))
    kernel = guessed_kernel(made)
    assert "beta" in kernel.args and poison_byte(kernel) == 0x7B
    is_right(made, Problem(20, 18, 7))


def test_only_values_that_were_right_are_offered() -> None:
    made = guess(PLAIN, Path("gemm.cu"))
    assert min(len(values) for values in made.params.values()) > 1

    def try_one(kernel: Kernel, problem: Problem) -> str:
        return "wrong" if kernel.defaults["BX"] == 8 or kernel.defaults["BY"] == 32 else ""

    settled = settle(made, try_one)
    assert settled.right
    assert settled.params == {"BX": (16, 32), "BY": (16, 8)}


def test_a_kernel_that_is_right_for_square_matrices_only_asks_for_them() -> None:
    made = guess(PLAIN, Path("gemm.cu"))
    settled = settle(made, lambda kernel, size: "" if size.m == size.n == size.k else "wrong")
    assert settled.right
    assert {"M == N", "K == N"} <= set(settled.requires)


BIASED = PLAIN.replace("float *C)", "float *C, const float *more, int flag)").replace(
    "float sum{0};", "float sum{more != nullptr ? more[col] : flag};"
)


def test_a_pointer_that_may_be_null_is_given_as_one() -> None:
    made = guess(BIASED.replace(", int flag", "").replace(": flag", ": 0"), Path("gemm.cu"))
    assert made.roles[-1] == "0"
    is_right(made, Problem(20, 18, 7))


def test_whole_numbers_may_stand_for_arguments() -> None:
    text = '// ---gemmviz\n// entry = "gemm"\n// args = ["M", "N", "K", "A", "B", "C", "0", "0"]\n'
    text += '// block = ["8", "8"]\n// grid = ["ceil(N / 8)", "ceil(M / 8)"]\n// ---\n' + BIASED
    for number, wrong in (("0", 0), ("1", 20 * 18)):
        kernel = parse(text.replace('"0"]', f'"{number}"]'), Path("gemm.cu"))
        assert record(launch(kernel, Problem(20, 18, 7))).wrong == wrong
    types = scalar_types([8, 8, 8, 8, 1000, 1000, 1000, 1000, 4], kernel.args, "gemm")
    assert {types["0 as parameter 7"], types["1 as parameter 8"]} == {np.uint64, np.int32}


def test_a_size_of_shared_memory_that_is_too_long_an_expression_is_a_number() -> None:
    names = [f"A_LONG_NAME_OF_A_TILE_{number}" for number in range(6)]
    text = TILED.replace("template <const int BS, bool CHECKED>\n", "").replace("BS", "8")
    text = text.replace("__global__", "template <" + ", ".join(f"int {name}" for name in names) + ">\n__global__")
    text = text.replace("    __shared__", "    extern __shared__ float more[];\n    __shared__")
    values = "".join(f"    const int {name} = 2;\n" for name in names)
    text += "void run(float *A, float *B, float *C, int M, int N, int K) {\n" + values
    text += f"    const int bytes = ({' * '.join(names)} + {' * '.join(names[:4])}) * sizeof(float);\n"
    text += f"    gemm<{', '.join(names)}><<<dim3(N / 8, M / 8), dim3(8, 8), bytes>>>(A, B, C, M, N, K);\n}}\n"
    made = guess(text, Path("gemm.cu"))
    assert (made.shared, made.block) == ("320", ("8", "8"))
    assert valid(made) == ""


RING = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float ring[];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        float *As = ring + (k0 / 16 % 24) * 512, *Bs = As + 256;
        As[threadIdx.y * 16 + threadIdx.x] = A[row * K + k0 + threadIdx.x];
        Bs[threadIdx.y * 16 + threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += As[threadIdx.y * 16 + k] * Bs[k * 16 + threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
size_t prepare() { cudaDeviceProp all; cudaGetDeviceProperties(&all, 0); return all.sharedMemPerBlock; }
void run(float *A, float *B, float *C, int M, int N, int K)
{
    static size_t most = prepare();
    gemm<<<dim3(N / 16, M / 16), dim3(16, 16), most>>>(A, B, C, M, N, K);
}
"""


def test_a_launch_whose_shared_memory_is_computed_at_run_time_keeps_its_block_and_grid() -> None:
    made = guess(RING, Path("gemm.cu"))
    assert (made.block, made.grid) == (("16", "16"), ("floor(N / 16)", "floor(M / 16)"))

    def needs_96_kib(kernel: Kernel, size: Problem) -> str:
        return "" if launch(kernel, size).shared_bytes >= 98304 else "out of bounds"

    settled = settle(made, needs_96_kib)
    assert (settled.right, settled.shared, settled.block) == (True, "101376", ("16", "16"))


def test_sizes_are_whole_blocks_where_the_kernel_guards_nothing() -> None:
    text = RING.replace("dim3(N / 16, M / 16)", "dim3(4, (M + 63) / 64, (N + 511) / 512)")

    def needs_whole_blocks(kernel: Kernel, size: Problem) -> str:
        return "" if size.m % 64 == 0 and size.n % 128 == 0 else "out of bounds"

    settled = settle(guess(text, Path("gemm.cu")), needs_whole_blocks)
    assert settled.right
    assert {"M % 64 == 0", "N % 128 == 0"} <= set(settled.requires)


def test_launches_of_a_kernel_are_found_anywhere_in_its_project_but_not_those_of_another_of_its_name(tmp_path):
    project = tmp_path / "some" / "project"
    for folder in ("kernels", "bench/speed", "old"):
        (project / folder).mkdir(parents=True)
    (project / "README.md").write_text("A project.")
    kernel = "__global__ void product(float *A, float *B, float *C, int n) { C[0] = A[0] * B[0]; }\n"
    mine = project / "kernels" / "product.cu"
    mine.write_text(kernel)
    launch = "void run(float *a, float *b, float *c, int n) { product<<<n / 8, BLOCK>>>(a, b, c, n); }\n"
    (project / "bench" / "speed" / "main.cu").write_text(launch.replace("BLOCK", "32"))
    (project / "old" / "product.cu").write_text(kernel + launch.replace("BLOCK", "64"))
    (tmp_path / "some" / "elsewhere").mkdir()
    (tmp_path / "some" / "elsewhere" / "main.cu").write_text(launch.replace("BLOCK", "96"))
    others = surroundings(mine, kernel).others
    assert [text.split("n / 8, ")[1][:2] for text in others] == ["32"]


def test_files_around_a_kernel_are_listed_and_read_once(tmp_path, monkeypatch) -> None:
    (tmp_path / ".git").mkdir()
    kernel = "__global__ void gemm(const float *A, const float *B, float *C, int M) { C[TILE] = A[0] * B[0]; }"
    (tmp_path / "gemm.cu").write_text(kernel)
    (tmp_path / "other.cu").write_text("void run(dim3 grid) { start(gemm); }")
    (tmp_path / "build.sh").write_text("nvcc -DTILE=4 gemm.cu")
    listed: list[Path] = []
    read: list[Path] = []
    of_folder, of_file = os.listdir, scratch.text_of
    monkeypatch.setattr(os, "listdir", lambda folder: listed.append(folder) or of_folder(folder))
    monkeypatch.setattr(scratch, "text_of", lambda file: read.append(file) or of_file(file))
    found = surroundings(tmp_path / "gemm.cu", kernel)
    assert found.scripts == ("nvcc -DTILE=4 gemm.cu",)
    assert listed.count(tmp_path) == 2  # once for its folders, once for its files
    assert read.count(tmp_path / "other.cu") == 1


def test_a_host_file_has_the_sizes_of_its_launch_in_a_header_of_its_own(tmp_path: Path) -> None:
    kernel = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
    host = """#include "host/sizes.cuh"
void run(const float *a, const float *b, float *c)
{
    gemm<<<dim3(N / tile_n, M / tile_m), dim3(tile_n, tile_m)>>>(a, b, c, M, N, K);
}
"""
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "sizes.cuh").write_text("const int tile_m = 4;\nconst int tile_n = 24;\n")
    (tmp_path / "main.cu").write_text(host)
    path = tmp_path / "gemm.cu"
    path.write_text(kernel)
    made = guess(kernel, path, around=surroundings(path, kernel))
    assert made.block == ("24", "4") and made.grid == ("floor(N / 24)", "floor(M / 4)")
