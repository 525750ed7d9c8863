// ---gemmviz
// version    = 2
// title      = "Stream-K, added by the copy engine"
// idea       = "If the last wave would leave many multiprocessors idle, its tiles are split along K, as in stream-K: one cluster stores its part, and the copy engine adds the next cluster's part."
// entry      = "stream_k_tma<half, BM, BN, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BM = [128, 192], BN = [256, 192, 128, 96, 64], STAGES = [4, 6, 8, 3, 2], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// demo       = { size = [128, 192, 128], params = { BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [1, 0], stop = { tile = 1 } }
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
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

enum { MOST_BLOCKS = 264, MOST_GROUPS = 3 };
// Whether a group of a block has stored its part of a tile that the next cluster adds to. A cluster waits only for the one
// before it: GPUs start that first, though CUDA does not promise it. Who has waited lowers the flag, so the next launch
// finds all of them down; two launches at one time would not.
__device__ volatile int begun[MOST_BLOCKS][MOST_GROUPS];

// Starts sum = a b, or sum += a b: 64 rows of A, 16 deep, and BN columns of B. T is the type of their elements.
template <typename T, int BN>
__device__ __forceinline__ void multiply(float (&sum)[BN / 2], operand a, operand b, int add)
{
    if constexpr (BN == 64)
        wgmma_m64n64k16_f32<T, ACROSS_K>(sum, a, b, add);
    else if constexpr (BN == 96)
        wgmma_m64n96k16_f32<T, ACROSS_K>(sum, a, b, add);
    else if constexpr (BN == 128)
        wgmma_m64n128k16_f32<T, ACROSS_K>(sum, a, b, add);
    else if constexpr (BN == 192)
        wgmma_m64n192k16_f32<T, ACROSS_K>(sum, a, b, add);
    else
        wgmma_m64n256k16_f32<T, ACROSS_K>(sum, a, b, add);
}

// Stores a warpgroup's sums, which begin at (row, col) of C, or adds them to what is there, through the group's two
// boxes of 64 rows and 32 columns: one is written while the copy engine reads the other.
// Of the 64 rows each of the 4 warps has 16; lane l of a warp has row l / 4 (r is that row of the box) and the row 8 below
// (h), and of each 8 columns (j) column l % 4 * 2 and the next one.
template <int BN>
__device__ __forceinline__ void store(const tensor_map &C, int row, int col, const float (&sum)[BN / 2],
                                      float (*boxes)[64][32], bool add)
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 32) {
        auto &box = boxes[part / 32 % 2];
        // The copy engine has to have read the box: all but what was sent last, or that too where it was in this box.
        if (sends)
            BN % 64 && part == 0 ? tma_store_wait<0>() : tma_store_wait<1>();
        threads_meet(group, 128);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                // Swizzled: the 4 columns of piece p of row r stand at piece p ^ (r % 8), as the tensor map says. Odd rows take
                // their columns in another order: without that, two rows would meet in a bank.
                const float *even = &sum[part / 2 + 4 * j + 2 * h], *odd = &sum[part / 2 + 4 * (j ^ 2) + 2 * h];
                int column = (r % 2 ? j ^ 2 : j) * 8 + threadIdx.x % 4 * 2, piece = column / 4 ^ r % 8;
                *(float2 *)&box[r + 8 * h][piece * 4 + column % 4] =
                    make_float2(r % 2 ? odd[0] : even[0], r % 2 ? odd[1] : even[1]);
            }
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

// Where a thread is in the ring of stages. The parity is that of the phase in which the stage is filled.
template <int STAGES> struct ring {
    int stage = 0;
    unsigned parity = 0;
    __device__ void next()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Where a tile is, in tiles, and which k-steps of it are meant.
struct piece {
    int row, col, from, to;
};

// The pieces of a cluster. Whole tiles, wave by wave, keep all clusters busy until the last wave. If that one would
// leave a quarter of them or more without a tile, as many tiles as it and one wave more have are handed out in equal
// shares of k-steps (to one step), before the whole tiles, each share from its end to its beginning: so the first part
// of a tile is stored long before the cluster that has the rest comes to it. No share is shorter than a tile, so a tile has two parts at
// most.
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
    // GROUP rows of tiles make a band, which is walked column by column. So the tiles that the blocks compute at one
    // time share a few rows of A and columns of B, which are found in L2.
    __device__ bool next(piece &p)
    {
        bool part = tile >= 0 && (tile + 1) * steps > begin;
        int t = part ? tile : whole;
        if (t >= down * across)
            return false;
        int top = t / (GROUP * across) * GROUP, high = min(GROUP, down - top), in_band = t - top * across;
        p = {top + in_band % high, in_band / high, 0, steps};
        if (part) {
            p.from = max(begin - t * steps, 0);
            p.to = min(end - t * steps, steps);
            tile--;
        } else
            whole += workers;
        return true;
    }
};

// What is in dynamic shared memory. The tensor cores read swizzled rows of 128 bytes or of 64, so B is in boxes of 64
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
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], 1);
            // Before a part of B is overwritten, the groups of all blocks that have it have read it.
            barrier_init(empty[s], GROUPS * CLUSTER);
        }
        barriers_ready();
        tma_prefetch(A);
        tma_prefetch(B);
    } else if (threadIdx.x == 128)
        tma_prefetch(C);
    // A small product's time is mostly its start, so the first piece is worked out while others are waited for.
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
            // What was stored a piece ago has arrived by now: telling it then costs no waiting.
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
    // Nobody leaves while others copy to its shared memory, or arrive at its barriers.
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
