// ---gemmviz
// title    = "CC, short-circuit test"
// idea     = "CC with the half of each bounds test that never changes computed once and put first, so that && may skip the rest."
// source   = "S4"
// alias    = "short-circuit test"
// entry    = "CC_V_SHORT_CIRCUIT<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
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
    bool in_row = row < M, in_col = col < N;
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK) {
        As[j][i] = in_row && t + j < K ? A[row * K + t + j] : 0;
        Bs[j][i] = in_col && t + i < K ? B[(t + i) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += __fmul_rn(As[k][i], Bs[j][k]);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
