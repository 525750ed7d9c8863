// ---gemmviz
// version    = 9
// title      = "Every shape"
// idea       = "Few tiles leave multiprocessors idle: several blocks then share the k-steps of one tile, and the last of them adds up their sums. The tile and the number of parts follow from M, N and K."
// entry      = "every_shape<half, float, BM, BN, STAGES, GROUP, CLUSTER, ACROSS, SPLIT, TOGETHER, BOXES, TURNS, TURNED>"
// args       = ["M", "N", "K", "A", "B", "C", "A.map", "B.map", "C.map"]
// params     = { BM = [128, 64, 192, 48, 72, 80, 104, 144, 208], BN = [256, 320, 192, 128, 96, 64, 32], STAGES = [4, 3, 5, 6, 8, 9, 10, 12, 13, 2], GROUP = [8, 4, 2, 1, 16], BLOCKS = [132, 120, 4, 2], CLUSTER = [2, 1, 4, 8], ACROSS = [1, 2, 4, 8], SPLIT = [1, 2, 3, 4, 8, 16], TOGETHER = [0, 1], BOXES = [2, 1, 4, 6], TURNS = [1, 2], TURNED = [0, 1] }
// schedule.sets  = [
//   { BM = 128, BN = 256, CLUSTER = 2, GROUP = 8 }, { BM = 128, BN = 256, CLUSTER = 1, GROUP = 8 },
//   { BM = 128, BN = 320, CLUSTER = 1, GROUP = 8 }, { BM = 192, BN = 192, CLUSTER = 1, GROUP = 4 },
//   { BM = 128, BN = 192, CLUSTER = 2, GROUP = 8 }, { BM = 192, BN = 128, CLUSTER = 1, GROUP = 8 },
//   { BM = 128, BN = 128, CLUSTER = 1, GROUP = 8 }, { BM = 192, BN = 96, CLUSTER = 1, GROUP = 4 },
//   { BM = 128, BN = 96, CLUSTER = 1, GROUP = 8 },
//   { BM = 64, BN = 128, CLUSTER = 2, GROUP = 8, STAGES = "8 - 2 * (M > 256 and N % 32 > 0 and N % 8 == 0 and (4 * ceil(M / 128) * ceil(N / 128) <= SMS or K % 64 > 0 and 8 * ceil(M / 128) * ceil(N / 128) >= 3 * SMS))" },
//   { BM = 64, BN = 128, CLUSTER = 1, GROUP = 16 },
//   { BM = 64, BN = 64, CLUSTER = 2, GROUP = 8, STAGES = "12 - 2 * (M > 256 and N % 32 > 0 and N % 8 == 0 and K % 64 > 0)" },
//   { BM = 64, BN = 64, CLUSTER = 1, GROUP = 8, STAGES = 12 }, { BM = 64, BN = 64, STAGES = 12, CLUSTER = 1, GROUP = 4, TOGETHER = 1 },
//   { BM = 64, BN = 128, CLUSTER = 1, GROUP = 4, TOGETHER = 1 }, { BM = 128, BN = 128, CLUSTER = 1, GROUP = 8, TURNS = 2 },
//   { BM = 128, BN = 128, CLUSTER = 2, GROUP = 8, TURNS = 2 },
//   { BM = 128, BN = 192, CLUSTER = 1, GROUP = "8 + 8 * (M * N > 60000000)", TURNS = 2 },
//   { BM = 128, BN = 192, CLUSTER = 2, GROUP = 8, TURNS = 2 },
//   { BM = 64, BN = 64, CLUSTER = 2, ACROSS = 2, GROUP = 4 }, { BM = 64, BN = 64, CLUSTER = 2, ACROSS = 4, GROUP = 4 },
//   { BM = 64, BN = 64, CLUSTER = 4, ACROSS = 1, GROUP = 4 }, { BM = 64, BN = 128, CLUSTER = 2, ACROSS = 4, GROUP = 4 },
//   { BM = 64, BN = 128, CLUSTER = 4, ACROSS = 1, GROUP = 4 }, { BM = 64, BN = 128, CLUSTER = 4, ACROSS = 2, GROUP = 4 },
//   { BM = 128, BN = 96, CLUSTER = 4, ACROSS = 2, GROUP = 4 },
//   { BN = 64, CLUSTER = 1, ACROSS = 1, TURNED = 1 }, { BN = 128, CLUSTER = 1, ACROSS = 1, TURNED = 1 },
//   { BN = 64, CLUSTER = 2, ACROSS = 1, TURNED = 1 }, { BN = 128, CLUSTER = 2, ACROSS = 1, TURNED = 1 },
//   { BN = 192, CLUSTER = 2, ACROSS = 1, TURNED = 1 }, { BN = 128, CLUSTER = 1, ACROSS = 2, TURNED = 1 },
//   { BN = 64, CLUSTER = 1, ACROSS = 4, TURNED = 1 }, { BN = 128, CLUSTER = 1, ACROSS = 4, TURNED = 1 },
//   { BN = 64, CLUSTER = 4, ACROSS = 1, TURNED = 1 }, { BN = 128, CLUSTER = 4, ACROSS = 1, TURNED = 1 },
//   { BN = 64, CLUSTER = 1, ACROSS = 8, TURNED = 1 }, { BN = 128, CLUSTER = 1, ACROSS = 8, TURNED = 1 },
//   { BN = 64, CLUSTER = 2, ACROSS = 4, TURNED = 1 }, { BN = 128, CLUSTER = 2, ACROSS = 4, TURNED = 1 },
//   { BN = 192, CLUSTER = 2, ACROSS = 4, TURNED = 1 }, { BN = 64, CLUSTER = 4, ACROSS = 2, TURNED = 1 },
//   { BN = 128, CLUSTER = 4, ACROSS = 2, TURNED = 1 }, { BN = 64, CLUSTER = 8, ACROSS = 1, TURNED = 1 },
//   { BN = 128, CLUSTER = 8, ACROSS = 1, TURNED = 1 },
//   { BM = "8 * ceil(M / (8 * CLUSTER * max(1, floor(2 * BLOCKS / (CLUSTER * ACROSS) / SPLIT / ceil(N / (BN * ACROSS))))))", SPLIT = 1, BN = 128, CLUSTER = 1, ACROSS = 1, TURNED = 1 },
//   { BM = "8 * ceil(M / (8 * CLUSTER * max(1, floor(2 * BLOCKS / (CLUSTER * ACROSS) / SPLIT / ceil(N / (BN * ACROSS))))))", SPLIT = 1, BN = 128, CLUSTER = 1, ACROSS = 2, TURNED = 1 },
//   { BM = "8 * ceil(M / (8 * CLUSTER * max(1, floor(3 * BLOCKS / (CLUSTER * ACROSS) / SPLIT / ceil(N / (BN * ACROSS))))))", SPLIT = 1, BN = 128, CLUSTER = 1, ACROSS = 2, TURNED = 1 }
// ]
// schedule.each  = { SPLIT = [1, 2, 4, 8, 16], BM = ["8 * ceil(M / (8 * CLUSTER * max(1, floor(BLOCKS / (CLUSTER * ACROSS) / SPLIT / ceil(N / (BN * ACROSS))))))"], BLOCKS = ["(CLUSTER * ACROSS <= 2) * (SMS - SMS % (CLUSTER * ACROSS)) + (CLUSTER * ACROSS > 2) * CLUSTER * ACROSS * floor(SMS * 10 / (11 * CLUSTER * ACROSS))"], STAGES = ["min(16, floor((231424 - (1 - TURNED) * 128 * BM * (2 - (BM == 192)) - TURNED * 32 * BN * ceil(BM / 8 / ceil(BM / 32))) / (128 * (BM + BN))))"], BOXES = ["2 - (BM == 192 and not TURNED) + TURNED * 2 * (min(ceil(BM / 32), floor((231424 - 128 * STAGES * (BM + BN)) / (32 * BN * ceil(BM / 8 / ceil(BM / 32))))) - 1)"], GROUP = ["4 + (M <= 13 * BM * CLUSTER) * (ceil(ceil(M / (BM * CLUSTER)) / max(1, floor(ceil(M / (BM * CLUSTER)) / 4))) - 4)"] }
// schedule.tile  = ["BM", "BN"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles   = "ceil(M / (BM * CLUSTER)) * CLUSTER * ceil(N / (BN * ACROSS)) * ACROSS"
// schedule.names.size    = "CLUSTER * ACROSS"
// schedule.names.busy    = "min(1, tiles * SPLIT / BLOCKS)"  # the share of multiprocessors that have work
// schedule.names.shared  = "tiles > BLOCKS and tiles % BLOCKS > 0 and 4 * (tiles % BLOCKS) <= 3 * BLOCKS and SPLIT == 1"  # whether stream-K divides the last tiles
// schedule.names.rounds  = "shared * tiles / BLOCKS + (not shared) * ceil(tiles * SPLIT / BLOCKS)"
// schedule.names.narrow  = "0"
// schedule.names.upright = "0"
// schedule.names.joined  = "42"  # cycles that a cluster adds to a k-step
// schedule.names.hot     = "M * N * K > 60000000000 and tiles > BLOCKS"  # long enough for the limit of power: then clusters cost nothing, and lines of L2 do
// schedule.names.never   = "tiles <= SMS"
// schedule.names.odd     = "N % 8 > 0"
// schedule.names.area    = "BM * BN"
// schedule.names.loose_a = "(K % 32 > 0 and K % 8 == 0) * (49 + 65 * (ACROSS > 1) + 85 * (K % 16 > 0)) / 100"  # rows of A begin at no multiple of 64 bytes, or not even of 32: more lines of L2 for each
// schedule.names.loose_b = "(N % 32 > 0 and N % 8 == 0) * (28 + 60 * (N % 16 > 0)) / 100"  # the same for B
// schedule.names.lines   = "BM / ACROSS * (1 + loose_a) + BN / CLUSTER * (1 + loose_b)"  # of L2 for a k-step
// schedule.names.product = "area * 105 / 3200"  # cycles of a k-step: the tensor cores
// schedule.names.from_l2 = "lines * (78 + 101 * busy) * (100 + 20 * TOGETHER) / 10000"  # bringing A and B
// schedule.names.inside  = "((1 - TURNED) * (2 * BM + BN * (1 + BM / 64)) + TURNED * (2 * BN + BM * (1 + BN / 64))) * (47 + 40 * busy) / 100"  # what shared memory takes and gives
// schedule.names.alone   = "TURNED * (BN == 64 and size < 4) * max(0, BM - 152) * 7 / 10"  # one warpgroup multiplies, and has many sums
// schedule.names.step    = "max(product, from_l2, inside) + 63 + joined * (size > 1 and not hot) - 12 * (CLUSTER > 2) + hot * lines / 20 + 31 * (BN % 64 == 32) + TURNED * 20 * max(0, 5 - STAGES) + 32 * (BN == 320) + alone"
// schedule.names.store   = "area * (176 - 62 * narrow + TURNED * (42 - 60 * narrow) + 1662 * odd) / 1000"
// schedule.names.again   = "2 - (SPLIT == 1 and K < 4096)"  # how many clusters may read a line before L2 drops it
// schedule.names.twice_a = "ceil(N / (BN * ACROSS)) == 2 and again == 2"
// schedule.names.twice_b = "ceil(M / (BM * CLUSTER)) == 2 and again == 2"
// schedule.names.asked   = "(BN / CLUSTER + min(BM, M) / ACROSS) * STAGES * min(tiles * SPLIT, BLOCKS)"  # rows of 128 bytes that are asked for at once
// schedule.names.dram    = "(M * (100 + 13 * twice_a) + N * (100 + 13 * twice_b)) * K * 1867 / 200000000 * (1 + 16643 / asked)"  # cycles until memory has brought A and B
// schedule.names.two     = "shared * (8008 + area * 333 / 1000)"  # tiles of two parts
// schedule.names.kept    = "SPLIT > 1 and not TOGETHER"
// schedule.names.adds    = "kept and SPLIT == 2 and not narrow and not TURNED and N % 4 == 0"
// schedule.names.parts   = "TOGETHER * area * 67 / 1000 + kept * (1316 + SPLIT * area * 133 / 1000) - adds * 2006"  # SPLIT > 1
// schedule.names.at_once = "max(rounds * (ceil(ceil(K / 64) / SPLIT) * step + store), dram) + parts + 216 * (BM < 32) + TURNED * upright * 1000000000"
// schedule.names.turn    = "ceil(K / 64) * (max(product * 906, lines * 1864) / 1000 + 130 + hot * lines / 20) + 770 + area * odd"  # a tile of TURNS = 2
// schedule.names.turn_c  = "area * (358 - 67 * narrow + 1662 * odd) / 1000"
// schedule.names.in_turns = "max(rounds * max(turn, (turn + turn_c) / 2) + turn_c / 2, dram) - 1788 + never * 1000000000"
// schedule.cost  = "9662 + 40 * (size > 1) + 24 * (size > 4) + two + (TURNS == 1) * at_once + (TURNS == 2) * in_turns"
// demo       = { size = [64, 64, 256], params = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, ACROSS = 1, SPLIT = 2, TOGETHER = 0, BOXES = 2 }, block = [1, 0], stop = { share = 0.46 }, lens = "stream-K" }
// dtype      = "float16"
// accumulate = "float32"
// constants  = { CLUSTERED = "CLUSTER * ACROSS > 1 or TOGETHER > 0" }
// capability = "9.0a"
// maps.A     = { box = ["BM / ACROSS", 64], swizzle = 128 }
// maps.B     = { box = ["64 / CLUSTER", "64 - BN % 64"], swizzle = "128 - BN % 64 * 2" }
// maps.C     = { box = ["64 + TURNED * (8 * ceil(BM / 8 / ceil(BM / 32)) - 64)", 32], swizzle = 128 }
// unaligned  = ["A", "B", "C"]
// copied     = ["A", "B"]
// block      = ["128 + 2 * BM + TURNED * 2 * (BN - BM)"]
// grid       = ["min(BLOCKS, ceil(M / (BM * CLUSTER)) * ceil(N / (BN * ACROSS)) * CLUSTER * ACROSS * SPLIT)"]
// cluster    = ["CLUSTER * ACROSS * (1 + TOGETHER)"]
// shared     = "128 * (STAGES * (BM + BN) + BOXES * (BM + TURNED * (BN / 8 * ceil(BM / 8 / ceil(BM / 32)) - BM)))"
// requires   = [
//   "TURNED == 0 and (BM == 64 or BM == 128 or BM == 192 and BN <= 192) or TURNED == 1 and BM >= 8 and BM <= 256 and BM % 8 == 0 and BM % ACROSS == 0",
//   "TURNED == 0 or BN % 64 == 0 and BN <= 192 and TURNS == 1 and TOGETHER == 0 and BOXES % 2 == 0 and N % 8 == 0",
//   "BN == 32 or BN == 64 or BN == 96 or BN == 128 or BN == 192 or BN == 256 or BN == 320", "STAGES >= 2", "STAGES <= 32", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2 or CLUSTER == 4 or CLUSTER == 8", "ACROSS == 1 or ACROSS == 2 or ACROSS == 4 or ACROSS == 8", "CLUSTER * ACROSS <= 8",
//   "BOXES == 1 or BOXES == 2 or TURNED == 1 and BOXES >= 2 and BOXES <= 16", "TURNS == 1 or TURNS == 2 and BM == 128 and BN <= 192 and SPLIT == 1 and TOGETHER == 0", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % (CLUSTER * ACROSS) == 0",
//   "TURNED == 0 or BM * BN <= 40960", "SPLIT >= 1", "SPLIT <= 64", "TOGETHER == 0 or TOGETHER == 1 and SPLIT == 2 and CLUSTER * ACROSS == 1 and BN % 64 == 0 and BN <= 64 * BOXES", "SPLIT == 1 or SPLIT <= ceil(K / 64)",
//   "SPLIT == 1 or ceil(M / (BM * CLUSTER)) * ceil(N / (BN * ACROSS)) * CLUSTER * ACROSS * SPLIT <= BLOCKS",
//   "128 * (STAGES * (BM + BN) + BOXES * (BM + TURNED * (BN / 8 * ceil(BM / 8 / ceil(BM / 32)) - BM))) <= 231424"
// ]
// ---
// New here: a tile may have many parts, whose sums wait in memory of the kernel's own, as in rung 49; two parts may also be a
// cluster (TOGETHER), whose blocks send each other half of their sums; the blocks of another cluster stand one below the other and
// share B, or side by side and share A; the two warpgroups may have whole tiles, in turns (TURNS), so that one multiplies while
// the other stores its sums; a tile may be turned (TURNED): then a warpgroup has 64 of its columns and all of its rows, any
// multiple of 8 of them, so that C is as many tiles as there are multiprocessors, or nearly so, and is stored in parts; C may have
// 16 bits, and rows of any length. The rest is rung 67's. A small product is mostly start and end: so the sizes are the first
// arguments, which arrive first, and the first copies are asked for before anything else.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Whether blocks are in clusters (the value here is replaced). A launch in clusters of one block distributes its blocks otherwise
// than one without clusters: some products with few tiles took up to 40% longer.
#define CLUSTERED 1
#if CLUSTERED
#define IN_CLUSTERS __cluster_dims__(CLUSTER * ACROSS * (1 + TOGETHER), 1, 1)
#else
#define IN_CLUSTERS
#endif

