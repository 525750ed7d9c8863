// ---gemmviz
// version  = 2
// title    = "Thread tiles, x counts columns"
// idea     = "The thread tiles of matmul_kernel_thread_tiling, but the lanes of a warp are neighbours in a row of C: with BLOCK = 32 no bank conflict is left."
// entry    = "columns_by_x<BLOCK, TT>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [32, 16, 8, 4], TT = [8, 4, 2] }
// demo     = { size = [32, 36, 32], params = { BLOCK = 32, TT = 8 }, block = [0, 0], stop = { line = "float b =", nth = 3 }, lens = "banks" }
// block    = ["BLOCK", "BLOCK / TT"]
// grid     = ["ceil(N / BLOCK)", "ceil(M / BLOCK)"]
// requires = ["TT >= 1", "BLOCK >= 1", "BLOCK % TT == 0", "BLOCK * BLOCK / TT <= 1024", "BLOCK <= 64"]
// ---

template <int BLOCK, int TT>
__global__ void columns_by_x(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];

    int tx = threadIdx.x, ty = threadIdx.y * TT;
    int row = blockIdx.y * BLOCK + ty;
    int col = blockIdx.x * BLOCK + tx;
    float sum[TT] = {};

    for (int t = 0; t < K; t += BLOCK) {
        #pragma unroll
        for (int i = 0; i < TT; i++) {
            As[ty + i][tx] = row + i < M && t + tx < K ? A[(row + i) * K + t + tx] : 0;
            Bs[ty + i][tx] = t + ty + i < K && col < N ? B[(t + ty + i) * N + col] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BLOCK; k++) {
            float b = Bs[k][tx];
            #pragma unroll
            for (int i = 0; i < TT; i++)
                sum[i] += As[ty + i][k] * b;
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < TT; i++)
        if (row + i < M && col < N)
            C[(row + i) * N + col] = sum[i];
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
// find = "row + i < M && t + tx < K ? A[(row + i) * K + t + tx] : 0;"
// replace = "A[(row + i) * K + t + tx];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + ty + i < K && col < N ? B[(t + ty + i) * N + col] : 0;"
// replace = "B[(t + ty + i) * N + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[ty + i][tx] = row + i < M && t + tx < K ? A[(row + i) * K + t + tx] : 0;"
// replace = "if (row + i < M && t + tx < K) As[ty + i][tx] = A[(row + i) * K + t + tx];"
// [[no-zero-fill.edits]]
// find = "Bs[ty + i][tx] = t + ty + i < K && col < N ? B[(t + ty + i) * N + col] : 0;"
// replace = "if (t + ty + i < K && col < N) Bs[ty + i][tx] = B[(t + ty + i) * N + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + i < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n"
// nth = 2
// replace = "\n"
// expect = "none"
//
// [no-unroll-sums]
// title = "Without unrolling the loops over the sums"
// expect = "none"
// [[no-unroll-sums.edits]]
// find = "#pragma unroll\n"
// nth = 3
// replace = "\n"
// [[no-unroll-sums.edits]]
// find = "#pragma unroll\n"
// nth = 4
// replace = "\n"
//
// [b-not-kept]
// title = "With B read anew for every row"
// find = "* b;"
// replace = "* Bs[k][tx];"
// expect = "none"
// ---
