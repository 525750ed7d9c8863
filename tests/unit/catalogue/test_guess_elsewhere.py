"""Launches that stand in scripts, notebooks and comments, and kernels that nothing launches."""

import json
from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.guessing.candidates import candidates, is_launched_so
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.sandbox import scratch

KERNEL = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
HOST = """void run(float *A, float *B, float *C, int M, int N, int K) {
    dim3 block(4, 12);
    dim3 grid((N + 3) / 4, (M + 11) / 12);
    gemm<<<grid, block>>>(A, B, C, M, N, K);
}
"""
# A thread's further rows are far away: what lies between two of them is no number of threads.
FAR = """constexpr int NUM_THREADS = 64;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * 8192 + threadIdx.x, col = blockIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def read(folder: Path, text: str = KERNEL) -> Guess:
    path = folder / "gemm.cu"
    path.write_text(text)
    return guess(text, path, None, surroundings(path, text))


def test_a_launch_in_a_text_of_a_script_gives_block_and_grid(tmp_path: Path) -> None:
    (tmp_path / "build.py").write_text(f'SOURCE = """{HOST}"""\nprint("gemm<<<1, 2>>>(A, B, C, M, N, K)")\n')
    made = read(tmp_path)
    assert (made.block, made.grid) == (("4", "12"), ("ceil(N / 4)", "ceil(M / 12)"))


def test_a_launch_in_a_cell_of_a_notebook_gives_block_and_grid(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": HOST.splitlines(keepends=True)}]
    (tmp_path / "course.ipynb").write_text(json.dumps({"cells": cells}))
    assert read(tmp_path).block == ("4", "12")
    (tmp_path / "course.ipynb").write_text("gemm<<<no notebook")
    assert read(tmp_path).block == ("BX", "BY")


def test_a_launch_in_a_comment_is_likely_and_not_sure(tmp_path: Path) -> None:
    disused = HOST.replace("    gemm<<<", "    // gemm<<<").replace("    dim3 grid", "    //dim3 grid")
    made = read(tmp_path, KERNEL + disused)
    assert (made.block, made.grid) == (("4", "12"), ("ceil(N / 4)", "ceil(M / 12)"))
    assert not is_stated(made, "block") and not is_launched_so(made)


def test_a_launch_in_a_comment_has_the_values_that_stand_there(tmp_path: Path) -> None:
    lines = [
        "{",
        "const unsigned threads = 24;",
        "dim3 grid((N + 23) / 24, M);",
        "gemm<<<grid, threads>>>(A, B, C, M, N, K);",
    ]
    host = "void run(float *A, float *B, float *C, int M, int N, int K) {\n"
    made = read(tmp_path, KERNEL + host + "".join(f"    // // {line}\n" for line in [*lines, "}"]) + "}\n")
    assert (made.block, made.grid) == (("24",), ("ceil(N / 24)", "M"))


def test_a_launch_in_code_counts_more_than_one_in_a_comment(tmp_path: Path) -> None:
    disused = HOST.replace("(4, 12)", "(2, 2)").replace("    gemm<<<", "    // gemm<<<").replace("run", "old")
    assert read(tmp_path, KERNEL + disused + HOST).block == ("4", "12")


def test_a_block_that_cannot_be_launched_gives_way_to_a_constant_or_to_a_usual_one(tmp_path: Path) -> None:
    made = read(tmp_path, FAR)
    assert made.block == ("64",) and not is_stated(made, "block")
    assert read(tmp_path, FAR.replace("constexpr int NUM_THREADS = 64;", "")).block == ("256",)
    launched = read(tmp_path, FAR + HOST)
    assert [one.block for one in candidates(launched)][1:4] == [launched.block] * 3
    tried = [one.block for one in candidates(made)][:8]
    assert {("64",), ("128",), ("256",), ("32",)} <= {*tried}


@pytest.mark.parametrize("name", ["gemm.inl", "gemm.hh", "gemm.hxx"])
def test_parts_of_files_hold_kernels_too(name: str) -> None:
    assert is_cuda(Path(name)) and guess(KERNEL, Path(name)).entry == "gemm"


def test_the_command_of_a_notebook_s_cell_is_left_out() -> None:
    code = device_code("%%writefile gemm.cu\n" + KERNEL, "gemm")
    assert "writefile" not in code and code.count("\n") == KERNEL.count("\n") + 1


def test_a_template_of_the_host_that_shares_only_a_parameter_s_name_is_left_out() -> None:
    traits = "template <int N, typename T> struct Traits { using Layout = ::library::RowMajor; T value[N]; };\n"
    assert "library" not in device_code(traits + KERNEL, "gemm")
    assert "library" in device_code(traits + KERNEL.replace("float sum", "Traits<1, float> *t; float sum"), "gemm")


STEPPED = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, int T)
{
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += T)
        for (int k = k0; k < k0 + T; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def test_the_first_turn_of_the_host_s_loop_gives_the_values_of_a_launch(tmp_path: Path) -> None:
    host = """void tune(float *A, float *B, float *C, int m, int n, int k) {
        for (int side = 4; side <= 32; side *= 2) {
            int columns = n / side;
            gemm<<<dim3(columns, m / side), dim3(side, side)>>>(A, B, C, m, n, k, side);
        }
    }
    """
    made = read(tmp_path, STEPPED + host)
    assert made.roles[-1] == "4" and made.block == ("4", "4") and made.grid == ("floor(N / 4)", "floor(M / 4)")


def test_a_loop_over_sizes_leaves_the_sizes_open(tmp_path: Path) -> None:
    host = """int main() {
        for (int size = 256; size <= 4096; size *= 2)
            gemm<<<dim3(size / 8, size / 8), dim3(8, 8)>>>(A, B, C, size, size, size);
    }
    """
    assert read(tmp_path, KERNEL + host).grid == ("floor(N / 8)", "floor(M / 8)")


def test_a_step_that_nothing_launches_is_a_usual_one(tmp_path: Path) -> None:
    assert read(tmp_path, STEPPED).roles[-1] == "16"


def test_a_small_function_of_a_namespace_is_filled_in_with_its_namespace(tmp_path: Path) -> None:
    helper = "namespace outer { namespace util { constexpr int up(int a, int b) { return (a + b - 1) / b; } } }\n"
    host = HOST.replace("(N + 3) / 4", "outer::util::up(N, 4)").replace("(M + 11) / 12", "::outer::util::up(M, 12)")
    made = read(tmp_path, helper + KERNEL + host)
    assert made.grid == ("ceil(N / 4)", "ceil(M / 12)") and is_launched_so(made)


def test_of_kernels_with_one_name_each_has_the_launch_of_its_namespace(tmp_path: Path) -> None:
    version = """namespace VERSION {
template <int SIDE>
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
template <TEMPLATE>
void launch(const float *a, const float *b, float *c, int m, int n, int k) {
    gemm<SIDE><<<dim3(n / SIDE, m / SIDE), dim3(SIDE, SIDE)>>>(a, b, c, m, n, k);
}
}
"""
    first = version.replace("VERSION", "first").replace("TEMPLATE", "int SIDE, int MORE")
    second = version.replace("VERSION", "second").replace("TEMPLATE", "int SIDE")
    table = "Launcher table[] = {first::launch<4, 2>, second::launch<12>};\n"
    path = tmp_path / "gemm.cu"
    path.write_text(first + second + table)
    text = path.read_text()
    for name, side in (("first::gemm", 4), ("second::gemm", 12)):
        made = guess(text, path, name, surroundings(path, text))
        assert made.entry.startswith(name) and made.params == {"SIDE": (side,)}


def test_a_function_of_the_device_that_a_header_declares_comes_from_the_source_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "places.cuh").write_text("#pragma once\n__device__ __host__ int place(int row, int col, int width);\n")
    body = "__device__ __host__ int place(int row, int col, int width) { return row * width + col; }"
    (tmp_path / "places.cu").write_text(
        f'#include "places.cuh"\n#include <cstdio>\n{body}\nvoid show() {{ printf("x"); }}\n'
    )
    path = tmp_path / "mine.cu"
    text = '#include "places.cuh"\n' + KERNEL.replace("A[row * K + k]", "A[place(row, k, K)]")
    path.write_text(text)
    assert {file.name for file, _ in scratch.needed(path, text)} == {"places.cuh", "places.cu"}
    code = device_code(with_own_headers(text, path), "gemm")
    assert code.count(body) == 1 and "show" not in code and "printf" not in code


def test_a_source_does_not_follow_its_own_header(tmp_path: Path) -> None:
    (tmp_path / "mine.cuh").write_text("__device__ int twice(int n);\n")
    path = tmp_path / "mine.cu"
    body = "__device__ int twice(int n) { return 2 * n; }"
    path.write_text(f'#include "mine.cuh"\n{body}\n{KERNEL}')
    assert with_own_headers(path.read_text(), path).count(body) == 1


def test_headers_that_an_editor_adds_are_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "gemm.cu"
    text = "#include <__clang_cuda_builtin_vars.h>\n" + KERNEL
    assert not surroundings(path, text).missing
    assert surroundings(path, text.replace("__clang", "own")).missing
