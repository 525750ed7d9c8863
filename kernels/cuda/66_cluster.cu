// ---gemmviz
// version    = 2
// title      = "Clusters with multicast"
// idea       = "Two blocks, one above the other, need the same columns of B: each loads half of them, for both. With BN = 256 a third less is read from L2, though the time is nearly the same."
// entry      = "cluster<BN, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BN = [256, 128, 64], STAGES = [4, 3, 2], GROUP = [8, 16, 4], BLOCKS = [132, 2], CLUSTER = [2, 1, 4] }
// demo       = { size = [256, 256, 384], params = { BN = 128, STAGES = 2, BLOCKS = 2, CLUSTER = 2 }, block = [0, 0], stop = { line = "tma_load(tile.a[at.stage]", array = "As", write = true, nth = 4, fraction = 0.45 } }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = [128, 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / (128 * CLUSTER)) * ceil(N / BN) * CLUSTER)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (128 + BN) * 128 + 32768"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BN == 64 or BN == 128 or BN == 256", "STAGES >= 2", "GROUP >= 1", "CLUSTER >= 1",
//   "BN % (64 * CLUSTER) == 0", "BLOCKS >= 1", "BLOCKS % CLUSTER == 0", "STAGES * (128 + BN) * 128 <= 197632"
// ]
// ---
// New here: the rank of a block, loads for the whole cluster, and arrivals at the barriers of all its blocks. multiply_tile
// and ring are those of rungs 62 and 63, tile_at is rung 64's, store is rung 65's.
#include <cuda_fp16.h>
#include <gemmviz/box_store.h>
#include <gemmviz/ptx.h>
#include <gemmviz/tile_loop.h>
#include <gemmviz/tile_order.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Dynamic shared memory: the tensor cores read rows of 128 bytes, swizzled, so B is in boxes of 64
// columns. C leaves in boxes of 32 floats, which are 128 bytes too.
template <int BN, int STAGES> struct tiles {
    half a[STAGES][128][64], b[STAGES][BN / 64][64][64];
    float c[2][2][64][32];
};

template <int BN, int STAGES, int GROUP, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
cluster(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
        const __grid_constant__ tensor_map C, int M, int N, int K)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + 128 * CLUSTER - 1) / (128 * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    // Before a part of B is overwritten, the groups of all blocks that have it have read it.
    if (threadIdx.x == 0)
        ring_init(full, empty, 2 * CLUSTER);
    cluster_meet();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (int c = blockIdx.x / CLUSTER; c < down * across; c += gridDim.x / CLUSTER) {
                tile_place to = tile_at<GROUP>(c, down, across);
                for (int t = 0; t < K; t += 64, at.next()) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                    tma_load(tile.a[at.stage], A, t, (to.row * CLUSTER + rank) * 128, full[at.stage]);
                    for (int i = 0; i < BN / 64 / CLUSTER; i++) {
                        int j = rank * (BN / 64 / CLUSTER) + i;
                        tma_load_multicast(tile.b[at.stage][j], B, to.col * BN + 64 * j, t, full[at.stage],
                                           (1 << CLUSTER) - 1);
                    }
                }
            }
        }
    } else {
        registers_up<232>();
        int rows = threadIdx.x / 128 * 64 - 64; // in the tile: the first of this group
        float sum[BN / 2];
        ring<STAGES> before;
        auto give_back = [&] {
            if (threadIdx.x % 128 < CLUSTER)
                barrier_arrive_at(empty[before.stage], threadIdx.x % 128);
            before.next();
        };
        for (int c = blockIdx.x / CLUSTER; c < down * across; c += gridDim.x / CLUSTER) {
            tile_place to = tile_at<GROUP>(c, down, across);
            multiply_tile<BN>(sum, tile, rows, K, at, full, give_back);
            store<BN>(C, (to.row * CLUSTER + rank) * 128 + rows, to.col * BN, sum, tile.c[rows / 64]);
        }
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
    // No block leaves while others copy to its shared memory, or arrive at its barriers.
    cluster_meet();
}

// ---gemmviz breaks
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2, CLUSTER = 1 }
//
// [wrong-parity]
// title = "With the loader waiting for the wrong parity"
// find = "at.parity ^ 1"
// replace = "at.parity"
// expect = ["barrier divergence", "element of C never written"]
//
// [own-barrier]
// title = "With a stage given back to the own block only"
// find = "threadIdx.x % 128 < CLUSTER"
// replace = "threadIdx.x % 128 == rank"
// expect = ["barrier divergence", "element of C never written"]
// at = [256, 128, 200]
// set = { BN = 128, STAGES = 2 }
//
// [own-readers]
// title = "With a stage empty when the groups of one block have read it"
// find = "ring_init(full, empty, 2 * CLUSTER);"
// replace = "ring_init(full, empty, 2);"
// expect = ["barrier divergence", "element of C never written"]
// at = [256, 128, 200]
// set = { BN = 128, STAGES = 2 }
//
// [no-multicast]
// title = "With each part of B copied for the own block only"
// find = "(1 << CLUSTER) - 1"
// replace = "1 << rank"
// expect = ["barrier divergence", "element of C never written"]
// ---
