"""A kernel that is wrong at the usual small size opens at another one."""

from pathlib import Path

from test_guess_false_alarms import tried

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import parse

PIPELINE = """__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[2][8][8], b[2][8][8];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int stage = 0; stage < 2; ++stage) {  // without a test: K has two tiles at least
        a[stage][threadIdx.y][threadIdx.x] = A[row * K + stage * 8 + threadIdx.x];
        b[stage][threadIdx.y][threadIdx.x] = B[(stage * 8 + threadIdx.y) * N + col];
    }
    __syncthreads();
    for (int at = 0; at < K; at += 8) {
        int stage = at / 8 % 2;
        for (int k = 0; k < 8; ++k) sum += a[stage][threadIdx.y][k] * b[stage][k][threadIdx.x];
        __syncthreads();
        if (at + 16 < K) {
            a[stage][threadIdx.y][threadIdx.x] = A[row * K + at + 16 + threadIdx.x];
            b[stage][threadIdx.y][threadIdx.x] = B[(at + 16 + threadIdx.y) * N + col];
        }
        __syncthreads();
    }
    C[row * N + col] = sum;
}
void run(float *A, float *B, float *C, int M, int N, int K)
{
    gemm<<<dim3(N / 8, M / 8), dim3(8, 8)>>>(A, B, C, M, N, K);
}
"""


def test_a_pipeline_that_needs_two_tiles_opens_with_more_than_one() -> None:
    made = settle(guess(PIPELINE, Path("mine.cu")), tried)
    assert made.right and made.demo is not None and made.demo[2] >= 16
    assert "K >= 16" not in made.requires  # so the checker still tries one tile
    demo = parse(made.described(), Path("mine.cu")).demo
    assert demo is not None and demo.size == made.demo


def test_a_kernel_that_is_right_at_the_usual_size_opens_there() -> None:
    text = PIPELINE.replace("stage < 2; ++stage", "stage < 2 && stage * 8 < K; ++stage")
    made = settle(guess(text, Path("mine.cu")), tried)
    assert made.right and made.demo is None and "demo" not in made.front_matter()
