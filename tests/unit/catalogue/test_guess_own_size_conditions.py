"""The size in a file's own host code is compared with the conditions that were guessed, and a broken one is said."""

from pathlib import Path

import pytest
from test_guess_false_alarms import tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle

TEXT = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[16][16], Bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int at = 0; at < K; at += 16) {
        As[y][x] = A[row * K + at + x];
        Bs[y][x] = B[(at + y) * N + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
"""
HOST = """int main()
{
    const int M = 1024, N = 512, DEPTH = 1000;
    dim3 block(16, 16), grid(N / 16, M / 16);
    gemm<<<grid, block>>>(a, b, c, M, N, DEPTH);
}
"""
BROKEN = "the size in the file itself, 1024 x 512 x 1000, breaks K % 16 == 0: it was not tried"


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (HOST, BROKEN),
        (HOST.replace(", DEPTH = 1000", ", DEPTH = 1024"), ""),
        ("#define DEPTH 1000\n" + HOST.replace(", DEPTH = 1000", ""), BROKEN),
        (HOST.replace("DEPTH = 1000", "DEPTH = atoi(argv[1])"), ""),
        (HOST.replace("N = 512", "N = 500").replace("N / 16", "(N + 15) / 16"), "breaks N % 16 == 0 and K % 16 == 0"),
    ],
    ids=["variable", "a size that fits", "macro", "not known", "two"],
)
def test_a_condition_that_the_file_s_own_size_breaks_is_said(host: str, said: str) -> None:
    made = settle(guess(TEXT + host, Path("mine.cu")), tried)
    assert made.right and "K % 16 == 0" in made.requires
    assert said in made.settled and ("in the file itself" in made.settled) == bool(said)
