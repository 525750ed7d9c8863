// ---gemmviz
// version    = 2
// title      = "Stream-K"
// idea       = "Each block gets the same number of k-steps, not of tiles: no multiprocessor waits for the last wave, and copying has warps of its own."
// entry      = "stream_k<WM, WN, TN, BK, STAGES, GROUP>"
// args       = ["A", "B.map", "C", "M", "N", "K"]
// params     = { WM = [2, 1], WN = [4, 2], TN = [16, 8], BK = [16, 8], STAGES = [8, 6, 4, 2], GROUP = [8, 16, 4], BLOCKS = [132, 264, 2, 3] }
// demo       = { size = [64, 128, 192], params = { WM = 1, WN = 4, TN = 4, BK = 16, STAGES = 2, GROUP = 4, BLOCKS = 3 }, block = [1, 0], stop = { share = 0.4 }, lens = "stream-K" }
// capability = "9.0a"
// maps       = { B = { box = ["BK", "4 * WN * TN"], swizzle = 0 } }
// block      = ["128 + 32 * WM * WN"]
// grid       = ["BLOCKS"]
// shared     = "STAGES * BK * (64 * WM + 4 + 4 * WN * TN) * 4 + 128"
// requires   = [
//   "N % 4 == 0", "WM * WN == 4 or WM * WN == 8", "TN % 4 == 0", "BK % 8 == 0", "4 * WN * TN <= 256",
//   "WM * WN * TN <= 128", "BLOCKS >= 1", "BLOCKS <= 264", "STAGES >= 2", "M * K <= 4294967295",
//   "STAGES * BK * (64 * WM + 4 + 4 * WN * TN) * 4 + 128 <= 231424"
// ]
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

enum { COPIERS = 128, LARGEST_TILE = 128 * 256, MOST_BLOCKS = 264 };
// What a block has summed up of a tile that another block finishes, and whether it is there. A block waits only for
// blocks with lower numbers: GPUs start these first, though CUDA does not promise it. Who has waited lowers the flag, so
// the next launch finds all of them down; two launches at one time would not.
__device__ float4 unfinished[MOST_BLOCKS][LARGEST_TILE / 4];
__device__ volatile int ready[MOST_BLOCKS];

struct piece {
    int tile, from, to; // k-steps of a tile
};

// The pieces of a block. First comes its equal share of the k-steps of as many tiles as would be the last wave and one
// more, from the share's end to its beginning; then whole tiles, block by block, which fill all multiprocessors evenly.
struct share {
    int steps, split, begin, tile, end, whole, tiles;

    __device__ share(int tiles, int steps) : steps(steps), tiles(tiles)
    {
        int blocks = gridDim.x, me = blockIdx.x;
        split = tiles < blocks ? tiles : tiles % blocks ? blocks + tiles % blocks : 0;
        begin = first_step(me);
        end = first_step(me + 1);
        tile = (end - 1) / steps;
        whole = split + me;
    }
    __device__ int first_step(int block) const { return (long long)split * steps * block / (int)gridDim.x; }
    __device__ bool next(piece &p)
    {
        if (begin < end && tile >= begin / steps) {
            p = {tile, max(begin - tile * steps, 0), min(end - tile * steps, steps)};
            tile--;
            return true;
        }
        p = {whole, 0, steps};
        whole += gridDim.x;
        return p.tile < tiles;
    }
};

struct place {
    int row, col;
};

// Bands of GROUP block rows, each walked column by column: blocks that run together share rows of A and columns of B in L2.
template <int GROUP> __device__ place place_of(int tile, int rows, int cols)
{
    int band = tile / (GROUP * cols), first = band * GROUP, high = min(GROUP, rows - first), in = tile - first * cols;
    return {first + in % high, in / high};
}