enum { LARGEST_TILE = 128 * 320, SMALL = 3 << 20, GPCS = 8 };
// The sums of a part of a tile that another block finishes; `begun` says whether a group's are there. Both are numbered by parts:
// those of a tile have successive numbers.
__device__ float4 unfinished[MOST_BLOCKS][LARGEST_TILE / 4];

// Two neighbouring sums as elements of C.
template <typename C> struct pair_of;
template <> struct pair_of<float> {
    typedef float2 type;
    static __device__ float2 of(float x, float y) { return make_float2(x, y); }
};
template <> struct pair_of<half> {
    typedef half2 type;
    static __device__ half2 of(float x, float y) { return __floats2half2_rn(x, y); }
};
template <> struct pair_of<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
    static __device__ __nv_bfloat162 of(float x, float y) { return __floats2bfloat162_rn(x, y); }
};

// A group's box of C; one is written while the copy engine reads the other.
template <typename C, int COLUMNS, int ROWS = 64> using box_of = C[ROWS][COLUMNS];

// For elements of 16 bits: the sums of columns 8 j to 8 j + 15, as four matrices of 8 x 8. Rows of 128 bytes are swizzled one by
// one: the piece p of row r stands at piece p ^ (r % 8); those of 64 bytes in pairs: at piece p ^ (r / 2 % 4).
template <typename C, int COLUMNS>
__device__ __forceinline__ void put_narrow(box_of<C, COLUMNS> &box, int j, const float *sum)
{
    union {
        typename pair_of<C>::type pair[4];
        unsigned bits[4];
    } matrices;
    #pragma unroll
    for (int i = 0; i < 4; i++)
        matrices.pair[i] = pair_of<C>::of(sum[4 * j + 2 * i], sum[4 * j + 2 * i + 1]);
    int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    int piece = j + lane / 16 ^ (COLUMNS == 64 ? row % 8 : row / 2 % 4);
    stmatrix_x4(&box[row][piece * 8], matrices.bits);
}

