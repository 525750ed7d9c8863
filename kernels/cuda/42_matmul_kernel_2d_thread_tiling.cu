// ---gemmviz
// title    = "Thread tiles, two dimensions"
// idea     = "A thread computes TT x TT elements: 2 TT values from shared memory feed TT x TT multiplications."
// source   = "S3"
// alias    = "matmul_kernel_2d_thread_tiling"
// entry    = "matmul_kernel_2d_thread_tiling<BLOCK, BK, TT>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [64, 32, 16, 8, 4], BK = [16, 8, 4], TT = [8, 4, 2] }
// block    = ["BLOCK / TT", "BLOCK / TT"]
// grid     = ["ceil(N / BLOCK)", "ceil(M / BLOCK)"]
// requires = ["TT >= 1", "BK >= 1", "BLOCK >= 1", "BLOCK % TT == 0", "BLOCK / TT <= 32", "BLOCK * BK <= 6144"]
// ---

template <int BLOCK, int BK, int TT>
__global__ void matmul_kernel_2d_thread_tiling(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BK];
    __shared__ float Bs[BK][BLOCK];

    // A thread's TT columns stand SIDE apart, so that neighbouring lanes touch neighbouring banks and sectors.
    constexpr int SIDE = BLOCK / TT;
    constexpr int THREADS = SIDE * SIDE;
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * SIDE + tx;
    int row0 = blockIdx.y * BLOCK, col0 = blockIdx.x * BLOCK;
    float sum[TT][TT] = {};

    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int e = thread; e < BLOCK * BK; e += THREADS) {
            int i = e / BK, k = e % BK;
            As[i][k] = row0 + i < M && t + k < K ? A[(row0 + i) * K + t + k] : 0;
        }
        #pragma unroll
        for (int e = thread; e < BK * BLOCK; e += THREADS) {
            int k = e / BLOCK, j = e % BLOCK;
            Bs[k][j] = t + k < K && col0 + j < N ? B[(t + k) * N + col0 + j] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TT], b[TT];
            #pragma unroll
            for (int i = 0; i < TT; i++)
                a[i] = As[ty * TT + i][k];
            #pragma unroll
            for (int j = 0; j < TT; j++)
                b[j] = Bs[k][tx + j * SIDE];
            #pragma unroll
            for (int i = 0; i < TT; i++) {
                #pragma unroll
                for (int j = 0; j < TT; j++)
                    sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < TT; i++) {
        #pragma unroll
        for (int j = 0; j < TT; j++) {
            int row = row0 + ty * TT + i, col = col0 + tx + j * SIDE;
            if (row < M && col < N)
                C[row * N + col] = sum[i][j];
        }
    }
}
