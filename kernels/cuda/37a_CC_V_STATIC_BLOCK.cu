// ---gemmviz
// title    = "CC, static shared memory"
// idea     = "CC with its tiles declared at their full size in static shared memory, instead of carved out of dynamic shared memory."
// source   = "S4"
// alias    = "CC_V_STATIC_BLOCK"
// entry    = "CC_V_STATIC_BLOCK<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void CC_V_STATIC_BLOCK(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
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
    if (row < M && col < N)
        C[row * N + col] = sum;
}