// Stores a warpgroup's sums, which begin at (row, col) of C, or adds them to C, through its boxes.
template <int BN, int BOXES, typename C, int COLUMNS>
__device__ __forceinline__ void store_boxes(const tensor_map &map, int row, int col, const float (&sum)[BN / 2],
                                            box_of<C, COLUMNS> *boxes, bool add)
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += COLUMNS) {
        auto &box = boxes[part / COLUMNS % BOXES];
        // The copy engine has to have read the box: all stores but the last one, or that too where it used this box.
        if (sends)
            BOXES == 1 || BN / COLUMNS % 2 && part == 0 ? tma_store_wait<0>() : tma_store_wait<1>();
        threads_meet(group, 128);
        if constexpr (sizeof(C) == 4) {
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                #pragma unroll
                for (int j = 0; j < COLUMNS / 8; j++)
                    put(&box, r, h, j, &sum[part / 2]);
            }
        } else {
            #pragma unroll
            for (int j = 0; j < COLUMNS / 8; j += 2)
                put_narrow<C, COLUMNS>(box, j, &sum[part / 2]);
        }
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            if (add)
                tma_add(map, col + part, row, box);
            else
                tma_store(map, col + part, row, box);
            tma_store_commit();
        }
    }
}

// The same for a tile that is turned: parts of HIGH rows and 64 columns, each in one or two boxes side by side; a part is written
// while the copy engine reads those before. The last part may repeat rows of the one before it. In lane l of warp w,
// sum[4 j + 2 h + e] is column 16 w + l / 4 + 8 h and row 8 j + 2 (l % 4) + e.
template <int ROWS, int HIGH, int BOXES, typename C, int COLUMNS>
__device__ __forceinline__ void store_turned(const tensor_map &map, int row, int col, const float (&sum)[ROWS / 2],
                                             box_of<C, COLUMNS, HIGH> *boxes)
{
    enum { BESIDE = 64 / COLUMNS, AT_ONCE = BOXES / BESIDE, PARTS = (ROWS + HIGH - 1) / HIGH };
    int group = threadIdx.x / 128, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < PARTS; part++) {
        int top = min(part * HIGH, ROWS - HIGH);
        const float *its = &sum[top / 2];
        auto *box = boxes + part % AT_ONCE * BESIDE;
        if (part == 0 || part >= AT_ONCE) { // the copy engine has to have read these boxes
            if (sends)
                part == 0 ? tma_store_wait<0>() : tma_store_wait<AT_ONCE - 1>();
            threads_meet(group, 128);
        }
        if constexpr (sizeof(C) == 4) {
            #pragma unroll
            for (int i = 0; i < HIGH / 2; i++) {
                int r = i / 4 * 8 + lane % 4 * 2 + i % 2, c = warp % 2 * 16 + i / 2 % 2 * 8 + lane / 4;
                box[warp / 2][r][(c / 4 ^ r % 8) * 4 + c % 4] = its[i];
            }
        } else {
            int piece = warp * 2 + lane / 8 % 2 ^ lane % 8;
            #pragma unroll
            for (int j = 0; j < HIGH / 8; j += 2) {
                union {
                    typename pair_of<C>::type pair[4];
                    unsigned bits[4], two[2];
                } matrices;
                #pragma unroll
                for (int i = 0; i < 4 && j + i / 2 < HIGH / 8; i++)
                    matrices.pair[i] = pair_of<C>::of(its[4 * j + 2 * i], its[4 * j + 2 * i + 1]);
                if (j + 1 < HIGH / 8)
                    stmatrix_x4_trans(&box[0][j * 8 + lane / 16 * 8 + lane % 8][piece * 8], matrices.bits);
                else
                    stmatrix_x2_trans(&box[0][j * 8 + lane % 8][piece * 8], matrices.two);
            }
        }
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            #pragma unroll
            for (int beside = 0; beside < BESIDE; beside++)
                tma_store(map, col + beside * COLUMNS, row + top, box[beside]);
            tma_store_commit();
        }
    }
}

