// ---gemmviz
// version    = 8
// title      = "FP8, warpgroups in turns"
// idea       = "The products of a tile of 8-bit floats take half the time, its store takes as long as before. So each warpgroup has tiles of its own, in turns: while one stores its sums, the other one has the tensor cores."
// entry      = "fp8_in_turns<BM, BN, STAGES, GROUP, CLUSTER, SPLIT, TURNS>"
// args       = ["M", "N", "K", "A.map", "B.map", "C.map", "alpha"]
// params     = { BM = [128, 64], BN = [192, 160, 128, 256, 64], STAGES = [4, 5, 6, 8, 12, 3, 2], GROUP = [8, 4, 2, 16], BLOCKS = [132, 4, 2], CLUSTER = [2, 1], SPLIT = [1, 2, 4, 8, 16], TURNS = [2, 1] }
// schedule.sets  = [
//   { BM = 128, BN = 192, STAGES = 4, CLUSTER = 2, TURNS = 2 }, { BM = 128, BN = 192, STAGES = 4, CLUSTER = 1, TURNS = 2 },
//   { BM = 128, BN = 160, STAGES = 5, CLUSTER = 2, TURNS = 2 },
//   { BM = 128, BN = 128, STAGES = 6, CLUSTER = 2, TURNS = 2 }, { BM = 128, BN = 128, STAGES = 6, CLUSTER = 1, TURNS = 2 },
//   { BM = 128, BN = 256, STAGES = 4, CLUSTER = 1, TURNS = 1 }, { BM = 128, BN = 160, STAGES = 5, CLUSTER = 1, TURNS = 1 },
//   { BM = 128, BN = 128, STAGES = 6, CLUSTER = 1, TURNS = 1 }, { BM = 128, BN = 64, STAGES = 8, CLUSTER = 1, TURNS = 1 },
//   { BM = 64, BN = 128, STAGES = 8, CLUSTER = 1, TURNS = 1 }, { BM = 64, BN = 64, STAGES = 12, CLUSTER = 1, TURNS = 1 }
// ]
// schedule.each  = { SPLIT = [1, 2, 4, 8], BLOCKS = ["SMS - SMS % CLUSTER"], GROUP = ["8 - 6 * (K <= 2048 and M * N > 60000000 or N <= M and N <= 3072) - 4 * (N <= M and N > 3072 and N <= 4096 and K >= 2048 and K <= 8192)"] }
// schedule.tile  = ["BM", "BN"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles  = "ceil(M / (BM * CLUSTER)) * CLUSTER * ceil(N / BN)"
// schedule.names.busy   = "min(1, tiles * SPLIT / SMS)"
// schedule.names.shared = "SPLIT == 1 and tiles > SMS and tiles % SMS > 0 and 4 * (tiles % SMS) <= 3 * SMS"
// schedule.names.rounds = "shared * tiles / SMS + (not shared) * ceil(tiles * SPLIT / SMS)"
// schedule.names.slow   = "(TURNS == 1 and rounds > 1) * BM * BN / 200 + 20 * (TURNS == 1 and BM > BN and K > 2048)"
// schedule.names.best   = "CLUSTER == 2 and BN == 160 + 32 * (M * N > 60000000) - 64 * (M * N > 130000000)"
// schedule.names.wide   = "24 * (M * N > 25000000 and K >= 4096 and not best) + 60 * (M * N > 130000000 and K <= 1024 and BN != 128)"
// schedule.names.step   = "max(BM * BN / 32, (BM + BN / CLUSTER) * 2 * (3 + busy) / 4) + slow + wide + 6"
// schedule.names.store  = "BM * BN / 16 + 150 * (BN == 256)"
// schedule.names.thin   = "(M < 64 and BN < 128) + 2 * (M <= 64 and BM > 64)"
// schedule.names.meet   = "(SPLIT > 1) * (1500 + SPLIT * BM * BN / 10) + shared * 6000 * (3 - TURNS) + (TURNS == 2 and tiles <= SMS) * 3000"
// schedule.cost  = "max(rounds * (ceil(ceil(K / 128) / SPLIT) * step + store), (M + N) * K / 2000 / busy * (1 + thin / 4)) + meet + CLUSTER * 2200"
// demo       = { size = [128, 256, 512], params = { BM = 128, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, SPLIT = 1, TURNS = 2 }, block = [0, 0], stop = { line = "store<BN>(C", array = "Cs", write = true }, lens = "pipeline" }
// dtype      = "float8_e4m3fn"
// accumulate = "float32"
// layout     = { B = "column" }
// constants  = { CLUSTERED = "CLUSTER > 1" }
// capability = "9.0a"
// maps.A     = { box = ["BM", 128], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 128], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = ["128 + max(2 * BM, 128 * TURNS)"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "N % 4 == 0", "K % 16 == 0", "BM == 128 or BM == 64 and TURNS == 1", "TURNS == 1 or TURNS == 2",
//   "BN == 64 or BN == 128 or BN == 160 or BN == 192 or BN == 256 and TURNS == 1", "STAGES >= 2", "STAGES <= 32", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "SPLIT >= 1", "SPLIT <= 64", "SPLIT == 1 or TURNS == 1 and SPLIT <= ceil(K / 128)",
//   "SPLIT == 1 or ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT <= BLOCKS",
//   "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: `turn`, and a warpgroup with a whole tile. multiply is that of rung 71, the tiles are those of rung 69, share, the
// flags and store those of rung 67, the parts of a tile and the early copies those of rung 68a.
#include <cuda_fp8.h>
#include <gemmviz/cluster_parts.h>
#include <gemmviz/fp8_multiply.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/tile_parts.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Whether blocks are in clusters (the value here is replaced), as in rung 68a.
#define CLUSTERED 1
#if CLUSTERED
#define IN_CLUSTERS __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTERS
#endif

