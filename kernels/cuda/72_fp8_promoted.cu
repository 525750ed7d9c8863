// ---gemmviz
// version    = 2
// title      = "FP8, sums of two levels"
// idea       = "After 128 products each sum leaves the tensor cores and is added to one in single precision, so that its error stays small for any K. A tile has two halves: one is added while the tensor cores work on the other."
// entry      = "fp8_promoted<BN, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K", "alpha"]
// params     = { BN = [192, 128], STAGES = [4, 3, 5, 6, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// demo       = { size = [128, 256, 512], params = { BN = 128, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [1, 0], stop = { line = "multiply<HALF>(sum", array = "Bs" }, lens = "pipeline" }
// dtype      = "float8_e4m3fn"
// accumulate = "float32"
// math       = "promoted"
// layout     = { B = "column" }
// capability = "9.0a"
// maps.A     = { box = [128, 128], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 128], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / (128 * CLUSTER)) * ceil(N / BN) * CLUSTER)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (128 + BN) * 128 + 32768"
// requires   = [
//   "N % 4 == 0", "K % 16 == 0", "BN == 128 or BN == 192", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "STAGES * (128 + BN) * 128 + 32768 <= 231424"
// ]
// ---
// New here: sums of two levels, in two halves. multiply is that of rung 71, load and the tiles are those of rung 69,
// share, the flags and store those of rung 67.
#include <cuda_fp8.h>
#include <gemmviz/cluster_parts.h>
#include <gemmviz/fp8_multiply.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Adds the sums of a half to those of single precision, when their products have arrived.
template <int COUNT> __device__ __forceinline__ void add(float *total, float (&sum)[COUNT])
{
    wgmma_ready(sum);
    #pragma unroll
    for (int i = 0; i < COUNT; i++)
        total[i] += sum[i];
}

// C = alpha A B: alpha is the product of the scales of A and B. The tensor cores add up 128 products in `sum`; each such sum is
// added to `total`, in single precision.
template <int BN, int STAGES, int GROUP, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
fp8_promoted(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, int M, int N, int K, float alpha)
{
    enum { HALF = BN / 2 };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles_along_k<__nv_fp8_e4m3, 128, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + 128 * CLUSTER - 1) / (128 * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    begin(full, empty, 2 * CLUSTER, A, B, C);
    share<GROUP> work(down, across, (K + 127) / 128, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                load<CLUSTER>(tile, p, rank, at, full, empty, A, B);
        }
    } else {
        registers_up<232>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        bool sends = threadIdx.x % 128 == 0, to_tell = false;
        operand a = along_k(tile.a[0][64 * group]), b = along_k(tile.b[0]);
        float sum[2][HALF / 2], total[BN / 2];
        ring<STAGES> before;
        returned_stages<CLUSTER, STAGES> give_back = {empty, before};
        // Starts the products of a half of the stage `at`.
        auto start = [&](int half) {
            wgmma_begin();
            #pragma unroll
            for (int k = 0; k < 128; k += 32)
                multiply<HALF>(sum[half], a + (at.stage * sizeof(tile.a[0]) + k),
                               b + (at.stage * sizeof(tile.b[0]) + half * HALF * sizeof(tile.b[0][0]) + k), k);
            wgmma_commit();
        };
        for (; any; any = work.next(p)) {
            #pragma unroll
            for (int i = 0; i < BN / 2; i++)
                total[i] = 0;
            // While the tensor cores work on one half, the other one is added. Of two stages only the last half waits.
            int t = p.from;
            for (; t + 1 < p.to; t += 2) {
                barrier_wait(full[at.stage], at.parity);
                start(0);
                start(1);
                wgmma_wait<1>();
                add(total, sum[0]);
                at.next();
                barrier_wait(full[at.stage], at.parity);
                start(0);
                wgmma_wait<1>();
                give_back();
                add(total + HALF / 2, sum[1]);
                start(1);
                wgmma_wait<1>();
                add(total, sum[0]);
                at.next();
                wgmma_wait<0>();
                give_back();
                add(total + HALF / 2, sum[1]);
            }
            if (t < p.to) {
                barrier_wait(full[at.stage], at.parity);
                start(0);
                start(1);
                wgmma_wait<1>();
                add(total, sum[0]);
                at.next();
                wgmma_wait<0>();
                give_back();
                add(total + HALF / 2, sum[1]);
            }
            #pragma unroll
            for (int i = 0; i < BN / 2; i++)
                total[i] *= alpha;
            // The store of the last piece has arrived by now: setting its flag costs no wait.
            if (sends && to_tell)
                tell(group);
            if (sends && p.from > 0)
                wait_for_first_part<CLUSTER>(group);
            store<BN>(C, (p.row * CLUSTER + rank) * 128 + group * 64, p.col * BN, total, tile.c[group], p.from > 0);
            to_tell = p.to < work.steps;
        }
        if (sends && to_tell)
            tell(group);
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
    leave<CLUSTER>();
}

// ---gemmviz breaks
// [never-added]
// title = "With the last 128 products only"
// find = "total[i] += sum[i];"
// replace = "total[i] = sum[i];"
// expect = "wrong result"
// at = [64, 64, 256]
// set = { BN = 128, STAGES = 2, CLUSTER = 1 }
//
// [given-back-too-early]
// title = "With sums added before their products are waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = "wrong result"
// at = [64, 64, 256]
// set = { BN = 128, STAGES = 2, CLUSTER = 1 }
// ---
