// ---gemmviz
// version    = 8
// title      = "TF32"
// idea       = "A and B are floats, and the tensor cores use the upper 19 of their 32 bits: half the products of half precision in the same time. wgmma takes such operands along K only, so B lies by columns."
// entry      = "tf32<BM, BN, STAGES, GROUP, CLUSTER, SPLIT, TURNS>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BM = [128, 192, 64], BN = [256, 192, 128, 96, 64], STAGES = [4, 6, 8, 3, 9, 12, 2], GROUP = [8, 4, 16], BLOCKS = [132, 4, 2], CLUSTER = [2, 1], SPLIT = [1, 2, 4, 8], TURNS = [1, 2] }
// schedule.sets  = [
//   { BM = 128, BN = 256, STAGES = 4, CLUSTER = 2 }, { BM = 128, BN = 256, STAGES = 4, CLUSTER = 1 },
//   { BM = 128, BN = 192, STAGES = 4, CLUSTER = 2 }, { BM = 128, BN = 192, STAGES = 4, CLUSTER = 1 },
//   { BM = 128, BN = 128, STAGES = 6, CLUSTER = 2 }, { BM = 128, BN = 128, STAGES = 6, CLUSTER = 1 },
//   { BM = 128, BN = 96, STAGES = 6, CLUSTER = 2 }, { BM = 128, BN = 96, STAGES = 6, CLUSTER = 1 },
//   { BM = 128, BN = 64, STAGES = 8, CLUSTER = 2 }, { BM = 128, BN = 64, STAGES = 8, CLUSTER = 1 },
//   { BM = 64, BN = 128, STAGES = 8, CLUSTER = 1 }, { BM = 64, BN = 96, STAGES = 9, CLUSTER = 1 }, { BM = 64, BN = 64, STAGES = 12, CLUSTER = 1 },
//   { BM = 128, BN = 128, STAGES = 6, CLUSTER = 1, TURNS = 2 }, { BM = 128, BN = 128, STAGES = 6, CLUSTER = 2, TURNS = 2 },
//   { BM = 128, BN = 192, STAGES = 4, CLUSTER = 1, TURNS = 2 }, { BM = 128, BN = 192, STAGES = 4, CLUSTER = 2, TURNS = 2 }
// ]
// schedule.each  = { SPLIT = [1, 2, 4, 8], BLOCKS = ["SMS - SMS % CLUSTER"], GROUP = ["8 + 8 * (TURNS == 2 and BN == 192 and CLUSTER == 1 and M * N > 60000000)"] }
// schedule.tile  = ["BM", "BN"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles  = "ceil(M / (BM * CLUSTER)) * CLUSTER * ceil(N / BN)"
// schedule.names.busy   = "min(1, tiles * SPLIT / SMS)"
// schedule.names.shared = "tiles > SMS and tiles % SMS > 0 and 4 * (tiles % SMS) <= 3 * SMS"
// schedule.names.rounds = "shared * tiles / SMS + (not shared) * ceil(tiles * SPLIT / SMS)"
// schedule.names.large  = "M * N > 35000000 and K >= 2048"
// schedule.names.step   = "max(BM * BN / 32, (BM + BN / CLUSTER) * 128 / 44 * (3 + busy) / 4) + 60 + 40 * (BM > BN) + 30 * (large and K >= 4096)"
// schedule.names.few    = "M <= 64 and (BN < 128 or BM > 64 or CLUSTER > 1)"
// schedule.names.meet   = "shared * 6000 + (SPLIT > 1) * SPLIT * BM * BN / 3"
// schedule.names.memory = "(M + N) * K / 350 / min(1, busy * 5 / 4) * (1 + few * 2 / 5)"
// schedule.names.at_once   = "max(rounds * (ceil(ceil(K / 32) / SPLIT) * step + BM * BN / 8), memory) + meet + CLUSTER * 2000"
// schedule.names.never     = "tiles <= SMS"
// schedule.names.tall      = "M > 2 * N and N <= 10 * BN"
// schedule.names.turn_step = "max(4 * BN, 2 * (BM + BN / CLUSTER)) + 27 + 5 * CLUSTER + 7 * tall + 250 * (CLUSTER == 1 and M <= 256) + 40 * (BN == 128 and large) + 10 * (CLUSTER == 1 and large and M * N < 60000000)"
// schedule.names.turn_tile = "ceil(K / 32) * turn_step + 1050"
// schedule.names.turn_c    = "BM * BN / 5"
// schedule.names.turn_meet = "shared * (800 + BM * BN * 17 / 50 + 4400 * (rounds < 2) + 40 * (CLUSTER == 1 and BN == 128 and rounds < 3 and 2 * rounds > 3) * ceil(K / 32))"
// schedule.names.in_turns  = "rounds * max(turn_tile, (turn_tile + turn_c) / 2) + turn_c / 2 + turn_meet + 200 + never * 1000000000"
// schedule.cost  = "(TURNS == 1) * at_once + (TURNS == 2) * in_turns * 103 / 100"
// demo       = { size = [128, 128, 192], params = { BM = 128, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, SPLIT = 1, TURNS = 1 }, block = [1, 0], stop = { line = "multiply<BN>(sum", array = "Bs" }, lens = "pipeline" }
// dtype      = "float32"
// accumulate = "float32"
// math       = "tf32"
// layout     = { B = "column" }
// constants  = { CLUSTERED = "CLUSTER > 1" }
// capability = "9.0a"
// maps.A     = { box = ["BM", 32], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 32], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = ["128 + 2 * BM"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "N % 4 == 0", "K % 4 == 0", "BM == 64 or BM == 128 or BM == 192 and BN <= 192",
//   "BN == 64 or BN == 96 or BN == 128 or BN == 192 or BN == 256", "STAGES >= 2", "STAGES <= 32", "GROUP >= 1",
//   "TURNS == 1 or TURNS == 2 and BM == 128 and BN <= 192 and SPLIT == 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "SPLIT >= 1", "SPLIT <= 16", "SPLIT == 1 or SPLIT <= ceil(K / 32)",
//   "SPLIT == 1 or ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT <= BLOCKS",
//   "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: the instruction, and B's tile, whose rows are columns of B. ring is that of rung 62; share, the flags and store
// are those of rung 67; the turns, the policies and the early copies those of rung 68a. Where a tile has parts, each block adds
// its sums to C when the one before it has.
#include <gemmviz/cluster_parts.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
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

