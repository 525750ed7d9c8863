// ---gemmviz
// title    = "CC, rounding of the products"
// idea     = "CC with products rounded to nearest (ROUND 0, as in CC), down (1), up (2) or towards zero (3)."
// source   = "S4"
// alias    = "__fmul_rn/_rd/_ru/_rz"
// entry    = "CC_V_FMUL<BLOCK, ROUND>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32], ROUND = [0, 1, 2, 3] }
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
