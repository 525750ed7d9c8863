// ---gemmviz
// version  = 2
// title    = "CC, short-circuit test"
// idea     = "CC with its last test the other way round: a thread whose row or column is outside C returns, and the rest store."
// source   = "S4"
// alias    = "short-circuit test"
// entry    = "CC_V_SHORT_CIRCUIT<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// demo     = { size = 20, params = { BLOCK = 8 }, block = [2, 2], stop = { end = true }, lens = "coalescing" }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// shared   = "2 * BLOCK * BLOCK * 4"
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void CC_V_SHORT_CIRCUIT(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float tiles[]; // A's tile, then B's
    float (*As)[BLOCK] = (float (*)[BLOCK])tiles;
    float (*Bs)[BLOCK] = (float (*)[BLOCK])(tiles + BLOCK * BLOCK);
    int i = threadIdx.x, j = threadIdx.y;
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK) {
        As[j][i] = row < M && t + j < K ? A[row * K + t + j] : 0;
        Bs[j][i] = t + i < K && col < N ? B[(t + i) * N + col] : 0;
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
// find = "As[j][i] = row < M && t + j < K ? A[row * K + t + j] : 0;"
// replace = "if (row < M && t + j < K) As[j][i] = A[row * K + t + j];"
// [[no-zero-fill.edits]]
// find = "Bs[j][i] = t + i < K && col < N ? B[(t + i) * N + col] : 0;"
// replace = "if (t + i < K && col < N) Bs[j][i] = B[(t + i) * N + col];"
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
