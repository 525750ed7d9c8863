// ---gemmviz
// version  = 2
// title    = "CC, final version (reconstructed)"
// idea     = "The report does not print its final version. Taken here: static shared memory, the hoisted place and the short-circuit test together."
// source   = "S4"
// alias    = "CC_V_FINAL"
// entry    = "CC_V_FINAL<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// demo     = { size = 6, params = { BLOCK = 4 }, block = [1, 1], stop = { end = true } }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void CC_V_FINAL(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
    int i = threadIdx.x, j = threadIdx.y;
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    int place = j * BLOCK + i; // where this thread writes, in both tiles
    int end = (K + BLOCK - 1) / BLOCK * BLOCK;
    float sum = 0;

    for (int t = 0; t < end; t += BLOCK) {
        ((float *)As)[place] = row < M && t + j < K ? A[row * K + t + j] : 0;
        ((float *)Bs)[place] = t + i < K && col < N ? B[(t + i) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += __fmul_rn(As[k][i], Bs[j][k]);
        __syncthreads();
    }
    if (row >= M || col >= N)
        return;
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
// find = "((float *)As)[place] = row < M && t + j < K ? A[row * K + t + j] : 0;"
// replace = "if (row < M && t + j < K) ((float *)As)[place] = A[row * K + t + j];"
// [[no-zero-fill.edits]]
// find = "((float *)Bs)[place] = t + i < K && col < N ? B[(t + i) * N + col] : 0;"
// replace = "if (t + i < K && col < N) ((float *)Bs)[place] = B[(t + i) * N + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row >= M || col >= N)\n        return;"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [column-by-x]
// title = "With threadIdx.x counting columns"
// find = "int i = threadIdx.x, j = threadIdx.y;"
// replace = "int i = threadIdx.y, j = threadIdx.x;"
// expect = ["bank conflicts", "fewer sectors"]
//
// [fused]
// title = "With fused multiply-add"
// find = "__fmul_rn(As[k][i], Bs[j][k])"
// replace = "As[k][i] * Bs[j][k]"
// expect = "none"
// ---
