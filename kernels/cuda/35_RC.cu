// ---gemmviz
// title    = "Shared-memory layout RC"
// idea     = "Only B's tile is transposed in shared memory; A's tile keeps its bank conflicts, so little changes."
// source   = "S4"
// alias    = "RC"
// entry    = "RC<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// shared   = "2 * BLOCK * BLOCK * 4"
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void RC(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float tiles[]; // A's tile, then B's
    float (*As)[BLOCK] = (float (*)[BLOCK])tiles;
    float (*Bs)[BLOCK] = (float (*)[BLOCK])(tiles + BLOCK * BLOCK);
    int i = threadIdx.x, j = threadIdx.y;
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK) {
        As[i][j] = row < M && t + j < K ? A[row * K + t + j] : 0;
        Bs[j][i] = t + i < K && col < N ? B[(t + i) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += __fmul_rn(As[i][k], Bs[j][k]);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
