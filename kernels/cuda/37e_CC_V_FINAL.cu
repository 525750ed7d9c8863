// ---gemmviz
// title    = "CC, all variants together"
// idea     = "CC with static shared memory, hoisted indices and the short-circuit test at once: where the lab ends."
// source   = "S4"
// alias    = "CC_V_FINAL"
// entry    = "CC_V_FINAL<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
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
    bool in_row = row < M, in_col = col < N;
    int a = row * K + j, b = i * N + col; // where this thread loads next
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK, a += BLOCK, b += BLOCK * N) {
        As[j][i] = in_row && t + j < K ? A[a] : 0;
        Bs[j][i] = in_col && t + i < K ? B[b] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += __fmul_rn(As[k][i], Bs[j][k]);
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
// find = "in_row && t + j < K ? A[a] : 0;"
// replace = "A[a];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "in_col && t + i < K ? B[b] : 0;"
// replace = "B[b];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[j][i] = in_row && t + j < K ? A[a] : 0;"
// replace = "if (in_row && t + j < K) As[j][i] = A[a];"
// [[no-zero-fill.edits]]
// find = "Bs[j][i] = in_col && t + i < K ? B[b] : 0;"
// replace = "if (in_col && t + i < K) Bs[j][i] = B[b];"
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
// expect = ["bank conflicts", "fewer sectors"]
//
// [fused]
// title = "With fused multiply-add"
// find = "__fmul_rn(As[k][i], Bs[j][k])"
// replace = "As[k][i] * Bs[j][k]"
// expect = "none"
// ---