__device__ __forceinline__ void take4(float *to, const float *from)
{
    float4 v = *(const float4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

template <int WM, int WN, int TN, int BK, int STAGES, int GROUP>
__global__ void __launch_bounds__(COPIERS + 32 * WM * WN, 1)
stream_k(const float *A, const __grid_constant__ tensor_map B, float *C, int M, int N, int K)
{
    // A's tile lies transposed, so that a thread takes four rows at once; 4 more columns keep the copies off each other's banks.
    constexpr int TM = 8, WARPS = WM * WN, BM = 8 * TM * WM, BN = 4 * TN * WN, PITCH = BM + 4;
    extern __shared__ __align__(128) float tiles_of[];
    float *Bs = tiles_of, *As = tiles_of + STAGES * BK * BN;
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32 - COPIERS / 32, lane = threadIdx.x % 32;
    int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN;
    share work(rows * cols, (K + BK - 1) / BK);
    int stage = 0;
    unsigned parity = 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], COPIERS + 1);
            barrier_init(empty[s], WARPS);
        }
        barriers_ready();
    }
    __syncthreads();

    if (warp < 0) {
        registers_down<40>();
        constexpr int ROWS = COPIERS / 8;
        int k0 = lane % 8, m0 = threadIdx.x / 8; // 8 lanes read 8 columns of a row of A, one sector; a warp, 4 rows
        piece p;
        while (work.next(p)) {
            place at = place_of<GROUP>(p.tile, rows, cols);
            // Rows below the last one are copies of it: nobody stores what comes of them.
            unsigned from[BM / ROWS];
            #pragma unroll
            for (int i = 0; i < BM / ROWS; i++)
                from[i] = (unsigned)min(at.row * BM + m0 + i * ROWS, M - 1) * (unsigned)K + p.from * BK + k0;
            for (int step = p.from; step < p.to; step++) {
                barrier_wait(empty[stage], parity ^ 1);
                if (threadIdx.x == 0) {
                    barrier_arrive_expect(full[stage], BK * BN * sizeof(float));
                    tma_load(Bs + stage * BK * BN, B, at.col * BN, step * BK, full[stage]);
                }
                float *to = As + (stage * BK + k0) * PITCH + m0;
                int left = K - step * BK - k0;
                #pragma unroll
                for (int h = 0; h < BK; h += 8) {
                    int bytes = h < left ? 4 : 0;
                    #pragma unroll
                    for (int i = 0; i < BM / ROWS; i++)
                        cp_async_ca_zfill<4>(to + h * PITCH + i * ROWS, A + (size_t)from[i] + h, bytes);
                }
                #pragma unroll
                for (int i = 0; i < BM / ROWS; i++)
                    from[i] += BK;
                barrier_arrive_copied(full[stage]);
                if (++stage == STAGES)
                    stage = 0, parity ^= 1;
            }
        }
        return;
    }

    registers_up<232>();
    // Of 8 x 4 lanes, lane l is in row l / 4 and column l % 4. It has 4 rows of the warp tile, and 4 more 32 rows below;
    // of its columns, 4 side by side, then 4 more every 16: lanes that read at once then read side by side.
    int tm = lane / 4, tn = lane % 4, me = threadIdx.x - COPIERS;
    int row0 = warp % WM * 8 * TM + 4 * tm, col0 = warp / WM * 4 * TN + 4 * tn;
    float a[2][TM], b[2][TN]; // this k's operands, and the next one's on their way
    const float *a0 = As + row0, *b0 = Bs + col0;
    piece p, later;
    bool any = work.next(p);
    if (any) {
        barrier_wait(full[0], 0);
        #pragma unroll
        for (int i = 0; i < TM; i += 4)
            take4(&a[0][i], a0 + 8 * i);
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            take4(&b[0][j], b0 + 4 * j);
    }
    for (; any; p = later) {
        any = work.next(later);
        float sum[TM][TN] = {};
        for (int step = p.from; step < p.to; step++) {
            int next = stage + 1 == STAGES ? 0 : stage + 1;
            unsigned next_parity = next ? parity : parity ^ 1;
            bool more = step + 1 < p.to || any;
            const float *a_at = a0 + stage * BK * PITCH, *b_at = b0 + stage * BK * BN;
            const float *a_next = a0 + next * BK * PITCH, *b_next = b0 + next * BK * BN;
            #pragma unroll
            for (int k = 0; k < BK; k++) {
                bool last = k == BK - 1;
                if (last && more)
                    barrier_wait(full[next], next_parity);
                const float *at = last ? a_next : a_at + (k + 1) * PITCH;
                const float *bt = last ? b_next : b_at + (k + 1) * BN;
                if (!last || more) {
                    #pragma unroll
                    for (int j = 0; j < TN; j += 4)
                        take4(&b[(k + 1) % 2][j], bt + 4 * j);
                    #pragma unroll
                    for (int i = 0; i < TM; i += 4)
                        take4(&a[(k + 1) % 2][i], at + 8 * i);
                }
                // To and fro: each product shares an operand with the one before, which the hardware need not read again.
                // Registers stand in two banks: three operands, or two of one bank, take two cycles.
                #pragma unroll
                for (int i = 0; i < TM; i++) {
                    #pragma unroll
                    for (int e = 0; e < TN; e++) {
                        int j = i % 2 ? TN - 1 - e : e;
                        sum[i][j] += a[k % 2][i] * b[k % 2][j];
                    }
                }
            }
            __syncwarp();
            if (lane == 0)
                barrier_arrive(empty[stage]);
            stage = next, parity = next_parity;
        }

        if (p.to < work.steps) { // another block finishes this tile
            float4 *mine = unfinished[blockIdx.x];
            #pragma unroll
            for (int i = 0; i < TM; i++) {
                #pragma unroll
                for (int j = 0; j < TN; j += 4)
                    mine[(i * TN / 4 + j / 4) * 32 * WARPS + me] =
                        make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f, sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f);
            }
            __threadfence();
            threads_meet(1, 32 * WARPS);
            if (me == 0)
                ready[blockIdx.x] = 1;
            continue;
        }
        // Blocks before this one have the tile's first steps.
        int other = blockIdx.x;
        while (p.from > 0 && work.first_step(other) > p.tile * work.steps) {
            other--;
            if (work.first_step(other) == work.first_step(other + 1))
                continue; // fewer steps than blocks: this one had none
            if (me == 0)
                while (!ready[other]) {}
            threads_meet(1, 32 * WARPS);
            __threadfence();
            #pragma unroll
            for (int i = 0; i < TM; i++) {
                #pragma unroll
                for (int j = 0; j < TN; j += 4) {
                    float4 v = __ldcg(&unfinished[other][(i * TN / 4 + j / 4) * 32 * WARPS + me]);
                    sum[i][j] += v.x, sum[i][j + 1] += v.y, sum[i][j + 2] += v.z, sum[i][j + 3] += v.w;
                }
            }
            threads_meet(1, 32 * WARPS);
            if (me == 0)
                ready[other] = 0;
        }
        place at = place_of<GROUP>(p.tile, rows, cols);
        #pragma unroll
        for (int i = 0; i < TM; i++) {
            int row = at.row * BM + row0 + i / 4 * 32 + i % 4;
            #pragma unroll
            for (int j = 0; j < TN; j += 4) {
                int col = at.col * BN + col0 + 4 * j;
                // Adding 0 makes a copy: a store wants its four sums in neighbouring registers, and tied to these they would
                // stand in the same bank as their factors in the loop above.
                if (row < M && col < N)
                    *(float4 *)(C + (size_t)row * N + col) =
                        make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f, sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f);
            }
        }
    }
}

