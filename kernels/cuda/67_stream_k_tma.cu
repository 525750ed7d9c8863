// ---gemmviz
// version    = 2
// title      = "Stream-K, added by the copy engine"
// idea       = "If the last wave would leave many multiprocessors idle, its tiles are split along K, as in stream-K: one cluster stores its part, and the copy engine adds the next cluster's part."
// entry      = "stream_k_tma<half, BM, BN, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BM = [128, 192], BN = [256, 192, 128, 96, 64], STAGES = [4, 6, 8, 3, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// demo       = { size = [256, 256, 320], params = { BN = 128, STAGES = 2, BLOCKS = 3, CLUSTER = 1 }, block = [1, 0], stop = { share = 0.4 }, lens = "stream-K" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = ["BM", 64], swizzle = 128 }
// maps.B     = { box = ["64 / CLUSTER", "64 - BN % 64"], swizzle = "128 - BN % 64 * 2" }
// maps.C     = { box = [64, 32], swizzle = 128 }
// block      = ["128 + 2 * BM"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / BN) * CLUSTER)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BM == 128 or BM == 192 and BN <= 192",
//   "BN == 64 or BN == 96 or BN == 128 or BN == 192 or BN == 256", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: `share`, the flags `begun`, and a store that can add. multiply and ring are those of rungs 60 to 63, tile_at is
// rung 64's, put is rung 65's, and the cluster is rung 66's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gemmviz/box_store.h>
#include <gemmviz/ptx.h>
#include <gemmviz/tile_order.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

enum { MOST_BLOCKS = 264, MOST_GROUPS = 3 };
// Whether a group of a block has stored its part of a tile that the next cluster adds to. A cluster waits only for the one
// before it: GPUs start that first, though CUDA does not promise it. The group that has waited lowers the flag, so the next
// launch finds all of them down; two launches at one time would not.
__device__ volatile int begun[MOST_BLOCKS][MOST_GROUPS];

// Stores a warpgroup's sums, which begin at (row, col) of C, or adds them to C, through the group's two boxes of 64 rows
// and 32 columns: one is written while the copy engine reads the other.
template <int BN>
__device__ __forceinline__ void store(const tensor_map &C, int row, int col, const float (&sum)[BN / 2],
                                      float (*boxes)[64][32], bool add)
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 32) {
        auto &box = boxes[part / 32 % 2];
        // The copy engine has to have read the box: all stores but the last one, or that too where it used this box.
        if (sends)
            BN % 64 && part == 0 ? tma_store_wait<0>() : tma_store_wait<1>();
        threads_meet(group, 128);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < 4; j++)
                put(&box, r, h, j, &sum[part / 2]);
        }
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            if (add)
                tma_add(C, col + part, row, box);
            else
                tma_store(C, col + part, row, box);
            tma_store_commit();
        }
    }
}

// Where a tile is, in tiles, and which k-steps of it are meant.
struct piece {
    int row, col, from, to;
};

// The pieces of a cluster. Whole tiles, wave by wave, keep all clusters busy until the last wave. If that one would leave a
// quarter of the clusters or more without a tile, the tiles of it and of one wave more are divided into equal shares of
// k-steps (to one step), which come before the whole tiles. Each share runs from its end to its beginning: so the first
// part of a tile is stored long before the cluster with the rest adds to it. No share is shorter than a tile, so a tile
// has two parts at most.
template <int GROUP> struct share {
    int down, across, steps, workers, begin, end, tile, whole;

    __device__ share(int down, int across, int steps, int me, int workers)
        : down(down), across(across), steps(steps), workers(workers)
    {
        int tiles = down * across, rest = tiles % workers;
        int split = tiles > workers && rest && 4 * rest <= 3 * workers ? workers + rest : 0;
        whole = split + me;
        begin = end = 0;
        tile = -1;
        if (split) {
            int each = split * steps / workers, more = split * steps % workers;
            begin = each * me + min(me, more);
            end = begin + each + (me < more);
            tile = (end - 1) / steps;
        }
    }
    __device__ bool next(piece &p)
    {
        bool part = tile >= 0 && (tile + 1) * steps > begin;
        int t = part ? tile : whole;
        if (t >= down * across)
            return false;
        tile_place at = tile_at<GROUP>(t, down, across);
        p = {at.row, at.col, 0, steps};
        if (part) {
            p.from = max(begin - t * steps, 0);
            p.to = min(end - t * steps, steps);
            tile--;
        } else
            whole += workers;
        return true;
    }
};

