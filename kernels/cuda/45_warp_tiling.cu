// ---gemmviz
// version  = 2
// title    = "Warp tiles"
// idea     = "A warp computes a tile that is nearly square. The order of its lanes lets the hardware serve 16 at once: half the wavefronts for the reads of B."
// entry    = "warp_tiling<BM, BN, BK, TM, TN>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BM = [128, 64, 32, 16], BN = [128, 64, 32, 16], BK = [16, 8, 4], TM = [8, 4], TN = [8, 4] }
// demo     = { size = 64, params = { BM = 32, BN = 64, BK = 8, TM = 4, TN = 4 }, block = [0, 0], thread = [33, 0], stop = { line = "&Bs[k][x + j" }, lens = "banks" }
// block    = ["BM / TM * (BN / TN)"]
// grid     = ["ceil(N / BN)", "ceil(M / BM)"]
// requires = [
//     "K % 4 == 0", "N % 4 == 0", "TM % 4 == 0", "TN % 4 == 0", "BK == 4 or BK % 8 == 0", "BM % (2 * TM) == 0",
//     "BN % (2 * TN) == 0", "BM % (TM * min(4, BM / TM)) == 0", "BN % (TN * min(8, BN / TN)) == 0",
//     "BM * BN <= 1024 * TM * TN", "BK * (BM + 4 + BN) <= 12288",
//     "max(M * K, K * N, M * N) < 2147483648"
// ]
// ---

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
warp_tiling(const float *A, const float *B, float *C, int M, int N, int K)
{
    // Padded, so that storing A's tile transposed meets no bank twice.
    __align__(16) __shared__ float As[BK][BM + 4];
    __align__(16) __shared__ float Bs[BK][BN];

    constexpr int THREADS = BM / TM * (BN / TN);
    constexpr int FOURS_A = BM * BK / 4, FOURS_B = BK * BN / 4; // in a tile; shared out in rounds, so that loops unroll
    constexpr int WIDE = BK < 8 ? BK : 8; // columns of A that lanes read side by side: one sector of 32 bytes
    // Lanes of a warp: 4 rows of 8. A block tile that is smaller than that has fewer.
    constexpr int LM = BM / TM < 4 ? BM / TM : 4, LN = BN / TN < 8 ? BN / TN : 8;
    constexpr int WM = LM * TM, WN = LN * TN; // the warp tile
    int thread = threadIdx.x, warp = thread / (LM * LN), lane = thread % (LM * LN);
    // Of 4 x 8 lanes, lane l is in row l % 2 + l / 16 * 2 and column l / 2 % 8. So lanes 2 i and 2 i + 1 share their
    // columns of C, lanes i and i + 2 their rows: of such neighbours the hardware serves 16 at a time instead of 8.
    int ly = lane % 2 + lane / (2 * LN) * 2, lx = lane / 2 % LN;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    // The thread's first element in the block tile. Its rows stand in groups of four, 4 LM apart; its columns, 4 LN apart.
    int y = warp / (BN / WN) * WM + ly * 4;
    int x = warp % (BN / WN) * WN + lx * 4;
    float sum[TM][TN] = {};

    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int first = 0; first < FOURS_A; first += THREADS) {
            // Row by row, WIDE / 4 fours each, down all BM rows; then the next WIDE columns.
            int e = first + thread, i = e / (WIDE / 4) % BM, k = e / (BM * WIDE / 4) * WIDE + e % (WIDE / 4) * 4;
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
                float4 four = *(const float4 *)&As[k][y + i * LM];
                a[i] = four.x, a[i + 1] = four.y, a[i + 2] = four.z, a[i + 3] = four.w;
            }
            #pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 four = *(const float4 *)&Bs[k][x + j * LN];
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
    // Column by column: with row by row, NVRTC 13 leaves more sums in the same register bank as their factors, and such
    // a product takes two cycles instead of one.
    #pragma unroll
    for (int j = 0; j < TN; j += 4) {
        #pragma unroll
        for (int i = 0; i < TM; i++) {
            int row = row0 + y + i / 4 * 4 * LM + i % 4, col = col0 + x + j * LN;
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
// [flat-warps]
// title = "With lanes that stand 2 x 16"
// find = "LM = BM / TM < 4 ? BM / TM : 4, LN = BN / TN < 8 ? BN / TN : 8;"
// replace = "LM = BM / TM < 2 ? BM / TM : 2, LN = BN / TN < 16 ? BN / TN : 16;"
// expect = "none"
//
// [lanes-in-order]
// title = "With lanes numbered row by row"
// find = "ly = lane % 2 + lane / (2 * LN) * 2, lx = lane / 2 % LN;"
// replace = "ly = lane / LN, lx = lane % LN;"
// expect = "none"
//
// [no-padding]
// title = "Without the padding of A's tile"
// find = "As[BK][BM + 4];"
// replace = "As[BK][BM];"
// expect = "bank conflicts"
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n        for (int k = 0; k < BK; k++)"
// replace = "\n        for (int k = 0; k < BK; k++)"
// expect = "none"
// ---
