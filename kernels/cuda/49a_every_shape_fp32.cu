// ---gemmviz
// version    = 7
// title      = "Every shape, FP32"
// idea       = "The tile follows from M, N and K, down to 32 rows; a few rows of C, or a few tiles with a long sum, then keep all multiprocessors busy."
// entry      = "every_shape_fp32<TM, WM, WN, TN, BK, STAGES, GROUP>"
// args       = ["A", "B.map", "B", "C", "M", "N", "K"]
// params     = { TM = [8, 4], WM = [2, 1], WN = [4, 8], TN = [16, 8, 4], BK = [16, 64, 32, 8], STAGES = [8, 6, 4, 2], GROUP = [8, 16, 4], BLOCKS = [132, 264, 2, 3] }
// schedule.sets  = [
//   { TM = 8, WM = 2, WN = 4, TN = 16, BK = 64, STAGES = 2, GROUP = 16 }, { TM = 8, WM = 2, WN = 4, TN = 16, BK = 32, STAGES = 3, GROUP = 16 },
//   { TM = 8, WM = 1, WN = 8, TN = 8 }, { TM = 8, WM = 2, WN = 4, TN = 8 },
//   { TM = 4, WM = 1, WN = 4, TN = 16 }, { TM = 4, WM = 1, WN = 8, TN = 8 }, { TM = 4, WM = 1, WN = 4, TN = 8 },
//   { TM = 4, WM = 1, WN = 4, TN = 8, BK = 64, STAGES = 4 }, { TM = 8, WM = 1, WN = 4, TN = 4 }, { TM = 4, WM = 1, WN = 4, TN = 4, BK = 64, STAGES = 4 }
// ]
// schedule.each  = { BLOCKS = ["SMS", "min(SMS, max(1, floor(SMS / (ceil(M / (8 * TM * WM)) * ceil(N / (4 * WN * TN))))) * ceil(M / (8 * TM * WM)) * ceil(N / (4 * WN * TN)))"] }
// schedule.tile  = ["8 * TM * WM", "4 * WN * TN"]
// schedule.tiles = "BLOCKS"
// schedule.names.tile  = "8 * TM * WM * 4 * WN * TN"
// schedule.names.tiles = "ceil(M / (8 * TM * WM)) * ceil(N / (4 * WN * TN))"
// schedule.names.step  = "tile / 8 * (1 + (TM + TN) / (TM * TN) + (WM * WN == 4) * 13 / 100) + 30 + 640 / BK + (N % 4 > 0) * ((1 + N % 2) * WN * TN * 9 / 5 + (BK > 32) * tile / 50)"
// schedule.names.parts = "(tiles % BLOCKS > 0) * max(1, ceil(BLOCKS / tiles))"
// schedule.cost  = "tiles * K / 16 / BLOCKS * step + ceil(tiles / BLOCKS) * tile / 12 + (parts > 0) * 2000 + parts * tile / 5"
// demo       = { size = [64, 64, 128], params = { TM = 4, WM = 1, WN = 4, TN = 4, BK = 16, STAGES = 2, GROUP = 4, BLOCKS = 3 }, block = [1, 0], stop = { share = 0.4 }, lens = "stream-K" }
// capability = "9.0a"
// constants  = { SHIFT = "N % 4" }
// maps       = { B = { box = ["BK", "4 * WN * TN"], swizzle = 0 } }
// unaligned  = ["B"]
// block      = ["128 + 32 * WM * WN"]
// grid       = ["BLOCKS"]
// shared     = "STAGES * BK * (8 * TM * WM + 4 + 4 * WN * TN) * 4 + (N % 4 > 0) * WM * WN * 128 * (TN + 1) + 128"
// requires   = [
//   "TM == 4 or TM == 8", "WM * WN == 4 or WM * WN == 8", "TN % 4 == 0", "BK % 8 == 0", "TM * TN > 64 or BK <= 16 or BK % 16 == 0", "4 * WN * TN <= 256",
//   "WM * WN * TN <= 128", "BLOCKS >= 1", "BLOCKS <= 264", "STAGES >= 2", "STAGES <= 13", "M * K <= 4294967295",
//   "STAGES * BK * (8 * TM * WM + 4 + 4 * WN * TN) * 4 + (N % 4 > 0) * WM * WN * 128 * (TN + 1) + 128 <= 231424"
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
    // The block that has a step.
    __device__ int block_of(int step) const
    {
        int block = (int)((long long)step * gridDim.x / ((long long)split * steps));
        while (first_step(block + 1) <= step)
            block++;
        return block;
    }
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

