// ---gemmviz
// title    = "CC, hoisted indices"
// idea     = "CC with its places in A and B computed before the loop and moved on by a tile per stage (a compiler may do so by itself)."
// source   = "S4"
// alias    = "index hoisting"
// entry    = "CC_V_INDEX_HOISTING<BLOCK>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// shared   = "2 * BLOCK * BLOCK * 4"
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

template <int BLOCK>
__global__ void CC_V_INDEX_HOISTING(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ float tiles[]; // A's tile, then B's
    float (*As)[BLOCK] = (float (*)[BLOCK])tiles;
    float (*Bs)[BLOCK] = (float (*)[BLOCK])(tiles + BLOCK * BLOCK);
    int i = threadIdx.x, j = threadIdx.y;
    int row = blockIdx.x * BLOCK + i;
    int col = blockIdx.y * BLOCK + j;
    int a = row * K + j, b = i * N + col; // where this thread loads next
    float sum = 0;

    for (int t = 0; t < K; t += BLOCK, a += BLOCK, b += BLOCK * N) {
        As[j][i] = row < M && t + j < K ? A[a] : 0;
        Bs[j][i] = t + i < K && col < N ? B[b] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            sum += __fmul_rn(As[k][i], Bs[j][k]);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
