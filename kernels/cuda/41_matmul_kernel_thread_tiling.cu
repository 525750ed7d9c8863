// ---gemmviz
// version  = 2
// title    = "Thread tiles, one column"
// idea     = "A thread computes TT adjacent rows of one column. x still counts rows, so that reads of A's tile meet bank conflicts."
// source   = "S3"
// alias    = "matmul_kernel_thread_tiling"
// entry    = "matmul_kernel_thread_tiling<BLOCK, TT>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [32, 16, 8, 4], TT = [8, 4, 2] }
// demo     = { size = 8, params = { BLOCK = 4, TT = 2 }, block = [0, 1], thread = [1, 2], stop = { line = "sum[w] +=", array = "As", nth = 4 }, lens = "thread tile" }
// block    = ["BLOCK / TT", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["TT >= 1", "BLOCK >= 1", "BLOCK % TT == 0", "BLOCK * BLOCK / TT <= 1024", "BLOCK <= 64"]
// ---

template <int BLOCK, int TT>
__global__ void matmul_kernel_thread_tiling(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];

    int i = threadIdx.x * TT, j = threadIdx.y; // the thread's first row and its column, in the block's tile of C
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    float sum[TT] = {};

    for (int t = 0; t < K; t += BLOCK) {
        for (int w = 0; w < TT; w++) {
            As[i + w][j] = row + w < M && t + j < K ? A[(row + w) * K + t + j] : 0;
            Bs[i + w][j] = t + i + w < K && col < N ? B[(t + i + w) * N + col] : 0;
        }
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            for (int w = 0; w < TT; w++)
                sum[w] += As[i + w][k] * Bs[k][j];
        __syncthreads();
    }
    for (int w = 0; w < TT; w++)
        if (row + w < M && col < N)
            C[(row + w) * N + col] = sum[w];
}

// ---gemmviz breaks
// [no-first-barrier]
// title = "Without the first barrier"
// find = "__syncthreads();"
// expect = "race"
//
// [no-second-barrier]
// title = "Without the second barrier"
// find = "__syncthreads();"
// nth = 2
// expect = "race"
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "row + w < M && t + j < K ? A[(row + w) * K + t + j] : 0;"
// replace = "A[(row + w) * K + t + j];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + i + w < K && col < N ? B[(t + i + w) * N + col] : 0;"
// replace = "B[(t + i + w) * N + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[i + w][j] = row + w < M && t + j < K ? A[(row + w) * K + t + j] : 0;"
// replace = "if (row + w < M && t + j < K) As[i + w][j] = A[(row + w) * K + t + j];"
// [[no-zero-fill.edits]]
// find = "Bs[i + w][j] = t + i + w < K && col < N ? B[(t + i + w) * N + col] : 0;"
// replace = "if (t + i + w < K && col < N) Bs[i + w][j] = B[(t + i + w) * N + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + w < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [pad-a]
// title = "With a padded tile of A"
// find = " As[BLOCK][BLOCK];"
// replace = " As[BLOCK][BLOCK + 1];"
// expect = "fewer bank conflicts"
//
// [pad-b]
// title = "With a padded tile of B"
// find = " Bs[BLOCK][BLOCK];"
// replace = " Bs[BLOCK][BLOCK + 1];"
// expect = "fewer bank conflicts"
//
// [b-kept]
// title = "With B's value kept in a register"
// expect = "none"
// find = "for (int k = 0; k < BLOCK; k++)\n            for (int w = 0; w < TT; w++)\n                sum[w] += As[i + w][k] * Bs[k][j];"
// replace = "for (int k = 0; k < BLOCK; k++) {\n            float b = Bs[k][j]; for (int w = 0; w < TT; w++)\n                sum[w] += As[i + w][k] * b; }"
// ---
