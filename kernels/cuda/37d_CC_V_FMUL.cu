// ---gemmviz
// version  = 2
// title    = "CC, rounding of the products"
// idea     = "CC with products rounded to nearest (ROUND 0, as in CC), down (1), up (2) or towards zero (3)."
// source   = "S4"
// alias    = "__fmul_rn/_rd/_ru/_rz"
// entry    = "CC_V_FMUL<BLOCK, ROUND>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32], ROUND = [0, 1, 2, 3] }
// demo     = { size = 8, params = { BLOCK = 4, ROUND = 0 }, block = [0, 1], thread = [2, 1], stop = { line = "sum +=", nth = 12, fraction = 0.6 } }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// shared   = "2 * BLOCK * BLOCK * 4"
// requires = ["BLOCK >= 1", "BLOCK <= 32", "ROUND >= 0", "ROUND <= 3"]
// ---

template <int ROUND>
__device__ float product(float a, float b)
{
    switch (ROUND) {
    case 0: return __fmul_rn(a, b);
    case 1: return __fmul_rd(a, b);
    case 2: return __fmul_ru(a, b);
    default: return __fmul_rz(a, b);
    }
}

template <int BLOCK, int ROUND>
__global__ void CC_V_FMUL(const float *A, const float *B, float *C, int M, int N, int K)
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
            sum += product<ROUND>(As[k][i], Bs[j][k]);
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
// find = "As[j][i] = row < M && t + j < K ? A[row * K + t + j] : 0;"
// replace = "if (row < M && t + j < K) As[j][i] = A[row * K + t + j];"
// [[no-zero-fill.edits]]
// find = "Bs[j][i] = t + i < K && col < N ? B[(t + i) * N + col] : 0;"
// replace = "if (t + i < K && col < N) Bs[j][i] = B[(t + i) * N + col];"
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
// ---
