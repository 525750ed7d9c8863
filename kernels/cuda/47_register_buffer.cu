// ---gemmviz
// version    = 2
// title      = "Two sets of registers"
// idea       = "While one k is multiplied, the elements of the next k are read into other registers; each product shares a factor with the one before it."
// entry      = "register_buffer<BM, BN, BK, TM, TN, STAGES>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params     = { BM = [128, 64, 32, 16], BN = [128, 64, 32, 16], BK = [16, 8, 4], TM = [8, 4], TN = [8, 4], STAGES = [2, 3, 4] }
// demo       = { size = 32, params = { BM = 16, BN = 16, BK = 8, TM = 4, TN = 4, STAGES = 3 }, block = [1, 0], thread = [5, 0], stop = { share = 0.893 }, lens = "thread tile" }
// block      = ["BM / TM * (BN / TN)"]
// grid       = ["ceil(N / BN)", "ceil(M / BM)"]
// requires   = [
//     "N % 4 == 0", "TM % 4 == 0", "TN % 4 == 0", "BK == 4 or BK % 8 == 0", "BM % (2 * TM) == 0",
//     "BN % (2 * TN) == 0", "BM % (TM * min(4, BM / TM)) == 0", "BN % (TN * min(8, BN / TN)) == 0",
//     "BM * BN <= 1024 * TM * TN", "BM * BN % (TM * TN * min(BK, 8)) == 0", "4 * BM % (TM * TN) == 0", "STAGES >= 2",
//     "STAGES * BK * (BM + 4 + BN) <= 12288", "max(M * K, K * N, M * N) < 2147483648"
// ]
// capability = "8.0"
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Sends one tile of A, transposed, and one of B on their way to shared memory. What lies outside becomes 0.
template <int BM, int BN, int BK, int THREADS>
__device__ __forceinline__ void fetch(float (&As)[BK][BM + 4], float (&Bs)[BK][BN], const float *A, const float *B,
                                      int M, int N, int K, int row0, int col0, int t)
{
    // Lanes read 8 columns of A side by side, one sector of 32 bytes. Each element goes to another row of the tile, and
    // is copied alone.
    constexpr int WIDE = BK < 8 ? BK : 8, ROWS_A = THREADS / WIDE, ROWS_B = THREADS / (BN / 4);
    int ia = threadIdx.x / WIDE, ka = threadIdx.x % WIDE;
    int kb = threadIdx.x / (BN / 4), jb = threadIdx.x % (BN / 4) * 4;
    #pragma unroll
    for (int k = 0; k < BK; k += WIDE) {
        #pragma unroll
        for (int i = 0; i < BM; i += ROWS_A) {
            if (BM % ROWS_A && ia + i >= BM)
                break;
            bool in = row0 + ia + i < M && t + ka + k < K;
            cp_async_ca_zfill<4>(&As[ka + k][ia + i], &A[(row0 + ia + i) * K + t + ka + k], in ? 4 : 0);
        }
    }
    #pragma unroll
    for (int k = 0; k < BK; k += ROWS_B) {
        if (BK % ROWS_B && kb + k >= BK)
            break;
        bool in = t + kb + k < K && col0 + jb < N;
        cp_async_cg16_zfill(&Bs[kb + k][jb], &B[(t + kb + k) * N + col0 + jb], in ? 16 : 0);
    }
}

// Reads what a thread needs of one k: its rows of A and its columns of B, in groups of four.
template <int LM, int LN, int TM, int TN>
__device__ __forceinline__ void read(float (&a)[TM], float (&b)[TN], const float *A, const float *B)
{
    #pragma unroll
    for (int i = 0; i < TM; i += 4) {
        float4 four = *(const float4 *)&A[i * LM];
        a[i] = four.x, a[i + 1] = four.y, a[i + 2] = four.z, a[i + 3] = four.w;
    }
    #pragma unroll
    for (int j = 0; j < TN; j += 4) {
        float4 four = *(const float4 *)&B[j * LN];
        b[j] = four.x, b[j + 1] = four.y, b[j + 2] = four.z, b[j + 3] = four.w;
    }
}

