// ---gemmviz
// version    = 2
// title      = "Tensor cores fed from shared memory"
// idea       = "A block copies tiles to shared memory, in padded rows, and all its warps load their fragments there."
// entry      = "wmma_shared<BM, BN, BK, WM, WN>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params     = { BM = [128, 32, 64], BN = [128, 32, 64], BK = [64, 16, 32], WM = [32, 16, 64], WN = [64, 32, 16] }
// demo       = { size = 128, params = { BM = 64, BN = 64, BK = 64, WM = 32, WN = 32 }, block = [1, 0], thread = [37, 0], stop = { line = "load_matrix_sync(a[i]" }, lens = "banks" }
// dtype      = "float16"
// accumulate = "float32"
// block      = ["BM / WM * (BN / WN) * 32"]
// grid       = ["ceil(N / BN)", "ceil(M / BM)"]
// requires   = [
//   "M % 16 == 0", "N % 16 == 0", "K % 8 == 0", "BM % WM == 0", "BN % WN == 0", "WM % 16 == 0", "WN % 16 == 0",
//   "BK % 16 == 0", "BM % (BM // WM * (BN // WN) * 32 // (BK // 8)) == 0",
//   "BK % (BM // WM * (BN // WN) * 32 // (BN // 8)) == 0", "BM * (BK + 8) + BK * (BN + 8) <= 24576"
// ]
// ---
#include <mma.h>
using namespace nvcuda;

template <int BM, int BN, int BK, int WM, int WN>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
wmma_shared(const half *A, const half *B, float *C, int M, int N, int K)
{
    // Rows are 8 halves longer than they need be: so 16 bytes of each of 8 rows, which are read at once, lie in
    // different banks.
    __shared__ __align__(32) half As[BM][BK + 8];
    __shared__ __align__(32) half Bs[BK][BN + 8];

    // All threads together copy this many rows of a tile at a time, 16 bytes each.
    constexpr int THREADS = BM / WM * (BN / WN) * 32, ROWS_A = THREADS / (BK / 8), ROWS_B = THREADS / (BN / 8);
    unsigned thread = threadIdx.x, warp = thread / 32;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WM / 16];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[WM / 16][WN / 16];

    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);
    }
    for (int t = 0; t < K; t += BK) {
        // A thread copies 8 halves, 16 bytes, at a time: the widest load and store that there is.
        const uint4 zeros = make_uint4(0, 0, 0, 0);
        #pragma unroll
        for (int s = 0; s < BM / ROWS_A; s++) {
            int i = s * ROWS_A + thread / (BK / 8), k = thread % (BK / 8) * 8;
            bool inside = row0 + i < M && t + k < K;
            *(uint4 *)&As[i][k] = inside ? *(const uint4 *)&A[(size_t)(row0 + i) * K + t + k] : zeros;
        }
        #pragma unroll
        for (int s = 0; s < BK / ROWS_B; s++) {
            int k = s * ROWS_B + thread / (BN / 8), j = thread % (BN / 8) * 8;
            bool inside = t + k < K && col0 + j < N;
            *(uint4 *)&Bs[k][j] = inside ? *(const uint4 *)&B[(size_t)(t + k) * N + col0 + j] : zeros;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k += 16) {
            #pragma unroll
            for (int i = 0; i < WM / 16; i++)
                wmma::load_matrix_sync(a[i], &As[wm + 16 * i][k], BK + 8);
            #pragma unroll
            for (int j = 0; j < WN / 16; j++) {
                wmma::load_matrix_sync(b, &Bs[k][wn + 16 * j], BN + 8);
                #pragma unroll
                for (int i = 0; i < WM / 16; i++)
                    wmma::mma_sync(sum[i][j], a[i], b, sum[i][j]);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++) {
            int row = row0 + wm + 16 * i, col = col0 + wn + 16 * j;
            if (row < M && col < N)
                wmma::store_matrix_sync(&C[(size_t)row * N + col], sum[i][j], N, wmma::mem_row_major);
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
// at = [64, 64, 136]
//
// [no-padding]
// title = "Without the padding of the rows"
// expect = "bank conflicts"
// [[no-padding.edits]]
// find = "As[BM][BK + 8]"
// replace = "As[BM][BK]"
// [[no-padding.edits]]
// find = "Bs[BK][BN + 8]"
// replace = "Bs[BK][BN]"
// [[no-padding.edits]]
// find = "&As[wm + 16 * i][k], BK + 8"
// replace = "&As[wm + 16 * i][k], BK"
// [[no-padding.edits]]
// find = "&Bs[k][wn + 16 * j], BN + 8"
// replace = "&Bs[k][wn + 16 * j], BN"
//
// [no-fill]
// title = "Without setting the sums to 0"
// find = "wmma::fill_fragment(sum[i][j], 0.0f);"
// replace = ";"
// expect = "read of memory nobody wrote"
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "row0 + i < M && t + k < K;"
// replace = "true;"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + k < K && col0 + j < N;"
// replace = "true;"
// expect = "out of bounds"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [b-by-columns]
// title = "With B taken for stored by columns"
// find = "half, wmma::row_major> b"
// replace = "half, wmma::col_major> b"
// expect = "wrong result"
// at = [64, 64, 64]
// ---