// ---gemmviz breaks
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[stage], parity ^ 1);"
// replace = ";"
// expect = ["race", "read of memory nobody wrote"]
// at = [64, 128, 64]
// set = { WM = 1, WN = 4, TN = 8, BK = 8, STAGES = 2, BLOCKS = 2 }
//
// [no-wait-for-full]
// title = "Without waiting for the next stage to be full"
// find = "if (last && more)"
// replace = "if (false)"
// expect = ["barrier divergence", "race", "read of memory nobody wrote"]
// at = [64, 128, 64]
// set = { WM = 1, WN = 4, TN = 8, BK = 8, STAGES = 2, BLOCKS = 2 }
//
// [no-padding]
// title = "With A's tile not padded"
// find = "PITCH = BM + 4"
// replace = "PITCH = BM"
// expect = "bank conflicts"
// at = [64, 128, 64]
// set = { WM = 1, WN = 4, TN = 8, BK = 8, STAGES = 2, BLOCKS = 2 }
//
// [one-way]
// title = "With every row of products from left to right"
// find = "int j = i % 2 ? TN - 1 - e : e;"
// replace = "int j = e;"
// expect = "none"
// at = [64, 128, 64]
// set = { WM = 1, WN = 4, TN = 8, BK = 8, STAGES = 2, BLOCKS = 2 }
// ---