// Two small blocks to a multiprocessor: of 256 threads, each may then have 128 registers.
template <int BM, int BN, int BK, int TM, int TN, int STAGES>
__global__ void __launch_bounds__(BM / TM * (BN / TN), BM / TM * (BN / TN) <= 256 ? 2 : 1)
register_buffer(const float *A, const float *B, float *C, int M, int N, int K)
{
    // A ring of stages: one is multiplied while the others are filled.
    __align__(16) __shared__ float As[STAGES][BK][BM + 4];
    __align__(16) __shared__ float Bs[STAGES][BK][BN];

    constexpr int THREADS = BM / TM * (BN / TN);
    // Lanes of a warp: 4 rows of 8. A block tile that is smaller than that has fewer.
    constexpr int LM = BM / TM < 4 ? BM / TM : 4, LN = BN / TN < 8 ? BN / TN : 8;
    constexpr int WM = LM * TM, WN = LN * TN; // the warp tile
    int warp = threadIdx.x / (LM * LN), lane = threadIdx.x % (LM * LN);
    // Lane l is in row l % 2 + l / 16 * 2, column l / 2 % 8: neighbours share columns or rows, and 16 are served at once.
    int ly = lane % 2 + lane / (2 * LN) * 2, lx = lane / 2 % LN;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    // The thread's first element in the block tile. Its rows stand in groups of four, 4 LM apart; its columns, 4 LN apart.
    int y = warp / (BN / WN) * WM + ly * 4;
    int x = warp % (BN / WN) * WN + lx * 4;
    float sum[TM][TN] = {};

    #pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s * BK < K)
            fetch<BM, BN, BK, THREADS>(As[s], Bs[s], A, B, M, N, K, row0, col0, s * BK);
        cp_async_commit();
    }
    // The elements that are multiplied, and those that come next.
    float a[2][TM], b[2][TN];
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    read<LM, LN>(a[0], b[0], &As[0][0][y], &Bs[0][0][x]);
    int now = 0, free = STAGES - 1;
    for (int t = 0; t < K; t += BK) {
        if (t + (STAGES - 1) * BK < K)
            fetch<BM, BN, BK, THREADS>(As[free], Bs[free], A, B, M, N, K, row0, col0, t + (STAGES - 1) * BK);
        cp_async_commit(); // even where nothing was fetched: the wait counts groups
        #pragma unroll
        for (int k = 0; k < BK; k++) {
            if (k + 1 < BK) {
                read<LM, LN>(a[(k + 1) % 2], b[(k + 1) % 2], &As[now][k + 1][y], &Bs[now][k + 1][x]);
            } else if (t + BK < K) {
                // The next tile has arrived, and nobody reads this one any more: its last k stands in registers.
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free = now;
                now = now + 1 < STAGES ? now + 1 : 0;
                read<LM, LN>(a[0], b[0], &As[now][0][y], &Bs[now][0][x]);
            }
            // Registers stand in two banks, which give one operand per cycle each: with two operands in one bank, a
            // product takes two cycles. To and fro, each shares a factor with the one before, which is not read again.
            #pragma unroll
            for (int i = 0; i < TM; i++) {
                #pragma unroll
                for (int e = 0; e < TN; e++) {
                    int j = i % 2 ? TN - 1 - e : e;
                    sum[i][j] += a[k % 2][i] * b[k % 2][j];
                }
            }
        }
    }
    #pragma unroll
    for (int j = 0; j < TN; j += 4) {
        #pragma unroll
        for (int i = 0; i < TM; i++) {
            int row = row0 + y + i / 4 * 4 * LM + i % 4, col = col0 + x + j * LN;
            // Adding 0 makes a copy. A store wants its four sums in neighbouring registers; there, each would stand in
            // the same bank as its factor all the time.
            if (row < M && col < N)
                *(float4 *)&C[row * N + col] =
                    make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f, sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f);
        }
    }
}

// ---gemmviz breaks
// [no-barrier]
// title = "Without the barrier"
// find = "__syncthreads();"
// expect = "race"
//
// [no-wait]
// title = "Without waiting for the copies"
// find = "cp_async_wait<STAGES - 2>();"
// replace = ";"
// expect = ["race", "read of memory nobody wrote"]
//
// [wait-too-short]
// title = "With one group more left under way by the wait"
// find = "cp_async_wait<STAGES - 2>();"
// replace = "cp_async_wait<STAGES - 1>();"
// expect = ["race", "read of memory nobody wrote"]
//
// [no-commit]
// title = "Without committing the copies"
// find = "cp_async_commit(); //"
// replace = "//"
// expect = "read of memory nobody wrote"
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "in ? 4 : 0"
// replace = "4"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "in ? 16 : 0"
// replace = "16"
// expect = "out of bounds"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [one-set]
// title = "With one set of registers"
// find = "read<LM, LN>(a[(k + 1) % 2], b[(k + 1) % 2],"
// replace = "read<LM, LN>(a[k % 2], b[k % 2],"
// expect = "wrong result"
//
// [one-way]
// title = "With products in one direction only"
// find = "i % 2 ? TN - 1 - e : e"
// replace = "e"
// expect = "none"
//
// [no-copies]
// title = "Without copies of the sums for the store"
// find = "make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f, sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f)"
// replace = "make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3])"
// expect = "none"
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n        for (int k = 0; k < BK; k++)"
// replace = "\n        for (int k = 0; k < BK; k++)"
// expect = "none"
// ---