// The operands of a k: a column of A's tile and a row of B's.
template <int TM, int TN> struct operands {
    float a[TM], b[TN];

    __device__ __forceinline__ void take(const float *at, const float *bt)
    {
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            take4(b + j, bt + 4 * j);
        #pragma unroll
        for (int i = 0; i < TM; i += 4)
            take4(a + i, at + 8 * i);
    }
    // To and fro: each product shares an operand with the one before, which the hardware need not read again.
    // Registers stand in two banks: three operands, or two of one bank, take two cycles.
    __device__ __forceinline__ void multiply(float (&sum)[TM][TN]) const
    {
        #pragma unroll
        for (int i = 0; i < TM; i++) {
            #pragma unroll
            for (int e = 0; e < TN; e++) {
                int j = i % 2 ? TN - 1 - e : e;
                sum[i][j] += a[i] * b[j];
            }
        }
    }
};

// N % 4 (the value here is replaced). The copy engine takes B only if its rows begin at multiples of 16 bytes, so where SHIFT
// is not 0, the copying warps copy B element by element, as they do A, or two by two if N is even. They need more registers
// then: if one of theirs had to go to memory, the compiler would give the sums other registers, too, and the main loop would
// take a quarter longer.
constexpr int SHIFT = 0;

// Copies a box of B, BK x BN, EACH floats at a time; a warp has whole rows, so that it computes few addresses. `rows` and
// `columns` of the matrix are left from `from` on; WHOLE: the box is inside, and nothing has to be compared for each piece.
template <int EACH, int BK, int BN, bool WHOLE>
__device__ __forceinline__ void copy_box(float *to, const float *from, int N, int rows, int columns)
{
    constexpr int PIECES = BN / EACH, WIDE = PIECES < 32 ? PIECES : 32, AT_ONCE = COPIERS / WIDE;
    int row = threadIdx.x / WIDE, col = threadIdx.x % WIDE * EACH;
    to += row * BN + col;
    from += (size_t)row * N + col;
    #pragma unroll
    for (int k = 0; k < BK; k += AT_ONCE, from += (size_t)AT_ONCE * N) {
        #pragma unroll
        for (int j = 0; j < BN; j += WIDE * EACH) {
            if constexpr (WHOLE)
                cp_async_ca<4 * EACH>(to + k * BN + j, from + j);
            else
                cp_async_ca_zfill<4 * EACH>(to + k * BN + j, from + j, row + k < rows && col + j < columns ? 4 * EACH : 0);
        }
    }
}

