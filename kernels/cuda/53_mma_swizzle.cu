// ---gemmviz
// version    = 2
// title      = "mma and ldmatrix with a swizzled layout"
// idea       = "16-byte pieces change places in their row: copies and ldmatrix meet no bank conflict, without padding."
// entry      = "mma_swizzle<BM, BN, BK, WM, WN>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params.BM  = [128, 32, 64, 256]
// params.BN  = [128, 32, 64, 256]
// params.BK  = [64, 16, 32]
// params.WM  = [64, 16, 32]
// params.WN  = [64, 16, 32]
// demo       = { size = [64, 64, 128], params = { BM = 32, BN = 32, BK = 64, WM = 16, WN = 16 }, block = [1, 0], thread = [37, 0], stop = { line = "ldmatrix_x4(a[i]" }, lens = "banks" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "8.0"
// block      = ["BM / WM * (BN / WN) * 32"]
// grid       = ["ceil(N / BN)", "ceil(M / BM)"]
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BM % WM == 0", "BN % WN == 0", "WM % 16 == 0", "WN % 16 == 0",
//   "BK == 16 or BK == 32 or BK % 64 == 0", "BN == 16 or BN == 32 or BN % 64 == 0",
//   "BM % (BM // WM * (BN // WN) * 32 // (BK // 8)) == 0",
//   "BK % (BM // WM * (BN // WN) * 32 // (BN // 8)) == 0", "BM * BK + BK * BN <= 24576"
// ]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Where a row of COLS halves keeps its 16-byte piece number `piece`. ldmatrix reads the same piece of 8 rows at once:
// it stands in another place of each, so that together they are the 128 bytes that the banks give at a time.
template <int COLS> __device__ __forceinline__ unsigned place(unsigned row, unsigned piece)
{
    // A row of 64 halves fills the banks: piece p of row r stands at p ^ r % 8. Of shorter rows 2 or 4 fill them together,
    // and as many have the same turn.
    constexpr unsigned TURNS = COLS < 64 ? COLS / 8 : 8;
    return (piece ^ row / (8 / TURNS) % TURNS) * 8;
}

template <int BM, int BN, int BK, int WM, int WN>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
mma_swizzle(const half *A, const half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) half As[BM][BK];
    __shared__ __align__(128) half Bs[BK][BN];

    // All threads together copy this many rows of a tile at a time, 16 bytes each.
    constexpr int THREADS = BM / WM * (BN / WN) * 32, ROWS_A = THREADS / (BK / 8), ROWS_B = THREADS / (BN / 8);
    unsigned thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    unsigned wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
    float sum[WM / 16][WN / 8][4] = {};

    for (int t = 0; t < K; t += BK) {
        const uint4 zeros = make_uint4(0, 0, 0, 0);
        #pragma unroll
        for (int s = 0; s < BM / ROWS_A; s++) {
            int i = s * ROWS_A + thread / (BK / 8), piece = thread % (BK / 8), k = t + piece * 8;
            bool inside = row0 + i < M && k < K;
            *(uint4 *)&As[i][place<BK>(i, piece)] = inside ? *(const uint4 *)&A[(size_t)(row0 + i) * K + k] : zeros;
        }
        #pragma unroll
        for (int s = 0; s < BK / ROWS_B; s++) {
            int k = s * ROWS_B + thread / (BN / 8), piece = thread % (BN / 8), j = col0 + piece * 8;
            bool inside = t + k < K && j < N;
            *(uint4 *)&Bs[k][place<BN>(k, piece)] = inside ? *(const uint4 *)&B[(size_t)(t + k) * N + j] : zeros;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k += 16) {
            // A lane names one of the 16 rows of 16 x 16 elements, and its left or right half: four matrices of 8 x 8.
            // Lanes 0 to 15 name the left halves of rows 0 to 15, lanes 16 to 31 the right ones; of each matrix a lane then
            // has row l / 4, columns l % 4 * 2 and the next one (transposed: rows and columns exchanged), as mma wants it.
            unsigned r = lane % 16, side = lane / 16;
            unsigned a[WM / 16][4];
            #pragma unroll
            for (int i = 0; i < WM / 16; i++)
                ldmatrix_x4(a[i], &As[wm + 16 * i + r][place<BK>(wm + 16 * i + r, k / 8 + side)]);
            #pragma unroll
            for (int j = 0; j < WN / 8; j += 2) {
                // mma wants B by columns, and it lies by rows: ldmatrix transposes on the way.
                unsigned b[4];
                ldmatrix_x4_trans(b, &Bs[k + r][place<BN>(k + r, wn / 8 + j + side)]);
                const unsigned left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
                #pragma unroll
                for (int i = 0; i < WM / 16; i++) {
                    mma_m16n8k16_f32_f16(sum[i][j], a[i], left, sum[i][j]);
                    mma_m16n8k16_f32_f16(sum[i][j + 1], a[i], right, sum[i][j + 1]);
                }
            }
        }
        __syncthreads();
    }
    // Of each 16 x 8 sums of an mma, lane l has columns l % 4 * 2 and the next one: of row l / 4 in sum[..][0] and [1],
    // of row l / 4 + 8 in [2] and [3]. Here i counts the halves of 8 rows.
    #pragma unroll
    for (int i = 0; i < WM / 8; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 8; j++) {
            int row = row0 + wm + 8 * i + lane / 4, col = col0 + wn + 8 * j + lane % 4 * 2, h = i % 2 * 2;
            if (row < M && col < N)
                *(float2 *)&C[(size_t)row * N + col] = make_float2(sum[i / 2][j][h], sum[i / 2][j][h + 1]);
        }
    }
}

// ---gemmviz breaks
// [no-swizzle]
// title = "Without the swizzle"
// find = "return (piece ^ row / (8 / TURNS) % TURNS) * 8;"
// replace = "return piece * 8;"
// expect = "bank conflicts"
//
// [swizzle-one-side]
// title = "With the swizzle of A left out where it is written"
// find = "As[i][place<BK>(i, piece)]"
// replace = "As[i][piece * 8]"
// expect = "wrong result"
// at = [64, 64, 64]
//
// [no-transpose]
// title = "With B not transposed on the way"
// find = "ldmatrix_x4_trans"
// replace = "ldmatrix_x4"
// expect = "wrong result"
// at = [64, 64, 64]
//
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
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "row0 + i < M && k < K;"
// replace = "true;"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + k < K && j < N;"
// replace = "true;"
// expect = "out of bounds"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
// ---