// Stores zeros in a tile of C: a warp, from one box. They are in C when this returns.
template <int BM, int BN, typename C, int COLUMNS>
__device__ __forceinline__ void store_zeros(const tensor_map &map, int row, int col, box_of<C, COLUMNS> &box)
{
    for (int i = threadIdx.x % 32; i < (int)sizeof(box) / 16; i += 32)
        ((float4 *)box)[i] = make_float4(0, 0, 0, 0);
    shared_written();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        #pragma unroll 1
        for (int down = 0; down < BM; down += 64) {
            #pragma unroll
            for (int part = 0; part < BN; part += COLUMNS)
                tma_store(map, col + part, row + down, box);
        }
        tma_store_commit();
        tma_store_wait_written();
    }
}

// Stores a warpgroup's sums in a C whose rows are no multiple of 16 bytes, which the copy engine does not take: element by element.
template <int BN, typename T>
__device__ __forceinline__ void store_elements(T *C, int M, int N, int row, int col, const float (&sum)[BN / 2])
{
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    col += threadIdx.x % 4 * 2;
    #pragma unroll
    for (int i = 0; i < BN / 2; i++) {
        int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8 + i % 2;
        if (r < M && c < N)
            C[(size_t)r * N + c] = (T)sum[i];
    }
}

// Stores a warpgroup's sums, or adds them to C, in one of the two ways.
template <int BN, int BOXES, typename T, int COLUMNS>
__device__ __forceinline__ void store_sums(const tensor_map &map, T *C, int M, int N, int row, int col, const float (&sum)[BN / 2],
                                           box_of<T, COLUMNS> *boxes, bool add)
{
    if (N % (16 / (int)sizeof(T)) == 0)
        store_boxes<BN, BOXES, T, COLUMNS>(map, row, col, sum, boxes, add);
    else
        store_elements<BN>(C, M, N, row, col, sum);
}

