// ---gemmviz
// version    = 2
// title      = "Persistent blocks"
// idea       = "One block per SM computes tile after tile, in an order that helps the L2 cache, and loads the next tile while it stores the sums."
// entry      = "persistent<BN, STAGES, GROUP>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { BN = [256, 128, 64], STAGES = [4, 3, 2], GROUP = [8, 16, 4], BLOCKS = [132, 2] }
// demo       = { size = [256, 256, 128], params = { BN = 64, STAGES = 3, GROUP = 2, BLOCKS = 4 }, block = [1, 0], stop = { tile = 2 } }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = [128, 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / 128) * ceil(N / BN))"]
// shared     = "STAGES * (128 + BN) * 128"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BN == 64 or BN == 128 or BN == 256", "STAGES >= 2", "GROUP >= 1", "BLOCKS >= 1",
//   "STAGES * (128 + BN) * 128 <= 230400"
// ]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Starts sum = a b, or sum += a b: 64 rows of A, 16 deep, and BN columns of B.
template <int BN> __device__ __forceinline__ void multiply(float (&sum)[BN / 2], operand a, operand b, int add)
{
    if constexpr (BN == 64)
        wgmma_m64n64k16_f32_f16<ACROSS_K>(sum, a, b, add);
    else if constexpr (BN == 128)
        wgmma_m64n128k16_f32_f16<ACROSS_K>(sum, a, b, add);
    else
        wgmma_m64n256k16_f32_f16<ACROSS_K>(sum, a, b, add);
}

// Writes a warpgroup's sums, which begin at (row, col) of C. wgmma gives each of the 4 warps 16 of the 64 rows; lane l of a
// warp has row l / 4 and the row 8 below (h), and of each 8 columns (j) column l % 4 * 2 and the next one.
template <int BN>
__device__ __forceinline__ void store(float *C, int M, int N, int row, int col, const float (&sum)[BN / 2])
{
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    col += threadIdx.x % 4 * 2;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        #pragma unroll
        for (int j = 0; j < BN / 8; j++) {
            if (row + 8 * h < M && col + 8 * j < N)
                *(float2 *)&C[(size_t)(row + 8 * h) * N + col + 8 * j] =
                    make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
        }
    }
}

// Where a thread is in the ring of stages. The parity is that of the phase in which the stage is filled.
template <int STAGES> struct ring {
    int stage = 0;
    unsigned parity = 0;
    __device__ void next()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

struct tile_place {
    int row, col;
};

// The place in C of tile number t: GROUP rows of tiles make a band, which is walked column by column. So the tiles that
// the blocks compute at one time share a few rows of A and columns of B, which are found in L2.
template <int GROUP> __device__ __forceinline__ tile_place tile_at(int t, int down, int across)
{
    int top = t / (GROUP * across) * GROUP, high = min(GROUP, down - top), in_band = t - top * across;
    return {top + in_band % high, in_band / high};
}

// What is in dynamic shared memory: the tensor cores read rows of 128 bytes, swizzled, so B is in boxes of 64 columns.
template <int BN, int STAGES> struct tiles {
    half a[STAGES][128][64], b[STAGES][BN / 64][64][64];
};

template <int BN, int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
persistent(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    int down = (M + 127) / 128, across = (N + BN - 1) / BN;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], 1);
            barrier_init(empty[s], 2);
        }
        barriers_ready();
    }
    __syncthreads();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (int c = blockIdx.x; c < down * across; c += gridDim.x) {
                tile_place to = tile_at<GROUP>(c, down, across);
                for (int t = 0; t < K; t += 64, at.next()) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                    tma_load(tile.a[at.stage], A, t, to.row * 128, full[at.stage]);
                    for (int j = 0; j < BN / 64; j++)
                        tma_load(tile.b[at.stage][j], B, to.col * BN + 64 * j, t, full[at.stage]);
                }
            }
        }
    } else {
        registers_up<232>();
        int rows = threadIdx.x / 128 * 64 - 64; // in the tile: the first of this group
        float sum[BN / 2];
        ring<STAGES> before;
        auto give_back = [&] {
            if (threadIdx.x % 128 == 0)
                barrier_arrive(empty[before.stage]);
            before.next();
        };
        for (int c = blockIdx.x; c < down * across; c += gridDim.x) {
            tile_place to = tile_at<GROUP>(c, down, across);
            for (int t = 0; t < K; t += 64, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 64; k += 16)
                    multiply<BN>(sum, along_k(&tile.a[at.stage][rows][k]),
                                 across_k(tile.b[at.stage][0][k], sizeof(tile.b[0][0])), t || k);
                wgmma_commit();
                wgmma_wait<1>();
                if (t > 0)
                    give_back();
            }
            wgmma_wait<0>();
            give_back();
            store<BN>(C, M, N, to.row * 128 + rows, to.col * BN, sum);
        }
    }
}

// ---gemmviz breaks
// [no-wait-for-full]
// title = "Without waiting for a stage to be full"
// find = "barrier_wait(full[at.stage], at.parity);"
// replace = ";"
// expect = ["barrier divergence", "read of memory nobody wrote"]
//
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [one-tile]
// title = "With one tile for each block"
// expect = ["element of C never written"]
// at = [128, 256, 64]
// set = { BN = 64, BLOCKS = 2 }
// [[one-tile.edits]]
// find = "c += gridDim.x"
// replace = "c += down * across"
// [[one-tile.edits]]
// find = "c += gridDim.x"
// nth = 2
// replace = "c += down * across"
//
// [row-by-row]
// title = "With tiles taken row by row"
// find = "return {top + in_band % high, in_band / high};"
// replace = "return {t / across, t % across};"
// expect = "none"
// ---
