// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles, uncoalesced"
// idea     = "Tiles in shared memory, but threadIdx.x still counts rows: neighbouring lanes read elements a whole row apart."
// source   = "S3"
// alias    = "matmul_kernel_block_tiling"
// entry    = "matmul_kernel_block_tiling<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 32, 8] }
// demo     = { size = 12, params = { BLOCK = 4 }, block = [1, 1], thread = [1, 2], stop = { tile = 2 }, lens = "coalescing" }
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
// find = "row < M && t + j < K ? A[row * K + t + j] : 0;"
// replace = "A[row * K + t + j];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + i < K && col < N ? B[(t + i) * N + col] : 0;"
// replace = "B[(t + i) * N + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[i][j] = row < M && t + j < K ? A[row * K + t + j] : 0;"
// replace = "if (row < M && t + j < K) As[i][j] = A[row * K + t + j];"
// [[no-zero-fill.edits]]
// find = "Bs[i][j] = t + i < K && col < N ? B[(t + i) * N + col] : 0;"
// replace = "if (t + i < K && col < N) Bs[i][j] = B[(t + i) * N + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [column-by-x]
// title = "With threadIdx.x counting columns"
// find = "int i = threadIdx.x, j = threadIdx.y;"
// replace = "int i = threadIdx.y, j = threadIdx.x;"
// expect = ["fewer bank conflicts", "fewer sectors"]
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
// ---