// Two blocks of a cluster have the two parts of a tile. A warpgroup sends its sums of one half of the columns to the same
// warpgroup of the other block, and adds what that one sends to its own sums of the other half: the left one for part 0.
template <int BN>
__device__ __forceinline__ void exchange(const float (&sum)[BN / 2], float (&half)[BN / 4], float4 (*received)[128], int part,
                                         barrier &arrived)
{
    int me = threadIdx.x % 128;
    #pragma unroll
    for (int i = 0; i < BN / 4; i += 4) {
        float4 left = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
        float4 right = make_float4(sum[BN / 4 + i], sum[BN / 4 + i + 1], sum[BN / 4 + i + 2], sum[BN / 4 + i + 3]);
        send_at(&received[i / 4][me], part ^ 1, part ? left : right, arrived);
        float4 own = part ? right : left;
        half[i] = own.x, half[i + 1] = own.y, half[i + 2] = own.z, half[i + 3] = own.w;
    }
    barrier_wait_sent(arrived, 0);
    #pragma unroll
    for (int i = 0; i < BN / 4; i += 4) {
        float4 v = received[i / 4][me];
        half[i] += v.x, half[i + 1] += v.y, half[i + 2] += v.z, half[i + 3] += v.w;
    }
}

// Asks L2 for A and B, an equal part for each block, before the first boxes are. Many blocks ask for the same boxes at once;
// so each line is asked for once, and all of them early. Only for small products: more of it would come too early. Where
// rows are no multiple of 16 bytes, their copies are in L2 already.
template <int THREADS, typename T>
__device__ __forceinline__ void ask_for(const T *A, const T *B, int M, int N, int K, int thread)
{
    enum { LINE = 128 / sizeof(T) };
    if ((size_t)(M + N) * K > SMALL / sizeof(T) || (N | K) % (16 / sizeof(T)))
        return;
    int of_a = (M * K + LINE - 1) / LINE, all = of_a + (K * N + LINE - 1) / LINE;
    for (int line = blockIdx.x * THREADS + thread; line < all; line += gridDim.x * THREADS)
        prefetch_l2(line < of_a ? A + line * LINE : B + (line - of_a) * LINE);
}

