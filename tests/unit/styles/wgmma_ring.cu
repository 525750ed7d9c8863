// ---gemmviz
// title      = "A ring of stages: one thread copies boxes, a warpgroup multiplies them"
// entry      = "ring<CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { CLUSTER = [1, 2], STAGES = [3], BLOCKS = [2] }
// block      = ["256"]
// grid       = ["CLUSTER * min(BLOCKS, ceil(M / (64 * CLUSTER)) * ceil(N / 128))"]
// cluster    = ["CLUSTER"]
// maps       = { A = { box = [64, 64], swizzle = 128 }, B = { box = [64, 64], swizzle = 128 }, C = { box = [64, 32], swizzle = 128 } }
// shared     = "STAGES * (64 * 64 + 64 * 128) * 2 + 64 * 128 * 4"
// capability = "9.0a"
// dtype      = "float16"
// accumulate = "float32"
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

constexpr int BM = 64, BN = 128, BK = 64, A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2;

template <int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1)
ring(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C,
     int M, int N, int K)
{
    extern __shared__ __align__(1024) char raw[];
    char *As = raw, *Bs = As + STAGES * A_BYTES, *Cs = Bs + STAGES * B_BYTES;
    __shared__ barrier full[STAGES], empty[STAGES];
    int rank = CLUSTER > 1 ? cluster_rank() : 0, rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER);
    int tiles = rows * ((N + BN - 1) / BN), steps = (K + BK - 1) / BK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], 1);
            barrier_init(empty[s], CLUSTER);
        }
        barriers_ready();
    }
    if (CLUSTER > 1) cluster_meet();
    else __syncthreads();

    int stage = 0;
    unsigned parity = 0;
    if (threadIdx.x == 0) {
        for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += gridDim.x / CLUSTER) {
            int row = (tile % rows * CLUSTER + rank) * BM, col = tile / rows * BN;
            for (int k = 0; k < K; k += BK) {
                barrier_wait(empty[stage], parity ^ 1);
                barrier_arrive_expect(full[stage], A_BYTES + B_BYTES);
                tma_load(As + stage * A_BYTES, A, k, row, full[stage]);
                for (int part = 0; part < 2; part++) {
                    char *to = Bs + stage * B_BYTES + part * BK * 128;
                    if (CLUSTER == 1) tma_load(to, B, col + part * 64, k, full[stage]);
                    else if (part == rank) tma_load_multicast(to, B, col + part * 64, k, full[stage], 3);
                }
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
    } else if (threadIdx.x >= 128) {
        int me = threadIdx.x % 128, r = me / 32 * 16 + me % 32 / 4;
        float sum[BN / 2];
        for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += gridDim.x / CLUSTER) {
            int row = (tile % rows * CLUSTER + rank) * BM, col = tile / rows * BN;
            for (int step = 0; step < steps; step++) {
                barrier_wait(full[stage], parity);
                wgmma_begin();
                for (int k = 0; k < BK; k += 16)
                    wgmma_m64n128k16_f32_f16<ACROSS_K>(sum, along_k(As + stage * A_BYTES + k * 2),
                                                       across_k(Bs + stage * B_BYTES + k * 128, BK * 128), step || k);
                wgmma_commit();
                wgmma_wait<0>();
                if (me < CLUSTER) barrier_arrive_at(empty[stage], me);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            if (me == 0) tma_store_wait<0>();
            threads_meet(1, 128);
            for (int j = 0; j < BN / 8; j++)
                for (int h = 0; h < 2; h++) {
                    int piece = 2 * j % 8 + me % 4 / 2;
                    *(float2 *)(Cs + j / 4 * 8192 + (r + 8 * h) * 128 + (piece ^ r % 8) * 16 + me % 2 * 8) =
                        make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
                }
            shared_written();
            threads_meet(1, 128);
            if (me == 0) {
                for (int part = 0; part < BN / 32; part++) tma_store(C, col + 32 * part, row, Cs + part * 8192);
                tma_store_commit();
            }
        }
    }
    if (CLUSTER > 1) cluster_meet();
}
