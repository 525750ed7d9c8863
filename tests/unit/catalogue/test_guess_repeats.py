"""Whole numbers that are no sizes: how often a kernel computes its product; and a size that is called like a tile."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.guess import guess

REPEATED = """#define EXTENT 512
__global__ void product(float *C, float *A, float *B, int {count}) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    for (int turn = 0; turn < {count}; turn++) {
        float sum = 0;
        for (int k = 0; k < EXTENT; k++) sum += A[row * EXTENT + k] * B[k * EXTENT + column{more}];
        C[row * EXTENT + column] = sum;
    }
}
"""


def repeated(count: str, more: str = "") -> tuple[tuple[str, ...], dict[str, str]]:
    made = guess(REPEATED.replace("{count}", count).replace("{more}", more), Path("mine.cu"))
    return made.roles, made.constants


@pytest.mark.parametrize("name", ["nIter", "num_iterations", "repeats", "reps", "nRuns"])
def test_a_count_of_repetitions_is_one_and_the_constant_is_the_size(name: str) -> None:
    assert repeated(name) == (("C", "A", "B", "1"), {"EXTENT": "N"})


def test_another_name_is_a_size_and_so_is_one_whose_loop_is_used() -> None:
    assert repeated("width")[0][3] != "1"
    assert repeated("nIter", " + turn")[0][3] != "1"


@pytest.mark.parametrize(("value", "is_tile"), [("16", True), ("1024", False)])
def test_a_number_of_a_thousand_is_no_side_of_a_tile(value: str, is_tile: bool) -> None:
    text = f"""const int TILE_DIM = {value};
__global__ void product(float *a, float *b, float *c, int TILE_DIM) {{
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < TILE_DIM; k++) sum += a[row * TILE_DIM + k] * b[k * TILE_DIM + column];
    c[row * TILE_DIM + column] = sum;
}}
int main() {{ product<<<dim3(TILE_DIM / 16, TILE_DIM / 16), dim3(16, 16)>>>(a, b, c, TILE_DIM); }}
"""
    assert (guess(text, Path("mine.cu")).roles[3] == value) == is_tile


def test_sizes_that_the_kernel_does_not_use_are_the_one_that_it_uses() -> None:
    text = """
__global__ void multiply(const float *A, const float *B, float *C, int p, int n, int q) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}
"""
    made = guess(text, Path("mine.cu"))
    assert made.roles[3:] == ("N", "N", "N") and {"M == N", "K == N"} <= {*made.requires}
    assert guess(text.replace("k < n", "k < q"), Path("mine.cu")).roles[3:] != ("N", "N", "N")