// Dynamic shared memory. The tensor cores read swizzled rows of 128 bytes or of 64, so B is in boxes of 64
// columns, or of 32 where BN is no multiple of 64. C leaves in boxes as wide as these, a C of floats in boxes of 32 columns.
template <typename T, typename OUT, int BM, int BN, int OUT_BN, int STAGES, int BOXES, int TURNED> struct tiles {
    enum { BOX = 64 - BN % 64, OUT_BOX = sizeof(OUT) == 4 ? 32 : 64 - OUT_BN % 64 };
    enum { GROUPS = (TURNED ? BN : BM) / 64 };
    // A turned tile is stored in parts of up to 32 rows: as few as possible, and equal ones if their rows are multiples of 8.
    enum { PARTS = (BM + 31) / 32, HIGH = TURNED ? (BM / 8 + PARTS - 1) / PARTS * 8 : 64 };
    T a[STAGES][BM][64], b[STAGES][BN / BOX][64][BOX];
    box_of<OUT, OUT_BOX, HIGH> c[GROUPS][BOXES];
};

template <typename T, typename OUT, int BM, int BN, int STAGES, int GROUP, int CLUSTER, int ACROSS, int SPLIT, int TOGETHER,
          int BOXES, int TURNS = 1, int TURNED = 0>