// Dynamic shared memory. The tensor cores read swizzled rows of 128 bytes or of 64, so B is in boxes of 64
// columns, or of 32 where BN is no multiple of 64. C leaves in boxes of 32 floats, which are 128 bytes too.
template <typename T, int BM, int BN, int STAGES> struct tiles {
    enum { BOX = 64 - BN % 64 };
    T a[STAGES][BM][64], b[STAGES][BN / BOX][64][BOX];
    float c[BM / 64][2][64][32];
};

template <typename T, int BM, int BN, int STAGES, int GROUP, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 + 2 * BM, 1)
stream_k_tma(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, int M, int N, int K)
{
    // Each block of a cluster copies PART rows of each box of B, for all.
    enum { GROUPS = BM / 64, BOX = tiles<T, BM, BN, STAGES>::BOX, PART = 64 / CLUSTER };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<T, BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one below the other, each block the one of its rank.
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), rank = cluster_rank(), across = (N + BN - 1) / BN;
    if (threadIdx.x == 0) {
        // Before a part of B is overwritten, the groups of all blocks that have it have read it.
        ring_init(full, empty, GROUPS * CLUSTER);
        tma_prefetch(A);
        tma_prefetch(B);
    } else if (threadIdx.x == 128)
        tma_prefetch(C);
    // A small product's time is mostly its start, so the first piece is computed during the wait for others.
    share<GROUP> work(down, across, (K + 63) / 64, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<BM == 128 ? 40 : 32>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                for (int t = p.from * 64; t < p.to * 64; t += 64, at.next()) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                    tma_load(tile.a[at.stage], A, t, (p.row * CLUSTER + rank) * BM, full[at.stage]);
                    for (int i = 0; i < BN / BOX; i++) {
                        auto &part = tile.b[at.stage][i][rank * PART];
                        int col = p.col * BN + BOX * i;
                        if (CLUSTER == 1)
                            tma_load(part, B, col, t, full[at.stage]);
                        else
                            tma_load_multicast(part, B, col, t + rank * PART, full[at.stage], (1 << CLUSTER) - 1);
                    }
                }
        }
    } else {
        registers_up<BM == 128 ? 232 : 160>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        bool sends = threadIdx.x % 128 == 0, to_tell = false;
        operand a = along_k(tile.a[0][64 * group]);
        operand b = across_k<BOX * sizeof(T)>(tile.b[0], sizeof(tile.b[0][0]));
        float sum[BN / 2];
        ring<STAGES> before;
        auto give_back = [&] {
            if (threadIdx.x % 128 < CLUSTER)
                barrier_arrive_at(empty[before.stage], threadIdx.x % 128);
            before.next();
        };
        auto tell = [&] {
            tma_store_wait_written();
            __threadfence();
            begun[blockIdx.x][group] = 1;
            to_tell = false;
        };
        for (; any; any = work.next(p)) {
            for (int t = p.from; t < p.to; t++, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 64; k += 16)
                    multiply<T, BN>(sum, a + (at.stage * sizeof(tile.a[0]) + k * sizeof(T)),
                                    b + (at.stage * sizeof(tile.b[0]) + k * sizeof(tile.b[0][0][0])), t > p.from || k);
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            wgmma_wait<0>();
            give_back();
            // The store of the last piece has arrived by now: setting its flag costs no wait.
            if (sends && to_tell)
                tell();
            if (sends && p.from > 0) {
                volatile int &first_part = begun[blockIdx.x - CLUSTER][group];
                while (!first_part) {}
                first_part = 0;
                __threadfence();
                global_read();
            }
            store<BN>(C, (p.row * CLUSTER + rank) * BM + group * 64, p.col * BN, sum, tile.c[group], p.from > 0);
            to_tell = p.to < work.steps;
        }
        if (sends && to_tell)
            tell();
        // Shared memory has to be there until it has been read.
        tma_store_wait<0>();
    }
    // No block leaves while others copy to its shared memory, or arrive at its barriers.
    if (CLUSTER > 1)
        cluster_meet();
}

// ---gemmviz breaks
// [last-box-too-early]
// title = "Without waiting for the box that was sent last"
// find = "BN % 64 && part == 0 ? tma_store_wait<0>() : tma_store_wait<1>();"
// replace = "tma_store_wait<1>();"
// expect = ["race"]
// at = [192, 400, 128]
// set = { BM = 192, BN = 96, STAGES = 2, CLUSTER = 1, BLOCKS = 2 }
//
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2, CLUSTER = 1 }
//
// [stored-twice]
// title = "With the second part stored, not added"
// find = "if (add)"
// replace = "if (false)"
// expect = ["element of C written by two threads"]
// at = [384, 64, 128]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 2 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 128, STAGES = 2 }
// ---
