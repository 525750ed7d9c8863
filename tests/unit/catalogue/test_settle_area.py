"""A grid that counts the elements of C: a size at which it has no block is no fault; whole blocks are a condition."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

TEXT = """
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int at = blockIdx.x * 512 + threadIdx.x, row = at / N, column = at % N;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
void run(const float *a, const float *b, float *c, int m, int n, int k)
{
    gemm<<<m * n / (512 * 8) * 8, 512>>>(a, b, c, m, n, k);
}
"""


def tried(kernel: Kernel, size: Problem) -> str:
    recording = record(launch(kernel, size), deadline_s=10)
    return "wrong" if recording.wrong or recording.notes else ""


def test_a_grid_without_a_block_asks_for_whole_blocks() -> None:
    found = settle(guess(TEXT, Path("mine.cu")), tried)
    assert found.right and found.requires == ("M * N % 4096 == 0",)
    assert "with the launch in the file itself" not in found.settled
