// ---gemmviz
// title = "float4 through macros, two stages by way of registers"
// entry = "sgemm<32, 32>"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["N / 32", "M / 32"]
// requires = ["M % 32 == 0", "N % 32 == 0", "K % 8 == 0"]
// ---
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])
#define CONST_FLOAT4(pointer) (reinterpret_cast<const float4*>(&(pointer))[0])
// Two stages of shared tiles, the next one on its way through registers; A's tile lies transposed.
template <const int BM = 32, const int BN = 32, const int BK = 8, const int TM = 4, const int TN = 4>
__global__ void sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                      const int M, const int N, const int K)
{
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    __shared__ float As[2][BK][BM];
    __shared__ float Bs[2][BK][BN];
    float accum[TM][TN] = {0};
    float frag_a[2][TM], frag_b[2][TN];
    const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4;
    const int b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
    float ldg_a[4];
    A = &A[BM * blockIdx.y * K];
    B = &B[BN * blockIdx.x];
    FETCH_FLOAT4(ldg_a[0]) = CONST_FLOAT4(A[OFFSET(a_row, a_col, K)]);
    #pragma unroll
    for (int i = 0; i < 4; i++) As[0][a_col + i][a_row] = ldg_a[i];
    FETCH_FLOAT4(Bs[0][b_row][b_col]) = CONST_FLOAT4(B[OFFSET(b_row, b_col, N)]);
    __syncthreads();
    FETCH_FLOAT4(frag_a[0][0]) = FETCH_FLOAT4(As[0][0][TM * threadIdx.y]);
    FETCH_FLOAT4(frag_b[0][0]) = FETCH_FLOAT4(Bs[0][0][TN * threadIdx.x]);
    int write_stage = 1, tile = 0;
    float4 ldg_b;
    do {
        tile += BK;
        if (tile < K) {
            FETCH_FLOAT4(ldg_a[0]) = CONST_FLOAT4(A[OFFSET(a_row, a_col + tile, K)]);
            ldg_b = CONST_FLOAT4(B[OFFSET(tile + b_row, b_col, N)]);
        }
        const int load_stage = write_stage ^ 1;
        #pragma unroll
        for (int j = 0; j < BK; ++j) {
            if (j + 1 < BK) {
                FETCH_FLOAT4(frag_a[(j + 1) % 2][0]) = FETCH_FLOAT4(As[load_stage][j + 1][TM * threadIdx.y]);
                FETCH_FLOAT4(frag_b[(j + 1) % 2][0]) = FETCH_FLOAT4(Bs[load_stage][j + 1][TN * threadIdx.x]);
            }
            #pragma unroll
            for (int y = 0; y < TM; ++y)
                for (int x = 0; x < TN; ++x) accum[y][x] += frag_a[j % 2][y] * frag_b[j % 2][x];
        }
        if (tile < K) {
            for (int i = 0; i < 4; i++) As[write_stage][a_col + i][a_row] = ldg_a[i];
            FETCH_FLOAT4(Bs[write_stage][b_row][b_col]) = ldg_b;
            __syncthreads();
            FETCH_FLOAT4(frag_a[0][0]) = FETCH_FLOAT4(As[write_stage][0][TM * threadIdx.y]);
            FETCH_FLOAT4(frag_b[0][0]) = FETCH_FLOAT4(Bs[write_stage][0][TN * threadIdx.x]);
            write_stage ^= 1;
        }
    } while (tile < K);
    for (int y = 0; y < TM; ++y)
        FETCH_FLOAT4(C[OFFSET(BM * blockIdx.y + threadIdx.y * TM + y, BN * blockIdx.x + threadIdx.x * TN, N)]) =
            FETCH_FLOAT4(accum[y][0]);
}