template <int TM, int WM, int WN, int TN, int BK, int STAGES, int GROUP>
__global__ void __launch_bounds__(COPIERS + 32 * WM * WN, 1)
every_shape_fp32(const float *A, const __grid_constant__ tensor_map B, const float *B_elements, float *C, int M, int N, int K)
{
    // So many k's are unrolled. With 128 sums for a thread these are two, as a loop: in longer code the compiler moves sums from
    // register to register, and more products take operands of one bank.
    constexpr int UNROLLED = TM * TN > 64 ? 2 : BK < 16 ? BK : 16;
    // A's tile lies transposed, so that a thread takes four rows at once; 4 more columns keep the copies off each other's banks.
    constexpr int WARPS = WM * WN, BM = 8 * TM * WM, BN = 4 * TN * WN, PITCH = BM + 4;
    // Numbers of barriers of the block. At EMPTY + s the copying warps wait until all others have read stage s: unlike the wait for a
    // barrier in shared memory, this one takes no instructions.
    constexpr int SUMMED = 1, EMPTY = 2, THREADS = COPIERS + 32 * WARPS;
    extern __shared__ __align__(128) float tiles_of[];
    float *Bs = tiles_of, *As = tiles_of + STAGES * BK * BN;
    __shared__ barrier full[STAGES];
    int warp = threadIdx.x / 32 - COPIERS / 32, lane = threadIdx.x % 32;
    int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN;
    share work(rows * cols, (K + BK - 1) / BK);
    int stage = 0;
    unsigned parity = 0;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            barrier_init(full[s], COPIERS + (SHIFT == 0));
        barriers_ready();
    }
    __syncthreads();

    if (warp < 0) {
        registers_down<SHIFT ? 56 : 40>();
        constexpr int ROWS = COPIERS / 8;
        int k0 = lane % 8, m0 = threadIdx.x / 8; // 8 lanes read 8 columns of a row of A, one sector; a warp, 4 rows
        bool used = false; // whether stages have been multiplied already
        piece p;
        while (work.next(p)) {
            place at = place_of<GROUP>(p.tile, rows, cols);
            // Rows below the last one are copies of it: nobody stores what comes of them.
            unsigned from[BM / ROWS];
            #pragma unroll
            for (int i = 0; i < BM / ROWS; i++)
                from[i] = (unsigned)min(at.row * BM + m0 + i * ROWS, M - 1) * (unsigned)K + p.from * BK + k0;
            for (int step = p.from; step < p.to; step++) {
                if (used)
                    threads_meet(EMPTY + stage, THREADS);
                if constexpr (SHIFT) {
                    float *to = Bs + stage * BK * BN;
                    const float *from = B_elements + (size_t)(step * BK) * N + at.col * BN;
                    constexpr int EACH = SHIFT % 2 ? 1 : 2;
                    int below = K - step * BK, right = N - at.col * BN;
                    if (below >= BK && right >= BN)
                        copy_box<EACH, BK, BN, true>(to, from, N, below, right);
                    else
                        copy_box<EACH, BK, BN, false>(to, from, N, below, right);
                } else if (threadIdx.x == 0) {
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
                    stage = 0, used = true;
            }
        }
        return;
    }

    registers_up<SHIFT ? 224 : 232>();
    // Of 8 x 4 lanes, lane l is in row l / 4 and column l % 4. It has 4 rows of the warp tile, and 4 more 32 rows below;
    // of its columns, 4 side by side, then 4 more every 16: lanes that read at once then read side by side.
    int tm = lane / 4, tn = lane % 4, me = threadIdx.x - COPIERS;
    int row0 = warp % WM * 8 * TM + 4 * tm, col0 = warp / WM * 4 * TN + 4 * tn;
    operands<TM, TN> now, then; // of one k and the next; one is on its way while the other is multiplied
    const float *a0 = As + row0, *b0 = Bs + col0;
    piece p, later;
    bool any = work.next(p);
    if (any) {
        barrier_wait(full[0], 0);
        now.take(a0, b0);
    }
    for (; any; p = later) {
        any = work.next(later);
        float sum[TM][TN] = {};
        for (int step = p.from; step < p.to; step++) {
            int next = stage + 1 == STAGES ? 0 : stage + 1;
            unsigned next_parity = next ? parity : parity ^ 1;
            const float *at = a0 + stage * BK * PITCH, *bt = b0 + stage * BK * BN;
            // What is left of K in this step; the last step of a tile may have less than BK.
            #pragma unroll 1
            for (int left = min(BK, K - step * BK); left > UNROLLED; left -= UNROLLED) {
                #pragma unroll
                for (int k = 0; k < UNROLLED; k += 2) {
                    then.take(at + (k + 1) * PITCH, bt + (k + 1) * BN);
                    now.multiply(sum);
                    now.take(at + (k + 2) * PITCH, bt + (k + 2) * BN);
                    then.multiply(sum);
                }
                at += UNROLLED * PITCH, bt += UNROLLED * BN;
            }
            #pragma unroll
            for (int k = 0; k < UNROLLED; k += 2) {
                then.take(at + (k + 1) * PITCH, bt + (k + 1) * BN);
                now.multiply(sum);
                if (k + 2 < UNROLLED) {
                    now.take(at + (k + 2) * PITCH, bt + (k + 2) * BN);
                } else if (step + 1 < p.to || any) {
                    barrier_wait(full[next], next_parity);
                    now.take(a0 + next * BK * PITCH, b0 + next * BK * BN);
                }
                then.multiply(sum);
            }
            threads_arrive(EMPTY + stage, THREADS);
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
            threads_meet(SUMMED, 32 * WARPS);
            if (me == 0)
                flag_raise(ready[blockIdx.x]);
            continue;
        }
        // Blocks before this one have the tile's first steps: one thread waits for each. A block without steps, where there
        // are fewer steps than blocks, is not waited for.
        int other = blockIdx.x;
        if (p.from > 0) {
            int early = work.block_of(p.tile * work.steps) + me;
            for (; early < other; early += 32 * WARPS)
                if (work.first_step(early) < work.first_step(early + 1))
                    flag_await(ready[early]);
            threads_meet(SUMMED, 32 * WARPS);
        }
        if constexpr (TM * TN <= 64) {
            // There are registers for the sums of two blocks at a time: the second ones are on their way with the first.
            int first = p.from > 0 ? work.block_of(p.tile * work.steps) : other;
            for (; other > first; other -= 2) {
                float4 v[2][TM * TN / 4];
                #pragma unroll
                for (int n = 0; n < 2; n++) {
                    int its = other - n - 1;
                    bool there = its >= first && work.first_step(its) < work.first_step(its + 1);
                    #pragma unroll
                    for (int i = 0; i < TM * TN / 4; i++)
                        v[n][i] = there ? __ldcg(&unfinished[its][i * 32 * WARPS + me]) : make_float4(0, 0, 0, 0);
                }
                #pragma unroll
                for (int n = 0; n < 2; n++) {
                    #pragma unroll
                    for (int i = 0; i < TM * TN / 4; i++) {
                        float *to = &sum[i / (TN / 4)][i % (TN / 4) * 4];
                        to[0] += v[n][i].x, to[1] += v[n][i].y, to[2] += v[n][i].z, to[3] += v[n][i].w;
                    }
                }
            }
        } else {
            while (p.from > 0 && work.first_step(other) > p.tile * work.steps) {
                other--;
                if (work.first_step(other) == work.first_step(other + 1))
                    continue;
                #pragma unroll
                for (int i = 0; i < TM; i++) {
                    #pragma unroll
                    for (int j = 0; j < TN; j += 4) {
                        float4 v = __ldcg(&unfinished[other][(i * TN / 4 + j / 4) * 32 * WARPS + me]);
                        sum[i][j] += v.x, sum[i][j + 1] += v.y, sum[i][j + 2] += v.z, sum[i][j + 3] += v.w;
                    }
                }
            }
        }
        place at = place_of<GROUP>(p.tile, rows, cols);
        if constexpr (SHIFT) {
            // No 16 bytes of a row can be stored at once. Eight rows of the warp's tile go through shared memory, so that its
            // lanes store neighbours: four floats of each lane, one by one, would touch every sector of C four times.
            constexpr int WIDE = 4 * TN, LINE = WIDE < 32 ? WIDE : 32;
            int col = at.col * BN + warp / WM * WIDE + lane % LINE, right = N - col;
            float(*line)[WIDE + 4] = (float(*)[WIDE + 4])(As + STAGES * BK * PITCH) + 8 * warp;
            #pragma unroll
            for (int i = 0; i < TM; i++) {
                __syncwarp();
                #pragma unroll
                for (int j = 0; j < TN; j += 4)
                    *(float4 *)&line[tm][4 * tn + 4 * j] =
                        make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f, sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f);
                __syncwarp();
                int row = at.row * BM + warp % WM * 8 * TM + i / 4 * 32 + i % 4 + 4 * (lane / LINE);
                float *to = C + (size_t)row * N + col;
                #pragma unroll
                for (int r = 0; r < 8; r += 32 / LINE, row += 4 * (32 / LINE), to += (size_t)(4 * (32 / LINE)) * N) {
                    #pragma unroll
                    for (int c = 0; c < WIDE; c += LINE) {
                        if (row < M && c < right)
                            to[c] = line[r + lane / LINE][c + lane % LINE];
                    }
                }
            }
            continue;
        }
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
// find = "threads_meet(EMPTY + stage, THREADS);"
// replace = ";"
// expect = ["race", "read of memory nobody wrote"]
// at = [32, 64, 64]
// set = { TM = 4, WM = 1, WN = 4, TN = 4, BK = 8, STAGES = 2, BLOCKS = 2 }
// ---
