// ---gemmviz
// version    = 2
// title      = "The copy engine stores C"
// idea       = "The copy engine stores whole boxes of C, while the warpgroup that computed them goes on."
// entry      = "tma_store_tiles<BN, STAGES, GROUP>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BN = [256, 128, 64], STAGES = [4, 3, 2], GROUP = [8, 16, 4], BLOCKS = [132, 2] }
// demo       = { size = [256, 256, 320], params = { BN = 128, STAGES = 3, BLOCKS = 2 }, block = [1, 0], stop = { line = "tma_store(C, col + part, row", array = "Cs", nth = 2, fraction = 0.58 } }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = [128, 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / 128) * ceil(N / BN))"]
// shared     = "STAGES * (128 + BN) * 128 + 32768"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BN == 64 or BN == 128 or BN == 256", "STAGES >= 2", "GROUP >= 1", "BLOCKS >= 1",
//   "STAGES * (128 + BN) * 128 <= 197632"
// ]
// ---
// New here: `store`, which hands boxes to the copy engine. The loops over the stages of a tile are those of rungs 62 and
// 63, tile_at is rung 64's.
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
#include <gemmviz/tile_loop.h>
#include <gemmviz/tile_order.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Sends a warpgroup's sums, which begin at (row, col) of C, through the group's two boxes of 64 rows and 32 columns.
// Of the 64 rows each of the 4 warps has 16; lane l of a warp has row l / 4 (r is that row of the box) and the row 8 below
// (h), and of each 8 columns (j) column l % 4 * 2 and the next one.
template <int BN>
__device__ __forceinline__ void store(const tensor_map &C, int row, int col, const float (&sum)[BN / 2],
                                      float (*box)[64][32])
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 64) {
        // The copy engine has to have read the boxes.
        if (sends)
            tma_store_wait<0>();
        threads_meet(group, 128);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                // Swizzled: the 4 columns of piece p of row r stand at piece p ^ (r % 8), as the tensor map says. Odd rows take
                // their columns in another order: without that, two rows would meet in a bank.
                const float *even = &sum[part / 2 + 4 * j + 2 * h], *odd = &sum[part / 2 + 4 * (j ^ 2) + 2 * h];
                int column = (r % 2 ? j ^ 2 : j) * 8 + threadIdx.x % 4 * 2, piece = column % 32 / 4 ^ r % 8;
                *(float2 *)&box[column / 32][r + 8 * h][piece * 4 + column % 4] =
                    make_float2(r % 2 ? odd[0] : even[0], r % 2 ? odd[1] : even[1]);
            }
        }
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            tma_store(C, col + part, row, box[0]);
            tma_store(C, col + part + 32, row, box[1]);
            tma_store_commit();
        }
    }
}

// Dynamic shared memory: the tensor cores read rows of 128 bytes, swizzled, so B is in boxes of 64
// columns. C leaves in boxes of 32 floats, which are 128 bytes too.
template <int BN, int STAGES> struct tiles {
    half a[STAGES][128][64], b[STAGES][BN / 64][64][64];
    float c[2][2][64][32];
};

template <int BN, int STAGES, int GROUP>
__global__ void __launch_bounds__(384, 1)
tma_store_tiles(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
                const __grid_constant__ tensor_map C, int M, int N, int K)
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
                load_tile<BN>(tile, to, K, at, full, empty, A, B);
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
            multiply_tile<BN>(sum, tile, rows, K, at, full, give_back);
            store<BN>(C, to.row * 128 + rows, to.col * BN, sum, tile.c[rows / 64]);
        }
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
}

// ---gemmviz breaks
// [no-wait-for-store]
// title = "Without waiting until the boxes have been read"
// find = "tma_store_wait<0>();"
// replace = ";"
// expect = ["race"]
//
// [no-meeting]
// title = "Without the meeting before the boxes are sent"
// find = "threads_meet(group, 128);"
// nth = 2
// replace = ";"
// expect = ["race"]
//
// [no-first-meeting]
// title = "Without the meeting before the boxes are filled"
// find = "threads_meet(group, 128);"
// replace = ";"
// expect = ["race"]
//
// [no-swizzle]
// title = "Without the swizzle of C"
// find = "piece = column % 32 / 4 ^ r % 8;"
// replace = "piece = column % 32 / 4;"
// expect = ["wrong result"]
//
// [same-order]
// title = "With the columns of all rows in the same order"
// expect = "bank conflicts"
// [[same-order.edits]]
// find = "r % 2"
// replace = "0"
// [[same-order.edits]]
// find = "r % 2"
// nth = 2
// replace = "0"
// [[same-order.edits]]
// find = "r % 2"
// nth = 3
// replace = "0"
// ---
