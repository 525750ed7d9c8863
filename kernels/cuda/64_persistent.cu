// ---gemmviz
// version    = 2
// title      = "Persistent blocks"
// idea       = "One block per SM computes tile after tile, in an order that helps the L2 cache, and loads the next tile while it stores the sums."
// entry      = "persistent<BN, STAGES, GROUP>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { BN = [256, 128, 64], STAGES = [4, 3, 2], GROUP = [8, 16, 4], BLOCKS = [132, 2] }
// demo       = { size = [256, 256, 384], params = { BN = 128, STAGES = 3, GROUP = 2, BLOCKS = 2 }, block = [1, 0], stop = { share = 0.4 }, lens = "stream-K" }
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
// New here: `tile_at`, and the loop over tiles in both roles. multiply, store and ring are those of rungs 60 to 63.
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

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

// Dynamic shared memory: the tensor cores read rows of 128 bytes, swizzled, so B is in boxes of 64 columns.
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
    if (threadIdx.x == 0)
        ring_init(full, empty, 2);
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
                    multiply<half, BN>(sum, along_k(&tile.a[at.stage][rows][k]),
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