enum { LARGE = 32 << 20 }; // elements of C: 128 MiB
// The sums of a part of a tile that another block finishes.
__device__ float4 unfinished[MOST_BLOCKS][128 * 256 / 4];

// C = alpha A B: alpha is the product of the scales of A and B. With TURNS = 2 the two warpgroups have whole tiles, in turns. With
// TURNS = 1 each has 64 rows of every tile: so a block with one tile, or with one part of a tile, stores it in half the time.
template <int BM, int BN, int STAGES, int GROUP, int CLUSTER, int SPLIT, int TURNS>
__global__ void IN_CLUSTERS __launch_bounds__(TURNS == 2 ? 384 : 128 + 2 * BM, 1)
fp8_in_turns(int M, int N, int K, const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, float alpha)
{
    // HALVES: how many times 64 rows a warpgroup has. READERS: how many warpgroups read a stage.
    enum { READERS = TURNS == 2 ? 1 : BM / 64, HALVES = BM / 64 / READERS, PART = BN / CLUSTER, MANY = BM == 128 };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles_along_k<__nv_fp8_e4m3, BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES], turn[2];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    if (threadIdx.x == 0) {
        // turn[g]: the other group has started its last products.
        barrier_init(turn[0], 1);
        barrier_init(turn[1], 1);
    }
    begin(full, empty, READERS * CLUSTER, A, B, C);
    // As in rung 68a: elements that a few clusters read at about the same time need not stay in L2.
    int few = SPLIT > 1 ? down * across : K < 4096 ? 1 : 2;
    cache_policy policy_a = across <= few ? evict_first() : evict_unchanged();
    cache_policy policy_b = down <= few ? evict_first() : evict_unchanged();
    // A large C would not stay in L2 until another kernel reads it. So its lines leave first, and A and B stay.
    cache_policy policy_c = (long long)M * N > LARGE ? evict_first() : evict_unchanged();
    share<GROUP, SPLIT> work(down, across, (K + 127) / 128, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    ring<STAGES> at;
    auto load = [&](int t) {
        barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
        tma_load(tile.a[at.stage], A, t, (p.row * CLUSTER + rank) * BM, full[at.stage], policy_a);
        auto &part = tile.b[at.stage][rank * PART];
        int col = p.col * BN + rank * PART;
        if (CLUSTER == 1)
            tma_load(part, B, t, col, full[at.stage], policy_b);
        else
            tma_load_multicast(part, B, t, col, full[at.stage], (1 << CLUSTER) - 1, policy_b);
        at.next();
    };
    int t = p.from * 128;
    if (CLUSTER > 1)
        cluster_begin();
    else
        __syncthreads();
    if (threadIdx.x == 0 && any) { // the first stages are empty
        #pragma unroll 1
        for (int s = 0; s < STAGES && t < p.to * 128; s++, t += SPLIT * 128)
            load(t);
    }

    if (threadIdx.x < 128) {
        if (MANY)
            registers_down<40>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p), t = p.from * 128) {
                #pragma unroll 1
                for (; t < p.to * 128; t += SPLIT * 128) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    load(t);
                }
            }
        }
    } else {
        if (MANY)
            registers_up<232>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        int me = threadIdx.x % 128, first_half = TURNS == 2 ? 0 : group;
        bool sends = me == 0;
        operand a = along_k(tile.a[0][64 * first_half]), b = along_k(tile.b[0]);
        float sum[HALVES][BN / 2]; // of each 64 rows
        ring<STAGES> at;
        unsigned my_turn = group ^ 1;
        for (int number = 0; any; any = work.next(p), number++) {
            if (TURNS == 2 && number % 2 != group) {
                // The other group's tile.
                int steps = (p.to - p.from + SPLIT - 1) / SPLIT;
                at.parity ^= (at.stage + steps) / STAGES % 2;
                at.stage = (at.stage + steps) % STAGES;
                continue;
            }
            ring<STAGES> before = at;
            returned_stages<CLUSTER, STAGES> give_back = {empty, before};
            if (TURNS == 2) {
                barrier_wait(turn[group], my_turn);
                my_turn ^= 1;
            }
            for (int t = p.from; t < p.to; t += SPLIT, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 128; k += 32) {
                    #pragma unroll
                    for (int half = 0; half < HALVES; half++)
                        multiply<BN>(sum[half], a + (at.stage * sizeof(tile.a[0]) + half * 64 * sizeof(tile.a[0][0]) + k),
                                     b + (at.stage * sizeof(tile.b[0]) + k), t > p.from || k);
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            if (TURNS == 2 && sends)
                barrier_arrive(turn[group ^ 1]);
            wgmma_wait<0>();
            give_back();
            if constexpr (SPLIT > 1) {
                int mine = group * 128 + me;
                if (!work.adds_up(p)) { // another cluster finishes this tile
                    keep<128 * READERS>(&unfinished[blockIdx.x][mine], sum[0]);
                    threads_meet(group + 1, 128);
                    if (sends)
                        flag_raise(begun[blockIdx.x][group]);
                    continue;
                }
                if (me < work.others())
                    flag_await(begun[work.other(me) * CLUSTER + rank][group]);
                threads_meet(group + 1, 128);
                #pragma unroll (SPLIT <= 4 ? SPLIT - 1 : 1)
                for (int other = 0; other < work.others(); other++)
                    add_kept<128 * READERS>(sum[0], &unfinished[work.other(other) * CLUSTER + rank][mine]);
            }
            #pragma unroll
            for (int i = 0; i < HALVES * BN / 2; i++)
                sum[i / (BN / 2)][i % (BN / 2)] *= alpha;
            bool add = SPLIT == 1 && p.from > 0;
            if (sends && add)
                wait_for_first_part<CLUSTER>(TURNS == 2 ? 0 : group);
            #pragma unroll
            for (int half = 0; half < HALVES; half++)
                store<BN>(C, (p.row * CLUSTER + rank) * BM + (first_half + half) * 64, p.col * BN, sum[half], tile.c[group], add,
                          policy_c);
            // In turns the other group is multiplying: this wait costs nothing.
            if (SPLIT == 1 && sends && p.to < work.steps)
                tell(TURNS == 2 ? 0 : group);
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
// set = { BM = 128, BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 1, SPLIT = 1, TURNS = 2 }
//
// [a-part-left-out]
// title = "With a part of a tile left out"
// find = "other < work.others(); other++"
// replace = "other < work.others() - 1; other++"
// expect = "wrong result"
// at = [128, 64, 512]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, SPLIT = 2, TURNS = 1, BLOCKS = 2 }
// ---
