// ---gemmviz
// version    = 2
// title      = "FP8"
// idea       = "A and B are floats of 8 bits, each matrix with one scale: twice the products of half precision in the same time. The tensor cores keep about 14 bits of each sum."
// entry      = "fp8<BM, BN, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K", "alpha"]
// params     = { BM = [128, 192], BN = [256, 192, 128, 96, 64], STAGES = [4, 6, 8, 3, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// demo       = { size = [128, 128, 256], params = { BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [1, 0], stop = { line = "multiply<BN>(sum", array = "Bs" }, lens = "pipeline" }
// dtype      = "float8_e4m3fn"
// accumulate = "float32"
// layout     = { B = "column" }
// capability = "9.0a"
// maps.A     = { box = ["BM", 128], swizzle = 128 }
// maps.B     = { box = ["BN / CLUSTER", 128], swizzle = 128 }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = ["128 + 2 * BM"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "N % 4 == 0", "K % 16 == 0", "BM == 128 or BM == 192 and BN <= 192",
//   "BN == 64 or BN == 96 or BN == 128 or BN == 192 or BN == 256", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: the instruction, and the scale. ring is that of rung 62; share, the flags and store are those of rung 67; load and
// the tiles are those of rung 69.
#include <cuda_fp8.h>
#include <gemmviz/cluster_parts.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Starts sum = a b, or sum += a b: 64 rows of A, 32 deep, and BN columns of B.
template <int BN> GEMMVIZ_PTX void multiply(float (&sum)[BN / 2], operand a, operand b, int add)
{
    if constexpr (BN == 64)
        wgmma_m64n64k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 96)
        wgmma_m64n96k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 128)
        wgmma_m64n128k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 192)
        wgmma_m64n192k32_f32_e4m3(sum, a, b, add);
    else
        wgmma_m64n256k32_f32_e4m3(sum, a, b, add);
}

// C = alpha A B: alpha is the product of the scales of A and B.
template <int BM, int BN, int STAGES, int GROUP, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 + 2 * BM, 1)
fp8(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C, int M,
    int N, int K, float alpha)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles_along_k<__nv_fp8_e4m3, BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    begin(full, empty, BM / 64 * CLUSTER, A, B, C);
    share<GROUP> work(down, across, (K + 127) / 128, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<BM == 128 ? 40 : 32>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                load<CLUSTER>(tile, p, rank, at, full, empty, A, B);
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
            for (int t = p.from; t < p.to; t++, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 128; k += 32)
                    multiply<BN>(sum, a + (at.stage * sizeof(tile.a[0]) + k), b + (at.stage * sizeof(tile.b[0]) + k),
                                 t > p.from || k);
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            wgmma_wait<0>();
            give_back();
            #pragma unroll
            for (int i = 0; i < BN / 2; i++)
                sum[i] *= alpha;
            // The store of the last piece has arrived by now: setting its flag costs no wait.
            if (sends && to_tell)
                tell(group);
            if (sends && p.from > 0)
                wait_for_first_part<CLUSTER>(group);
            store<BN>(C, (p.row * CLUSTER + rank) * BM + group * 64, p.col * BN, sum, tile.c[group], p.from > 0);
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
// [no-scale]
// title = "Without the scale"
// find = "sum[i] *= alpha;"
// replace = ";"
// expect = ["wrong result"]
// at = [64, 64, 128]
// set = { BN = 64, STAGES = 2, CLUSTER = 1 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 400]
// set = { BN = 128, STAGES = 2 }
// ---