// Starts sum = a b, or sum += a b: 64 rows of A, 8 deep, and BN columns of B. The tensor cores leave out the 13 lower bits of
// each float.
template <int BN> GEMMVIZ_PTX void multiply(float (&sum)[BN / 2], operand a, operand b, int add)
{
    if constexpr (BN == 64)
        wgmma_m64n64k8_f32_tf32(sum, a, b, add);
    else if constexpr (BN == 96)
        wgmma_m64n96k8_f32_tf32(sum, a, b, add);
    else if constexpr (BN == 128)
        wgmma_m64n128k8_f32_tf32(sum, a, b, add);
    else if constexpr (BN == 192)
        wgmma_m64n192k8_f32_tf32(sum, a, b, add);
    else
        wgmma_m64n256k8_f32_tf32(sum, a, b, add);
}

// Dynamic shared memory. A row has 32 floats of K, which are the 128 bytes that the tensor cores read swizzled: those of a row
// of A, or of a column of B. C leaves in boxes of 32 floats.
template <int BM, int BN, int STAGES> struct tiles {
    float a[STAGES][BM][32], b[STAGES][BN][32];
    float c[BM / 64][2][64][32];
};

enum { LARGE = 32 << 20 }; // elements of C: 128 MiB

template <int BM, int BN, int STAGES, int GROUP, int CLUSTER, int SPLIT, int TURNS>
__global__ void IN_CLUSTERS __launch_bounds__(128 + 2 * BM, 1)
tf32(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C, int M,
     int N, int K)
{
    // Each block of a cluster copies PART columns of B's tile, for all. READERS: how many warpgroups read a stage. HALVES: how
    // many times 64 rows of a tile a warpgroup has.
    enum { PART = BN / CLUSTER, GROUPS = BM / 64, READERS = GROUPS / TURNS, HALVES = TURNS };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES], turn[2];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    if (TURNS == 2 && threadIdx.x == 0) {
        // turn[g]: the other group has started its last products.
        barrier_init(turn[0], 1);
        barrier_init(turn[1], 1);
    }
    begin(full, empty, READERS * CLUSTER, A, B, C);
    // As in rung 68a: elements that a few clusters read at about the same time need not stay in L2. A large C would not stay
    // there until another kernel reads it: so its lines leave first, too.
    int few = SPLIT > 1 ? down * across : K < 2048 ? 1 : 2;
    cache_policy policy_a = across <= few ? evict_first() : evict_unchanged();
    cache_policy policy_b = down <= few ? evict_first() : evict_unchanged();
    cache_policy policy_c = (long long)M * N > LARGE ? evict_first() : evict_unchanged();
    share<GROUP, SPLIT> work(down, across, (K + 31) / 32, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
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
    int t = p.from * 32;
    if (CLUSTER > 1)
        cluster_begin();
    else
        __syncthreads();
    if (threadIdx.x == 0 && any) { // the first stages are empty
        #pragma unroll 1
        for (int s = 0; s < STAGES && t < p.to * 32; s++, t += SPLIT * 32)
            load(t);
    }

    if (threadIdx.x < 128) {
        if (GROUPS > 1)
            registers_down<BM == 128 ? 40 : 32>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p), t = p.from * 32) {
                #pragma unroll 1
                for (; t < p.to * 32; t += SPLIT * 32) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    load(t);
                }
            }
        }
    } else {
        if (GROUPS > 1)
            registers_up<BM == 128 ? 232 : 160>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        int first_half = TURNS == 2 ? 0 : group; // the number of this group's first 64 rows
        bool sends = threadIdx.x % 128 == 0;
        operand a = along_k(tile.a[0][64 * first_half]), b = along_k(tile.b[0]);
        float sum[HALVES][BN / 2]; // of each 64 rows
        ring<STAGES> at;
        unsigned my_turn = group ^ 1;
        for (int number = 0; any; any = work.next(p), number++) {
            if (TURNS == 2 && number % 2 != group) { // the other group's tile
                int steps = p.to - p.from;
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
                for (int k = 0; k < 32; k += 8) {
                    #pragma unroll
                    for (int half = 0; half < HALVES; half++)
                        multiply<BN>(sum[half],
                                     a + (at.stage * sizeof(tile.a[0]) + half * 64 * sizeof(tile.a[0][0]) + k * sizeof(float)),
                                     b + (at.stage * sizeof(tile.b[0]) + k * sizeof(float)), t > p.from || k);
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
            bool add = p.from > 0;
            if (sends && add)
                wait_for_first_part<CLUSTER>(first_half);
            #pragma unroll
            for (int half = 0; half < HALVES; half++)
                store<BN>(C, (p.row * CLUSTER + rank) * BM + (first_half + half) * 64, p.col * BN, sum[half], tile.c[group], add,
                          policy_c);
            if (sends && (SPLIT > 1 ? p.from < SPLIT - 1 : p.to < work.steps))
                tell(first_half);
        }
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
    leave<CLUSTER>();
}

// ---gemmviz breaks
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 100]
// set = { BN = 64, STAGES = 2, CLUSTER = 1 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 100]
// set = { BN = 128, STAGES = 2 }
//
// [added-too-early]
// title = "Without waiting for the first part of a tile"
// find = "wait_for_first_part<CLUSTER>(first_half);"
// replace = ";"
// expect = ["race"]
// at = [384, 64, 64]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 2 }
//
// [no-turns]
// title = "Without waiting for the other group's products"
// find = "barrier_wait(turn[group], my_turn);"
// replace = ";"
// expect = ["barrier divergence", "element of C never written"]
// at = [256, 64, 160]
// set = { BM = 128, BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 1, TURNS = 2 }
// ---
