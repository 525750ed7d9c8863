// ---gemmviz
// version  = 2
// title    = "Vectorised loads, larger tiles"
// idea     = "A thread reads and writes four neighbours at a time; A's tile is stored transposed, so that both tiles can be read four values at a time."
// entry    = "vectorised<BM, BN, BK, TM, TN>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BM = [128, 64, 32, 16], BN = [128, 64, 32, 16], BK = [16, 8, 4], TM = [8, 4], TN = [8, 4] }
// demo     = { size = 64, params = { BM = 32, BN = 64, BK = 16, TM = 8, TN = 8 }, block = [0, 0], thread = [1, 0], stop = { tile = 1 }, lens = "coalescing" }
// block    = ["BN / TN", "BM / TM"]
// grid     = ["ceil(N / BN)", "ceil(M / BM)"]
// requires = [
//     "K % 4 == 0", "N % 4 == 0", "TM % 4 == 0", "TN % 4 == 0", "BK % 4 == 0", "BM % TM == 0", "BN % TN == 0",
//     "BM >= 2 * TM", "BN >= 2 * TN", "BM * BN <= 1024 * TM * TN", "BK * (BM + BN) <= 12288",
//     "max(M * K, K * N, M * N) < 2147483648"
// ]
// ---

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
vectorised(const float *A, const float *B, float *C, int M, int N, int K)
{
    // A column of A's tile is a row here: a thread finds its rows of one k side by side.
    __align__(16) __shared__ float As[BK][BM];
    __align__(16) __shared__ float Bs[BK][BN];

    constexpr int THREADS = BM / TM * (BN / TN);
    constexpr int FOURS_A = BM * BK / 4, FOURS_B = BK * BN / 4; // in a tile; shared out in rounds, so that loops unroll
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * (BN / TN) + tx;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[TM][TN] = {};

    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int first = 0; first < FOURS_A; first += THREADS) {
            int e = first + thread, i = e / (BK / 4), k = e % (BK / 4) * 4;
            if (FOURS_A % THREADS && e >= FOURS_A)
                break;
            float4 four = make_float4(0, 0, 0, 0);
            if (row0 + i < M && t + k < K)
                four = *(const float4 *)&A[(row0 + i) * K + t + k];
            As[k][i] = four.x;
            As[k + 1][i] = four.y;
            As[k + 2][i] = four.z;
            As[k + 3][i] = four.w;
        }
        #pragma unroll
        for (int first = 0; first < FOURS_B; first += THREADS) {
            int e = first + thread, k = e / (BN / 4), j = e % (BN / 4) * 4;
            if (FOURS_B % THREADS && e >= FOURS_B)
                break;
            float4 four = make_float4(0, 0, 0, 0);
            if (t + k < K && col0 + j < N)
                four = *(const float4 *)&B[(t + k) * N + col0 + j];
            *(float4 *)&Bs[k][j] = four;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += 4) {
                float4 four = *(const float4 *)&As[k][ty * TM + i];
                a[i] = four.x, a[i + 1] = four.y, a[i + 2] = four.z, a[i + 3] = four.w;
            }
            #pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 four = *(const float4 *)&Bs[k][tx * TN + j];
                b[j] = four.x, b[j + 1] = four.y, b[j + 2] = four.z, b[j + 3] = four.w;
            }
            #pragma unroll
            for (int i = 0; i < TM; i++) {
                #pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < TM; i++) {
        #pragma unroll
        for (int j = 0; j < TN; j += 4) {
            int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
            if (row < M && col < N)
                *(float4 *)&C[row * N + col] = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
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
// find = "if (row0 + i < M && t + k < K)\n"
// replace = "\n"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "if (t + k < K && col0 + j < N)\n"
// replace = "\n"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "wrong result"
// [[no-zero-fill.edits]]
// find = " = make_float4(0, 0, 0, 0);"
// replace = ";"
// [[no-zero-fill.edits]]
// find = " = make_float4(0, 0, 0, 0);"
// nth = 2
// replace = ";"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [a-not-transposed]
// title = "With A's tile as it stands in A"
// expect = "fewer bank conflicts"
// [[a-not-transposed.edits]]
// find = "As[BK][BM];"
// replace = "As[BM][BK];"
// [[a-not-transposed.edits]]
// find = "As[k][i] = four.x;"
// replace = "*(float4 *)&As[i][k] = four;"
// [[a-not-transposed.edits]]
// find = "As[k + 1][i] = four.y;"
// replace = ";"
// [[a-not-transposed.edits]]
// find = "As[k + 2][i] = four.z;"
// replace = ";"
// [[a-not-transposed.edits]]
// find = "As[k + 3][i] = four.w;"
// replace = ";"
// [[a-not-transposed.edits]]
// find = "float4 four = *(const float4 *)&As[k][ty * TM + i];"
// replace = "const float *column = &As[ty * TM + i][k];"
// [[a-not-transposed.edits]]
// find = "a[i] = four.x, a[i + 1] = four.y, a[i + 2] = four.z, a[i + 3] = four.w;"
// replace = "a[i] = column[0], a[i + 1] = column[BK], a[i + 2] = column[2 * BK], a[i + 3] = column[3 * BK];"
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n        for (int k = 0; k < BK; k++)"
// replace = "\n        for (int k = 0; k < BK; k++)"
// expect = "none"
// ---
