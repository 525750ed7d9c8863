"""Guesses of kernels whose launch depends on the command line, or on a header of the file that launches them."""

from pathlib import Path

import pytest

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.candidates import is_launched_so
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import is_stated

KERNEL = """#define TILE 16
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        a[threadIdx.y][threadIdx.x] = A[row * K + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * N + column];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    C[row * N + column] = sum;
}
"""
HOST = """{declared}
int main(int argc, char **argv) {{
    int M = 1024, N = 1024, K = 512;
    {read}
    float *a, *b, *c;
    dim3 block(16, rows);
    dim3 grid(N / 16, M / 16);
    product<<<grid, block>>>(a, b, c, M, N, K);
}}
"""


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("int rows = 8;", "if (argc > 1) rows = atoi(argv[1]);"),
        ("", "int rows = argc > 1 ? std::stoi(argv[1]) : 8;"),
        ("int number(char *text) { return strtol(text, 0, 10); }", "int rows = 8; rows = number(argv[1]);"),
        ("", 'int rows; scanf("%d", &rows);'),
        ("", "int rows; std::cin >> rows;"),
    ],
)
def test_a_block_that_the_command_line_chooses_is_no_known_launch(declared: str, read: str) -> None:
    made = guess(KERNEL + HOST.format(declared=declared, read=read), Path("asked.cu"))
    # The kernel's own code says which of the values it may be.
    assert made.block == ("16", "16") and is_stated(made, "block") and not is_launched_so(made)


def test_sizes_of_the_command_line_leave_a_launch_known() -> None:
    host = HOST.format(declared="const int rows = 16;", read="M = atoi(argv[1]); N = atoi(argv[2]);")
    made = guess(KERNEL + host, Path("asked.cu"))
    assert is_launched_so(made) and made.block == ("16", "16")


def test_constants_stand_in_a_header_of_the_file_that_launches(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#pragma once\nconst int rows = 16;\n")
    (tmp_path / "main.cu").write_text('#include "sizes.h"\n' + HOST.format(declared="", read=""))
    path = tmp_path / "kernel.cu"
    path.write_text(KERNEL)
    made = guess(KERNEL, path, around=surroundings(path, KERNEL))
    assert is_launched_so(made) and made.block == ("16", "16")


def test_a_launch_with_more_arguments_is_one_of_another_kernel(tmp_path: Path) -> None:
    host = HOST.format(declared="const int rows = 4;", read="").replace("N, K);", "N, K, a);")
    (tmp_path / "main.cu").write_text(host)
    path = tmp_path / "kernel.cu"
    path.write_text(KERNEL)
    made = guess(KERNEL, path, around=surroundings(path, KERNEL))
    assert made.block == ("16", "16") and not is_stated(made, "block")