__global__ void IN_CLUSTERS __launch_bounds__(128 + 2 * (TURNED ? BN : BM), 1)
every_shape(int M, int N, int K, const T *A_elements, const T *B_elements, OUT *C_elements,
            const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C)
{
    // A cluster computes CLUSTER x ACROSS tiles. Each block copies ROWS rows of A's box for the blocks of its row, and PART
    // rows of each box of B for those of its column.
    enum { OUT_BN = BN / (1 + TOGETHER) }; // the columns that a block stores
    typedef tiles<T, OUT, BM, BN, OUT_BN, STAGES, BOXES, TURNED> memory_of;
    // With TURNS = 1 each multiplying warpgroup has 64 rows of every tile, with TURNS = 2 the two have whole tiles, in turns.
    // READERS: how many of them read a stage. HALVES: how many times 64 rows of a tile each has.
    // MANY: for these sums the compiler keeps values in memory if it has 40 and 232 registers, and none with 56 and 224.
    // With TURNED = 1 each has 64 columns and all rows. SUMS: those of a thread, for each half.
    enum { SUMS = (TURNED ? BM : BN) / 2, GROUPS = memory_of::GROUPS, READERS = GROUPS / TURNS, HALVES = TURNS };
    enum { MANY = TURNS == 2 && BN == 192 };
    enum { BOX = memory_of::BOX, PART = 64 / CLUSTER, ROWS = BM / ACROSS, SIZE = CLUSTER * ACROSS };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(memory_of *)memory;
    __shared__ barrier full[STAGES], empty[STAGES], arrived[GROUPS], turn[2];
    int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), across = (N + BN * ACROSS - 1) / (BN * ACROSS);
    int rank = TOGETHER ? 0 : cluster_rank(), row_in = rank % CLUSTER, col_in = rank / CLUSTER;
    if (threadIdx.x >= 32)
        ask_for<96 + 128 * GROUPS>(A_elements, B_elements, M, N, K, threadIdx.x - 32);
    if (threadIdx.x == 0) { // before a stage is overwritten, the groups of all blocks that share a part of it have read it
        for (int group = 0; TOGETHER && group < GROUPS; group++)
            barrier_init(arrived[group], 1);
        for (int group = 0; TURNS == 2 && group < GROUPS; group++) // the other group has started its last products
            barrier_init(turn[group], 1);
        ring_init(full, empty, READERS * (CLUSTER + ACROSS - 1));
        for (int group = 0; TOGETHER && group < GROUPS; group++) // half of the group's sums
            barrier_arrive_expect(arrived[group], 64 * OUT_BN * sizeof(float));
    } else if (threadIdx.x == 32)
        tma_prefetch(A);
    else if (threadIdx.x == 64)
        tma_prefetch(B);
    else if (threadIdx.x == 128)
        tma_prefetch(C);
    // Elements that a few clusters read at about the same time need not stay in L2: where a tile has parts, or where one or two
    // clusters read them. While they store C, two clusters drift apart, but a large K makes that rare.
    int few = SPLIT > 1 ? down * across : K < 4096 ? 1 : 2;
    cache_policy policy_a = across <= few ? evict_first() : evict_unchanged();
    cache_policy policy_b = down <= few ? evict_first() : evict_unchanged();
    // Blocks that are in one GPC at the same time get a line from L2 together if they ask for it together. Without clusters, blocks
    // with successive numbers are in one GPC; clusters are dealt out to the GPCs (of which an H100 has 8). So neighbours there have
    // the same part of tiles that lie side by side, or both parts of them.
    unsigned worker = blockIdx.x / SIZE, workers = gridDim.x / SIZE;
    int number = blockIdx.x;
    if (TOGETHER) {
        unsigned pair = worker / 2, pairs = workers / 2, gpc = pair % GPCS;
        worker = (gpc * (pairs / GPCS) + min(gpc, pairs % GPCS) + pair / GPCS) * 2 + worker % 2;
    } else if (SPLIT > 1) {
        worker = worker % (workers / SPLIT) * SPLIT + worker / (workers / SPLIT);
        number = worker * SIZE + rank;
    }
    share<GROUP, SPLIT> work(down, across, (K + 63) / 64, worker, workers);
    // Two parts of a tile of floats: at the start the first one stores zeros, at the end each adds its sums to C, and nobody
    // waits. 0 + x + y is the same in both orders; with more parts the order would count.
    bool adds = SPLIT == 2 && !TOGETHER && !TURNED && sizeof(OUT) == 4 && N % 4 == 0;
    enum { ZEROS = GROUPS + 1, WITH_ZEROS = 32 + 128 * GROUPS }; // the barrier at which a warp says that the zeros are there
    piece p;
    bool any = work.next(p);
    ring<STAGES> at;
    unsigned short column = ((1 << CLUSTER) - 1) << col_in * CLUSTER, row = 0; // the blocks of this block's column and row
    #pragma unroll
    for (int c = 0; c < ACROSS; c++)
        row |= 1 << (row_in + c * CLUSTER);
    auto load = [&](int t) {
        barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
        auto &rows = tile.a[at.stage][col_in * ROWS];
        int top = (p.row * CLUSTER + row_in) * BM, left = (p.col * ACROSS + col_in) * BN;
        if (ACROSS == 1)
            tma_load(rows, A, t, top, full[at.stage], policy_a);
        else
            tma_load_multicast(rows, A, t, top + col_in * ROWS, full[at.stage], row, policy_a);
        #pragma unroll
        for (int i = 0; i < BN / BOX; i++) {
            auto &part = tile.b[at.stage][i][row_in * PART];
            if (CLUSTER == 1)
                tma_load(part, B, left + BOX * i, t, full[at.stage], policy_b);
            else
                tma_load_multicast(part, B, left + BOX * i, t + row_in * PART, full[at.stage], column, policy_b);
        }
        at.next();
    };
    int t = p.from * 64;
    if (SIZE > 1 || TOGETHER)
        cluster_begin();
    else
        __syncthreads();
    // The first stages are empty. Here, the code of the copies is also nearest: at the start no cache has it.
    if (threadIdx.x == 0 && any) {
        #pragma unroll 1
        for (int s = 0; s < STAGES && t < p.to * 64; s++, t += SPLIT * 64)
            load(t);
    }

    if (threadIdx.x < 128) {
        if (GROUPS > 1)
            registers_down<MANY ? 56 : GROUPS == 2 ? 40 : 32>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p), t = p.from * 64) {
                #pragma unroll 1
                for (; t < p.to * 64; t += SPLIT * 64) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    load(t);
                }
            }
        } else if (threadIdx.x / 32 == 1 && adds) { // a warp that has nothing else to do, so that the others need not wait
            if constexpr (!TURNED) {
                if (p.from == 0)
                    store_zeros<BM, BN, OUT, memory_of::OUT_BOX>(C, (p.row * CLUSTER + row_in) * BM,
                                                                 (p.col * ACROSS + col_in) * BN, tile.c[0][0]);
            }
            if (threadIdx.x == 32) {
                if (p.from == 0)
                    flag_raise(begun[number][0]);
                else
                    flag_await(begun[work.other(0) * SIZE + rank][0]);
            }
            threads_meet(ZEROS, WITH_ZEROS);
        }
    } else {
        if (GROUPS > 1)
            registers_up<MANY ? 224 : GROUPS == 2 ? 232 : 160>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        // `first` is the number of the first 64 rows that this group has of a tile.
        int me = threadIdx.x % 128, first = TURNS == 2 ? 0 : group, mine = first * 128 + me;
        operand a = along_k(tile.a[0][TURNED ? 0 : 64 * first]);
        operand b = across_k<BOX * sizeof(T)>(tile.b[0][TURNED ? group : 0], sizeof(tile.b[0][0]));
        float sum[HALVES][SUMS];
        ring<STAGES> at, before;
        // The blocks that copy to this one: those of its column, then those of its row but itself.
        int beside = me - CLUSTER, copier = me < CLUSTER ? col_in * CLUSTER + me : row_in + (beside + (beside >= col_in)) * CLUSTER;
        if (TOGETHER)
            copier = worker % 2;
        auto give_back = [&] {
            if (me < CLUSTER + ACROSS - 1)
                barrier_arrive_at(empty[before.stage], copier);
            before.next();
        };
        unsigned my_turn = group ^ 1;
        for (int done = 0; any; any = work.next(p), done++) {
            if (TURNS == 2 && done % 2 != group) { // the other group has this piece
                unsigned stage = at.stage + p.to - p.from;
                at.parity ^= stage / STAGES % 2;
                at.stage = stage % STAGES;
                continue;
            }
            if (TURNS == 2) {
                before = at;
                barrier_wait(turn[group], my_turn);
                my_turn ^= 1;
            }
            for (int t = p.from; t < p.to; t += SPLIT, at.next()) {
                barrier_wait(full[at.stage], at.parity);
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 64; k += 16) {
                    #pragma unroll
                    for (int half = 0; half < HALVES; half++) {
                        operand rows = a + (at.stage * sizeof(tile.a[0]) + half * 64 * sizeof(tile.a[0][0]) + k * sizeof(T));
                        operand columns = b + (at.stage * sizeof(tile.b[0]) + k * sizeof(tile.b[0][0][0]));
                        if constexpr (TURNED)
                            wgmma_m64k16_f32<T, BM, ALONG_K, ACROSS_K>(sum[half], columns, rows, t > p.from || k);
                        else
                            multiply<T, BN>(sum[half], rows, columns, t > p.from || k);
                    }
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (t > p.from)
                    give_back();
            }
            if (TURNS == 2 && me == 0)
                barrier_arrive(turn[group ^ 1]);
            wgmma_wait<0>();
            give_back();
            int row = (p.row * CLUSTER + row_in) * BM + (TURNED ? 0 : first * 64), col = (p.col * ACROSS + col_in) * BN;
            if constexpr (TOGETHER) {
                float half[BN / 4];
                int part = worker % 2;
                exchange<BN>(sum[0], half, (float4 (*)[128])tile.c[group], part, arrived[group]);
                store_sums<OUT_BN, BOXES, OUT, memory_of::OUT_BOX>(C, C_elements, M, N, row, col + part * OUT_BN, half,
                                                                   tile.c[group], false);
                continue;
            }
            if (!adds && !work.adds_up(p)) { // another cluster finishes this tile
                #pragma unroll
                for (int half = 0; half < HALVES; half++) {
                    float4 *its = unfinished[number] + half * 128 + mine;
                    #pragma unroll
                    for (int i = 0; i < SUMS / 4; i++)
                        its[i * 128 * GROUPS] =
                            make_float4(sum[half][4 * i], sum[half][4 * i + 1], sum[half][4 * i + 2], sum[half][4 * i + 3]);
                }
                threads_meet(group + 1, 128);
                if (me == 0)
                    flag_raise(begun[number][first]);
                continue;
            }
            if (adds) {
                threads_meet(ZEROS, WITH_ZEROS);
                if (me == 0)
                    global_read();
            } else if (!adds && p.from > 0) {
                if (me < work.others())
                    flag_await(begun[work.other(me) * SIZE + rank][first]);
                threads_meet(group + 1, 128);
                #pragma unroll (SPLIT > 1 && SPLIT <= 4 ? SPLIT - 1 : 1)
                for (int other = 0; other < work.others(); other++) {
                    #pragma unroll
                    for (int half = 0; half < HALVES; half++) {
                        const float4 *its = unfinished[work.other(other) * SIZE + rank] + half * 128 + mine;
                        float *own = sum[half];
                        #pragma unroll
                        for (int i = 0; i < SUMS / 4; i++) {
                            float4 v = __ldcg(its + i * 128 * GROUPS);
                            own[4 * i] += v.x, own[4 * i + 1] += v.y, own[4 * i + 2] += v.z, own[4 * i + 3] += v.w;
                        }
                    }
                }
            }
            if constexpr (TURNED)
                store_turned<BM, memory_of::HIGH, BOXES, OUT, memory_of::OUT_BOX>(C, row, col + group * 64, sum[0], tile.c[group]);
            else
                store_sums<BN, BOXES, OUT, memory_of::OUT_BOX>(C, C_elements, M, N, row, col, sum[0], tile.c[group], adds);
            if constexpr (HALVES == 2)
                store_sums<BN, BOXES, OUT, memory_of::OUT_BOX>(C, C_elements, M, N, row + 64, col, sum[1], tile.c[group], adds);
        }
        // Shared memory has to be there until it has been read.
        if (me == 0)
            tma_store_wait<0>();
    }
    // No block leaves while others copy to its shared memory, or arrive at its barriers.
    if (SIZE > 1)
        cluster_begin();
}

