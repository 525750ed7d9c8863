// ---gemmviz
// version    = 7
// title      = "FP8, warpgroups in turns"
// idea       = "The products of a tile of 8-bit floats take half the time, its store takes as long as before. So each warpgroup has tiles of its own, in turns: while one stores its sums, the other one has the tensor cores."
// entry      = "fp8_in_turns<BN, STAGES, GROUP, CLUSTER, SPLIT>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K", "alpha"]
// params     = { BN = [192, 160, 128, 64], STAGES = [4, 5, 6, 8, 3, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1], SPLIT = [1, 2, 4, 8] }
// schedule.sets  = [
//   { BN = 192, STAGES = 4, CLUSTER = 2 }, { BN = 192, STAGES = 4, CLUSTER = 1 }, { BN = 160, STAGES = 5, CLUSTER = 2 }, { BN = 160, STAGES = 5, CLUSTER = 1 },
//   { BN = 128, STAGES = 6, CLUSTER = 2 }, { BN = 128, STAGES = 6, CLUSTER = 1 }, { BN = 64, STAGES = 8, CLUSTER = 2 }, { BN = 64, STAGES = 8, CLUSTER = 1 }
// ]
// schedule.each  = { SPLIT = [1, 2, 4, 8], BLOCKS = ["SMS - SMS % CLUSTER"] }
// schedule.tile  = ["128", "BN"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles  = "ceil(M / (128 * CLUSTER)) * CLUSTER * ceil(N / BN)"
// schedule.names.busy   = "min(1, tiles * SPLIT / SMS)"
// schedule.names.shared = "tiles > SMS and tiles % SMS > 0 and 4 * (tiles % SMS) <= 3 * SMS"
// schedule.names.rounds = "shared * (tiles / SMS + 2 / 25) + (not shared) * ceil(tiles * SPLIT / SMS)"
// schedule.names.step   = "max(4 * BN, (128 + BN / CLUSTER) * 128 / 46 * (3 + busy) / 4) + 20"
// schedule.cost  = "rounds * ceil(ceil(K / 128) / SPLIT) * step + 16 * BN + shared * 4000 + CLUSTER * 2500 + (SPLIT > 1) * (6000 + SPLIT * 16 * BN)"
// demo       = { size = [128, 256, 512], params = { BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [0, 0], stop = { line = "store<BN>(C", array = "Cs", write = true }, lens = "pipeline" }
// dtype      = "float8_e4m3fn"
// accumulate = "float32"
// layout     = { B = "column" }
// capability = "9.0a"
// maps.A     = { box = [128, 128], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 128], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / (128 * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (128 + BN) * 128 + 32768"
// requires   = [
//   "N % 4 == 0", "K % 16 == 0", "BN == 64 or BN == 128 or BN == 160 or BN == 192", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "SPLIT >= 1", "SPLIT <= 16", "SPLIT == 1 or SPLIT <= ceil(K / 128)",
//   "SPLIT == 1 or ceil(M / (128 * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT <= BLOCKS",
//   "STAGES * (128 + BN) * 128 + 32768 <= 231424"
// ]
// ---
// New here: `turn`, and a warpgroup with a whole tile. multiply is that of rung 71, load and the tiles are those of rung 69, share,
// the flags and store those of rung 67.
#include <cuda_fp8.h>
#include <gemmviz/cluster_parts.h>
#include <gemmviz/fp8_multiply.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// C = alpha A B: alpha is the product of the scales of A and B.
template <int BN, int STAGES, int GROUP, int CLUSTER, int SPLIT>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
fp8_in_turns(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, int M, int N, int K, float alpha)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles_along_k<__nv_fp8_e4m3, 128, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES], turn[2];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + 128 * CLUSTER - 1) / (128 * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    if (threadIdx.x == 0) {
        // A stage has one reader in each block: the group whose tile it belongs to. turn[g]: the other group has started
        // its last products.
        barrier_init(turn[0], 1);
        barrier_init(turn[1], 1);
    }
    begin(full, empty, CLUSTER, A, B, C);
    share<GROUP, SPLIT> work(down, across, (K + 127) / 128, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                load<CLUSTER, SPLIT>(tile, p, rank, at, full, empty, A, B);
        }
    } else {
        registers_up<232>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        bool sends = threadIdx.x % 128 == 0;
        operand a = along_k(tile.a[0]), b = along_k(tile.b[0]);
        float sum[2][BN / 2]; // rows 0 to 63 of the tile, and 64 to 127
        unsigned my_turn = group ^ 1;
        for (int number = 0; any; any = work.next(p), number++) {
            int steps = (p.to - p.from + SPLIT - 1) / SPLIT;
            if (number % 2 != group) {
                // The other group's tile.
                at.parity ^= (at.stage + steps) / STAGES % 2;
                at.stage = (at.stage + steps) % STAGES;
                continue;
            }
            ring<STAGES> before = at;
            returned_stages<CLUSTER, STAGES> give_back = {empty, before};
            barrier_wait(turn[group], my_turn);
            my_turn ^= 1;
            for (int t = p.from; t < p.to; t += SPLIT, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 128; k += 32) {
                    #pragma unroll
                    for (int half = 0; half < 2; half++)
                        multiply<BN>(sum[half], a + (at.stage * sizeof(tile.a[0]) + half * 64 * sizeof(tile.a[0][0]) + k),
                                     b + (at.stage * sizeof(tile.b[0]) + k), t > p.from || k);
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            if (sends)
                barrier_arrive(turn[group ^ 1]);
            wgmma_wait<0>();
            give_back();
            #pragma unroll
            for (int i = 0; i < BN; i++)
                sum[i / (BN / 2)][i % (BN / 2)] *= alpha;
            if (sends && p.from > 0)
                wait_for_first_part<CLUSTER>(0);
            #pragma unroll
            for (int half = 0; half < 2; half++)
                store<BN>(C, (p.row * CLUSTER + rank) * 128 + half * 64, p.col * BN, sum[half], tile.c[group], p.from > 0);
            // The other group is multiplying: this wait costs nothing.
            if (sends && (SPLIT > 1 ? p.from < SPLIT - 1 : p.to < work.steps))
                tell(0);
        }
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
    leave<CLUSTER>();
}

// ---gemmviz breaks
// [no-turns]
// title = "Without waiting for the other group's products"
// find = "barrier_wait(turn[group], my_turn);"
// replace = ";"
// expect = ["barrier divergence", "element of C never written"]
// at = [256, 64, 640]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 1 }
// ---
