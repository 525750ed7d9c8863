// ---gemmviz
// version    = 3
// title      = "TF32"
// idea       = "A and B are floats, and the tensor cores use the upper 19 of their 32 bits: half the products of half precision in the same time. wgmma takes such operands along K only, so B lies by columns."
// entry      = "tf32<BM, BN, STAGES, GROUP, CLUSTER, SPLIT>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BM = [128, 192], BN = [256, 192, 128, 96, 64], STAGES = [4, 6, 8, 3, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1], SPLIT = [1, 2, 4, 8] }
// schedule.sets  = [
//   { BM = 128, BN = 256, STAGES = 4, CLUSTER = 2 }, { BM = 128, BN = 256, STAGES = 4, CLUSTER = 1 },
//   { BM = 128, BN = 192, STAGES = 4, CLUSTER = 2 }, { BM = 128, BN = 192, STAGES = 4, CLUSTER = 1 },
//   { BM = 128, BN = 128, STAGES = 6, CLUSTER = 2 }, { BM = 128, BN = 128, STAGES = 6, CLUSTER = 1 },
//   { BM = 128, BN = 96, STAGES = 6, CLUSTER = 2 }, { BM = 128, BN = 96, STAGES = 6, CLUSTER = 1 },
//   { BM = 128, BN = 64, STAGES = 8, CLUSTER = 2 }, { BM = 128, BN = 64, STAGES = 8, CLUSTER = 1 },
//   { BM = 192, BN = 192, STAGES = 3, CLUSTER = 2 }, { BM = 192, BN = 192, STAGES = 3, CLUSTER = 1 },
//   { BM = 192, BN = 128, STAGES = 4, CLUSTER = 2 }, { BM = 192, BN = 128, STAGES = 4, CLUSTER = 1 },
//   { BM = 192, BN = 96, STAGES = 4, CLUSTER = 2 }, { BM = 192, BN = 96, STAGES = 4, CLUSTER = 1 }
// ]
// schedule.each  = { SPLIT = [1, 2, 4, 8], BLOCKS = ["SMS - SMS % CLUSTER"] }
// schedule.tile  = ["BM", "BN"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles  = "ceil(M / (BM * CLUSTER)) * CLUSTER * ceil(N / BN)"
// schedule.names.busy   = "min(1, tiles * SPLIT / SMS)"
// schedule.names.shared = "tiles > SMS and tiles % SMS > 0 and 4 * (tiles % SMS) <= 3 * SMS"
// schedule.names.rounds = "shared * tiles / SMS + (not shared) * ceil(tiles * SPLIT / SMS)"
// schedule.names.step   = "max(BM * BN / 32, (BM + BN / CLUSTER) * 128 / 44 * (3 + busy) / 4) + 45"
// schedule.names.few    = "M <= 64 and (BN < 192 or CLUSTER > 1)"
// schedule.names.meet   = "shared * 4000 + (SPLIT > 1) * SPLIT * BM * BN / 4"
// schedule.cost  = "max(rounds * ceil(ceil(K / 32) / SPLIT) * step + BM * BN / 8, (M + N) * K / 350 / min(1, busy * 5 / 4) * (1 + few / 5)) + meet + CLUSTER * 2000"
// demo       = { size = [128, 128, 192], params = { BM = 128, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, SPLIT = 1 }, block = [1, 0], stop = { line = "multiply<BN>(sum", array = "Bs" }, lens = "pipeline" }
// dtype      = "float32"
// accumulate = "float32"
// math       = "tf32"
// layout     = { B = "column" }
// capability = "9.0a"
// maps.A     = { box = ["BM", 32], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 32], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = ["128 + 2 * BM"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "N % 4 == 0", "K % 4 == 0", "BM == 128 or BM == 192 and BN <= 192",
//   "BN == 64 or BN == 96 or BN == 128 or BN == 192 or BN == 256", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "SPLIT >= 1", "SPLIT <= 16", "SPLIT == 1 or SPLIT <= ceil(K / 32)",
//   "SPLIT == 1 or ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER * SPLIT <= BLOCKS",
//   "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: the instruction, and B's tile, whose rows are columns of B. ring is that of rung 62; share, the flags and store
// are those of rung 67. Where a tile has parts, as in rung 68a, each block adds its sums to C when the one before it has.
#include <gemmviz/cluster_parts.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

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

template <int BM, int BN, int STAGES, int GROUP, int CLUSTER, int SPLIT>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 + 2 * BM, 1)
tf32(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C, int M,
     int N, int K)
{
    // Each block of a cluster copies PART columns of B's tile, for all.
    enum { PART = BN / CLUSTER };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    begin(full, empty, BM / 64 * CLUSTER, A, B, C);
    share<GROUP, SPLIT> work(down, across, (K + 31) / 32, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<BM == 128 ? 40 : 32>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                for (int t = p.from * 32; t < p.to * 32; t += SPLIT * 32, at.next()) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                    tma_load(tile.a[at.stage], A, t, (p.row * CLUSTER + rank) * BM, full[at.stage]);
                    auto &part = tile.b[at.stage][rank * PART];
                    int col = p.col * BN + rank * PART;
                    if (CLUSTER == 1)
                        tma_load(part, B, t, col, full[at.stage]);
                    else
                        tma_load_multicast(part, B, t, col, full[at.stage], (1 << CLUSTER) - 1);
                }
        }
    } else {
        registers_up<BM == 128 ? 232 : 160>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        bool sends = threadIdx.x % 128 == 0, to_tell = false;
        operand a = along_k(tile.a[0][64 * group]), b = along_k(tile.b[0]);
        float sum[BN / 2];
        ring<STAGES> before;
        returned_stages<CLUSTER, STAGES> give_back = {empty, before};
        for (; any; any = work.next(p)) {
            for (int t = p.from; t < p.to; t += SPLIT, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 32; k += 8)
                    multiply<BN>(sum, a + (at.stage * sizeof(tile.a[0]) + k * sizeof(float)),
                                 b + (at.stage * sizeof(tile.b[0]) + k * sizeof(float)), t > p.from || k);
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            wgmma_wait<0>();
            give_back();
            // The store of the last piece has arrived by now: setting its flag costs no wait.
            if (sends && to_tell)
                tell(group);
            if (sends && p.from > 0)
                wait_for_first_part<CLUSTER>(group);
            store<BN>(C, (p.row * CLUSTER + rank) * BM + group * 64, p.col * BN, sum, tile.c[group], p.from > 0);
            to_tell = SPLIT > 1 ? p.from < SPLIT - 1 : p.to < work.steps;
        }
        if (sends && to_tell)
            tell(group);
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
// find = "wait_for_first_part<CLUSTER>(group);"
// replace = ";"
// expect = ["race"]
// at = [384, 64, 64]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 2 }
// ---
