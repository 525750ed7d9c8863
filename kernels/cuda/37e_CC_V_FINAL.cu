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
