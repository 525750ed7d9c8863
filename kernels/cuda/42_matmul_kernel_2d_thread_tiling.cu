// ---gemmviz
// version  = 2
// title    = "Thread tiles, two dimensions"
// idea     = "A thread computes TT x TT adjacent elements of C, so that blocks cover larger tiles, and A and B are read fewer times in all."
// source   = "S3"
// alias    = "matmul_kernel_2d_thread_tiling"
// entry    = "matmul_kernel_2d_thread_tiling<BLOCK, TT>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [64, 32, 16, 8, 4], TT = [8, 4, 2] }
// demo     = { size = 8, params = { BLOCK = 4, TT = 2 }, block = [0, 1], thread = [1, 0], stop = { line = "sum[v][w] +=", array = "As", nth = 8 }, lens = "thread tile" }
// block    = ["BLOCK / TT", "BLOCK / TT"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["TT >= 1", "BLOCK >= 1", "BLOCK % TT == 0", "BLOCK / TT <= 32", "BLOCK * BLOCK <= 6144"]
// ---

template <int BLOCK, int TT>
__global__ void matmul_kernel_2d_thread_tiling(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];

    int i = threadIdx.x * TT, j = threadIdx.y * TT; // the thread's first row and column, in the block's tile of C
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    float sum[TT][TT] = {};

    for (int t = 0; t < K; t += BLOCK) {
        for (int v = 0; v < TT; v++)
            for (int w = 0; w < TT; w++) {
                As[i + v][j + w] = row + v < M && t + j + w < K ? A[(row + v) * K + t + j + w] : 0;
                Bs[i + v][j + w] = t + i + v < K && col + w < N ? B[(t + i + v) * N + col + w] : 0;
            }
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            for (int w = 0; w < TT; w++)
                for (int v = 0; v < TT; v++)
                    sum[v][w] += As[i + v][k] * Bs[k][j + w];
        __syncthreads();
    }
    for (int v = 0; v < TT; v++)
        for (int w = 0; w < TT; w++)
            if (row + v < M && col + w < N)
                C[(row + v) * N + col + w] = sum[v][w];
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
// at = [37, 45, 130]
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "row + v < M && t + j + w < K ? A[(row + v) * K + t + j + w] : 0;"
// replace = "A[(row + v) * K + t + j + w];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + i + v < K && col + w < N ? B[(t + i + v) * N + col + w] : 0;"
// replace = "B[(t + i + v) * N + col + w];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[i + v][j + w] = row + v < M && t + j + w < K ? A[(row + v) * K + t + j + w] : 0;"
// replace = "if (row + v < M && t + j + w < K) As[i + v][j + w] = A[(row + v) * K + t + j + w];"
// [[no-zero-fill.edits]]
// find = "Bs[i + v][j + w] = t + i + v < K && col + w < N ? B[(t + i + v) * N + col + w] : 0;"
// replace = "if (t + i + v < K && col + w < N) Bs[i + v][j + w] = B[(t + i + v) * N + col + w];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + v < M && col + w < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [column-by-x]
// title = "With threadIdx.x counting columns"
// find = "int i = threadIdx.x * TT, j = threadIdx.y * TT;"
// replace = "int i = threadIdx.y * TT, j = threadIdx.x * TT;"
// expect = "uncoalesced"
// ---