// ---gemmviz breaks
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BM = 64, BN = 64, STAGES = 2, CLUSTER = 1 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BM = 64, BN = 128, STAGES = 2, CLUSTER = 1 }
//
// [no-wait-for-zeros]
// title = "Without waiting for the zeros that the first part stores"
// find = "flag_await(begun[work.other(0) * SIZE + rank][0]);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 256]
// set = { BM = 64, BN = 64, STAGES = 2, CLUSTER = 1, SPLIT = 2, TOGETHER = 0, BLOCKS = 2 }
//
// [no-wait-for-sent-sums]
// title = "Without waiting for the sums that the other block of the cluster sends"
// find = "barrier_wait_sent(arrived, 0);"
// replace = ";"
// expect = ["race", "read of memory nobody wrote"]
// at = [64, 64, 256]
// set = { BM = 64, BN = 64, STAGES = 2, CLUSTER = 1, SPLIT = 2, TOGETHER = 1, BLOCKS = 2 }
//
// [no-turns]
// title = "Without waiting for the other group's products"
// find = "barrier_wait(turn[group], my_turn);"
// replace = ";"
// expect = ["barrier divergence", "element of C never written"]
// at = [256, 64, 320]
// set = { BM = 128, BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 1, TURNS = 2 }
//
// [boxes-not-free]
// title = "Turned, without waiting until the copy engine has read the boxes of C"
// find = "part == 0 ? tma_store_wait<0>() : tma_store_wait<AT_ONCE - 1>();"
// replace = ";"
// expect = ["race"]
// at = [16, 64, 64]
// set = { BM = 8, BN = 64, STAGES = 2, CLUSTER = 1, ACROSS = 1, SPLIT = 1, TOGETHER = 0, BLOCKS = 1, TURNS = 1, TURNED = 1 }
// ---
