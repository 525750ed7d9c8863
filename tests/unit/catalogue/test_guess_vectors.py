"""Guesses of kernels whose matrices are vectors of four floats, and whose tiles lie in two halves."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

# A block has 16 x 32 elements of C: two halves of 8 rows, and in each a row of 8 vectors.
HALVES = """__global__ void product(const float *A, const float *B, float4 *C, int M, int N, int K)
{
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    float4 *mine = C + blockIdx.y * 16 * N / 4 + blockIdx.x * 8;
    const float *above = A + (blockIdx.y * 16 + row) * K;
    const float *left = B + blockIdx.x * 32 + column * 4;
    float4 sums[2];
    for (int half = 0; half < 2; half++) sums[half] = make_float4(0, 0, 0, 0);
    for (int k = 0; k < K; k++) {
        float4 b = *(const float4 *)(left + k * N);
        float first = above[k], second = above[8 * K + k];
        sums[0].x += first * b.x; sums[0].y += first * b.y; sums[0].z += first * b.z; sums[0].w += first * b.w;
        sums[1].x += second * b.x; sums[1].y += second * b.y; sums[1].z += second * b.z; sums[1].w += second * b.w;
    }
    *(mine + row * N / 4 + column) = sums[0];
    *(mine + (8 + row) * N / 4 + column) = sums[1];
}
"""


def test_a_matrix_of_vectors_in_two_halves_gives_block_and_grid() -> None:
    made = guess(HALVES, Path("mine.cu"))
    assert (made.block, made.grid) == (("64",), ("N / 32", "M / 16"))
    assert {"N % 32 == 0", "M % 16 == 0"} <= {*made.requires}
    assert record(launch(guessed_kernel(made), Problem(32, 64, 5))).wrong == 0
