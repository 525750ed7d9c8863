"""Guesses of kernels whose template has the number of threads beside the tiles."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess

KERNEL = """template <const int BM, const int BN, const int BK, const int TM, const int TN, const int BLOCK_SIZE>
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BM * BK], Bs[BK * BN];
    const int row = threadIdx.x / (BN / TN), column = threadIdx.x % (BN / TN), first = threadIdx.x;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float sums[TM][TN] = {};
    for (int k = 0; k < K; k += BK) {
        for (int i = START; i < BM * BK; i += BLOCK_SIZE) As[i] = A[i / BK * K + k + i % BK];
        for (int i = START; i < BK * BN; i += BLOCK_SIZE) Bs[i] = B[(k + i / BN) * N + i % BN];
        __syncthreads();
        for (int e = 0; e < BK; e++)
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++) sums[i][j] += As[(row * TM + i) * BK + e] * Bs[e * BN + column * TN + j];
        __syncthreads();
    }
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) C[(row * TM + i) * N + column * TN + j] = sums[i][j];
}
"""


def test_a_step_from_the_number_of_a_thread_is_the_number_of_threads() -> None:
    # With another step several threads would store the same elements, which is no defect of the kernel.
    for start in ("threadIdx.x", "first"):
        made = guess(KERNEL.replace("START", start), Path("product.cu"))
        sides = {name: values[0] for name, values in made.params.items()}
        assert sides["BLOCK_SIZE"] == sides["BM"] * sides["BN"] // sides["TM"] // sides["TN"] != 16
