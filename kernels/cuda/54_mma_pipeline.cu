// ---gemmviz
// version    = 2
// title      = "Tensor cores behind a pipeline of copies"
// idea       = "While the tensor cores multiply one tile, the next STAGES - 1 tiles are on their way to shared memory."
// entry      = "mma_pipeline<BM, BN, BK, WM, WN, STAGES, GROUP>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params.BM     = [128, 32, 64, 256]
// params.BN     = [256, 32, 64, 128]
// params.BK     = [64, 32]
// params.WM     = [64, 16, 32]
// params.WN     = [64, 16, 32]
// params.STAGES = [4, 2, 3, 5, 6]
// params.GROUP  = [8, 1, 2, 4, 16]
// demo       = { size = [64, 64, 160], params = { BM = 32, BN = 32, BK = 32, WM = 16, WN = 16, STAGES = 3, GROUP = 2 }, block = [1, 0], thread = [37, 0], stop = { share = 0.32 }, lens = "pipeline" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "8.0"
// block      = ["BM / WM * (BN / WN) * 32"]
// grid       = ["ceil(M / BM) * ceil(N / BN)"]
// shared     = "STAGES * (BM + BN) * BK * 2"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BM % WM == 0", "BN % WN == 0", "WM % 16 == 0", "WN % 16 == 0",
//   "BK == 16 or BK == 32 or BK % 64 == 0", "BN == 16 or BN == 32 or BN % 64 == 0", "STAGES >= 2",
//   "GROUP >= 1", "BM % (BM // WM * (BN // WN) * 32 // (BK // 8)) == 0",
//   "BK % (BM // WM * (BN // WN) * 32 // (BN // 8)) == 0", "STAGES * (BM + BN) * BK * 2 <= 232448"
// ]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Where a tile with rows of COLS halves keeps the 16-byte piece number `piece` of a row: swizzled, no bank conflicts.
template <int COLS> __device__ __forceinline__ unsigned place(unsigned row, unsigned piece)
{
    // A row of 64 halves fills the banks: piece p of row r stands at p ^ r % 8. Of shorter rows 2 or 4 fill them together,
    // and as many have the same turn.
    constexpr unsigned TURNS = COLS < 64 ? COLS / 8 : 8;
    return row * COLS + (piece ^ row / (8 / TURNS) % TURNS) * 8;
}

// Starts the copies of one tile of A and one of B to a stage. What lies outside becomes 0, and so does all behind K.
template <int BM, int BN, int BK, int THREADS>
__device__ __forceinline__ void fetch(half *As, half *Bs, const half *A, const half *B, int M, int N, int K,
                                      int row0, int col0, int t)
{
    // All threads together copy this many rows at a time, 16 bytes each.
    constexpr int ROWS_A = THREADS / (BK / 8), ROWS_B = THREADS / (BN / 8);
    #pragma unroll
    for (int s = 0; s < BM / ROWS_A; s++) {
        int i = s * ROWS_A + threadIdx.x / (BK / 8), piece = threadIdx.x % (BK / 8), k = t + piece * 8;
        bool inside = row0 + i < M && k < K;
        cp_async_cg16_zfill(&As[place<BK>(i, piece)], &A[(size_t)(row0 + i) * K + k], inside ? 16 : 0);
    }
    #pragma unroll
    for (int s = 0; s < BK / ROWS_B; s++) {
        int k = s * ROWS_B + threadIdx.x / (BN / 8), piece = threadIdx.x % (BN / 8), j = col0 + piece * 8;
        bool inside = t + k < K && j < N;
        cp_async_cg16_zfill(&Bs[place<BN>(k, piece)], &B[(size_t)(t + k) * N + j], inside ? 16 : 0);
    }
    cp_async_commit();
}

// What a warp multiplies in one step: 16 columns of its WM rows of A, 16 rows of its WN columns of B.
template <int WM, int WN> struct fragments {
    unsigned a[WM / 16][4], b[WN / 16][4];
};

// Of each 16 x 16 elements a lane names one row, left or right: lanes 0 to 15 the left halves of rows 0 to 15, lanes 16 to 31
// the right ones. Of each 8 x 8 it gets row l / 4, columns l % 4 * 2 and the next (of B, transposed), as mma wants it.
template <int BN, int BK, int WM, int WN>
__device__ __forceinline__ void load(fragments<WM, WN> &f, const half *As, const half *Bs, int wm, int wn, int k)
{
    unsigned r = threadIdx.x % 16, side = threadIdx.x % 32 / 16;
    #pragma unroll
    for (int i = 0; i < WM / 16; i++)
        ldmatrix_x4(f.a[i], &As[place<BK>(wm + 16 * i + r, k / 8 + side)]);
    #pragma unroll
    for (int j = 0; j < WN / 16; j++)
        ldmatrix_x4_trans(f.b[j], &Bs[place<BN>(k + r, wn / 8 + 2 * j + side)]);
}

