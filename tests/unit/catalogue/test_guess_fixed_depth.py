"""A constant of a kernel that is called K is a number: other lengths of its sums are not tried."""

from pathlib import Path

import pytest
from test_guess_false_alarms import tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.checking.plan import plan

TEXT = """#define K {depth}
__global__ void product(const float *A, const float *B, float *C, int M, int N)
{{
    __shared__ float tile[K][K];
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = A[row * K + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < K; ++i) sum += tile[threadIdx.y][i] * B[i * N + col];
    C[row * N + col] = sum;
}}
int main(int argc, char **argv)
{{
    int M = atoi(argv[1]), N = atoi(argv[2]);
    dim3 block(K, K), grid((N + K - 1) / K, (M + K - 1) / K);
    product<<<grid, block>>>(a, b, c, M, N);
}}
"""


def direct(text: str) -> str:
    """Return a kernel that reads A itself, without shared memory."""
    kept = (line for line in text.splitlines() if "tile[K]" not in line and "tile[threadIdx.y][th" not in line)
    return "\n".join(kept).replace("tile[threadIdx.y][i]", "A[row * K + i]").replace("__syncthreads();", "")


@pytest.mark.parametrize("text", [TEXT.format(depth=32), direct(TEXT.format(depth=16))], ids=["tile", "direct"])
def test_the_length_of_sums_that_a_constant_gives_is_a_condition(text: str) -> None:
    made = settle(guess(text, Path("mine.cu")), tried)
    depth = int(made.block[0])
    assert made.right and f"K == {depth}" in made.requires
    assert {size.k for size, _ in plan(guessed_kernel(made), (), {}).launches} == {depth}


def test_a_grid_that_is_whole_only_for_a_square_c_is_a_condition_beside_the_fixed_length() -> None:
    text = TEXT.format(depth=16).replace(
        "grid((N + K - 1) / K, (M + K - 1) / K)", "grid((M + K - 1) / K, (N + K - 1) / K)"
    )
    made = settle(guess(text, Path("mine.cu")), tried)
    assert made.right and {"K == 16", "M == N"} <= {*made.requires} and not made.column_major
