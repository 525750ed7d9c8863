// ---gemmviz
// title    = "Shared-memory tiles, uncoalesced"
// idea     = "Tiles in shared memory, but threadIdx.x still counts rows: neighbouring lanes read elements a whole row apart."
// source   = "S3"
// alias    = "matmul_kernel_block_tiling"
// entry    = "matmul_kernel_block_tiling<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 32, 8] }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void matmul_kernel_block_tiling(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
    int i = threadIdx.x, j = threadIdx.y;
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK) {
        As[i][j] = row < M && t + j < K ? A[row * K + t + j] : 0;
        Bs[i][j] = t + i < K && col < N ? B[(t + i) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += As[i][k] * Bs[k][j];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