template <int BM, int BN, int BK, int WM, int WN, int STAGES, int GROUP>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
mma_pipeline(const half *A, const half *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(128) half tiles[];
    half *As = tiles, *Bs = tiles + STAGES * BM * BK;
    constexpr int THREADS = BM / WM * (BN / WN) * 32, SIZE_A = BM * BK, SIZE_B = BK * BN;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
    // Blocks that run at the same time compute a patch of C that is GROUP tiles high: its rows of A and columns of B
    // are few enough to be found in L2.
    unsigned down = (M + BM - 1) / BM, across = (N + BN - 1) / BN;
    unsigned top = blockIdx.x / (GROUP * across) * GROUP, high = min((unsigned)GROUP, down - top);
    unsigned in_band = blockIdx.x % (GROUP * across);
    int row0 = (top + in_band % high) * BM, col0 = in_band / high * BN;
    float sum[WM / 16][WN / 8][4] = {};
    fragments<WM, WN> now, next;

    for (int s = 0; s < STAGES - 1; s++)
        fetch<BM, BN, BK, THREADS>(As + s * SIZE_A, Bs + s * SIZE_B, A, B, M, N, K, row0, col0, s * BK);
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    load<BN, BK>(now, As, Bs, wm, wn, 0);
    int full = 0, empty = STAGES - 1;
    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int k = 0; k < BK; k += 16) {
            // The fragments of the next step are loaded while the tensor cores are busy with these.
            if (k + 16 < BK)
                load<BN, BK>(next, As + full * SIZE_A, Bs + full * SIZE_B, wm, wn, k + 16);
            if (k == 0) {
                fetch<BM, BN, BK, THREADS>(As + empty * SIZE_A, Bs + empty * SIZE_B, A, B, M, N, K, row0, col0,
                                           t + (STAGES - 1) * BK);
                empty = (empty + 1) % STAGES;
            }
            if (k + 16 == BK) {
                // Here the next tile has come, and all warps have read this one: its stage is empty.
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                full = (full + 1) % STAGES;
                load<BN, BK>(next, As + full * SIZE_A, Bs + full * SIZE_B, wm, wn, 0);
            }
            #pragma unroll
            for (int i = 0; i < WM / 16; i++) {
                #pragma unroll
                for (int j = 0; j < WN / 8; j++) {
                    const unsigned b[2] = {now.b[j / 2][j % 2 * 2], now.b[j / 2][j % 2 * 2 + 1]};
                    mma_m16n8k16_f32_f16(sum[i][j], now.a[i], b, sum[i][j]);
                }
            }
            now = next;
        }
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
// [no-wait]
// title = "Without waiting for the copies in the loop"
// find = "cp_async_wait<STAGES - 2>();"
// nth = 2
// replace = ";"
// expect = "read of memory nobody wrote"
// at = [64, 64, 264]
//
// [wait-too-late]
// title = "With one group too many left under way"
// find = "cp_async_wait<STAGES - 2>();"
// nth = 2
// replace = "cp_async_wait<STAGES - 1>();"
// expect = ["read of memory nobody wrote", "race"]
// at = [64, 64, 264]
//
// [no-first-barrier]
// title = "Without the barrier before the loop"
// find = "__syncthreads();"
// expect = "race"
//
// [no-second-barrier]
// title = "Without the barrier in the loop"
// find = "__syncthreads();"
// nth = 2
// expect = "race"
// at = [64, 64, 264]
//
// [no-swizzle]
// title = "Without the swizzle"
// find = "(piece ^ row / (8 / TURNS) % TURNS) * 8;"
// replace = "piece * 8;"
// expect = "bank conflicts"
//
// [no-zero-fill-a]
// title = "With A copied whatever its bounds"
// find = "&A[(size_t)(row0 + i) * K + k], inside ? 16 : 0"
// replace = "&A[(size_t)(row0 + i) * K + k], 16"
// expect = "out of bounds"
//
// [no-zero-fill-b]
// title = "With B copied whatever its bounds"
// find = "&B[(size_t)(t + k) * N + j], inside ? 16 : 0"
// replace = "&B[(size_t)(t + k) * N + j], 16"
// expect = "out of bounds"
//
// [wait-for-all]
// title = "With all copies waited for in each tile step"
// find = "cp_async_wait<STAGES - 2>();"
// nth = 2
// replace = "cp_async_wait_all();"
// expect = "none"
//
// [blocks-by-rows]
// title = "With blocks in the order of C's rows"
// find = "int row0 = (top + in_band % high) * BM, col0 = in_band / high * BN;"
// replace = "int row0 = blockIdx.x / across * BM, col0 = blockIdx.x % across * BN;"
// expect = "none"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
// ---
