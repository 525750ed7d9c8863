// ---gemmviz
// version    = 7
// title      = "Several GPUs, panels in one kernel"
// idea       = "One kernel copies and multiplies: warps that would have nothing to do bring the rows of the other GPUs over the link, piece by piece, and a tile starts when its own rows are there."
// entry      = "fused_panels<BM, BN, STAGES, GROUP, CLUSTER, GPUS>"
// args       = ["A.map", "B.map", "C.map", "A", "A.pointers", "M", "N", "K", "GPU"]
// params     = { BM = [128, 64], BN = [256, 128, 64], STAGES = [4, 3, 5, 6, 8, 2], GROUP = [8, 4, 2, 1, 16], BLOCKS = [132, 4, 2], CLUSTER = [2, 1], GPUS = [2, 4, 8] }
// demo       = { size = [128, 128, 128], params = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, GPUS = 2 }, block = [0, 0], stop = { share = 0.4 }, lens = "owners" }
// dtype      = "bfloat16"
// accumulate = "float32"
// stores     = "bfloat16"
// capability = "9.0a"
// maps.A     = { box = ["BM", 64], swizzle = 128 }
// maps.B     = { box = ["64 / CLUSTER", 64], swizzle = 128 }
// maps.C     = { box = [64, 64], swizzle = 128 }
// devices    = "GPUS"
// divided    = { A = "rows", B = "columns", C = "columns" }
// crossing   = "inside"
// block      = ["128 + 2 * BM"]
// grid       = ["min(BLOCKS, M / BM * ceil(N / BN))"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + BN) * 128 + BM * 256"
// requires   = [
//   "BM == 64 or BM == 128", "BN == 64 or BN == 128 or BN == 256", "STAGES >= 2", "STAGES <= 32", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "M % (GPUS * CLUSTER * BM) == 0", "32 * M <= 32768 * BM", "STAGES * (BM + BN) * 128 + BM * 256 <= 231424"
// ]
// ---
// New here: three warps of each block copy rows of the other GPUs, and the warp that asks for tiles waits for these rows. The
// products and the shares of k-steps are those of rung 67, the parts of a tile and the store those of rung 68a.
#include <cuda_bf16.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/tile_parts.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

typedef __nv_bfloat16 element;
enum { LARGEST_TILE = 128 * 256, MOST_PIECES = 1 << 15, COPIERS = 3 };
// The sums of a part of a tile that another block finishes; `begun` says whether a group's are there.
__device__ float4 unfinished[MOST_BLOCKS][LARGEST_TILE / 4];
// The rows of the other GPUs in pieces: how many were taken by a warp, and which of them have landed in this GPU's memory. A
// warp that has taken a piece copies it and waits for nobody. So every piece lands, whichever blocks run at the same time.
__device__ unsigned taken;
__device__ volatile int landed[MOST_PIECES];
// The blocks that need the pieces no longer. The last one sets all back, so that the next launch finds nothing taken and nothing
// landed, also where a graph starts it with the same arguments. Two launches at one time on a GPU would disturb each other.
__device__ unsigned finished;

// Two neighbouring sums, as elements of C. Rows of 128 bytes are swizzled: the piece p of row r stands at piece p ^ (r % 8).
__device__ __forceinline__ void put_narrow(element (&box)[64][64], int j, const float *sum)
{
    union {
        __nv_bfloat162 pair[4];
        unsigned bits[4];
    } matrices;
    #pragma unroll
    for (int i = 0; i < 4; i++)
        matrices.pair[i] = __floats2bfloat162_rn(sum[4 * j + 2 * i], sum[4 * j + 2 * i + 1]);
    int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    stmatrix_x4(&box[row][(j + lane / 16 ^ row % 8) * 8], matrices.bits);
}

// Stores a warpgroup's sums, which begin at (row, col) of C, through its two boxes: one is written while the copy engine reads
// the other.
template <int BN>
__device__ __forceinline__ void store_boxes(const tensor_map &C, int row, int col, const float (&sum)[BN / 2],
                                            element (*boxes)[64][64])
{
    int group = threadIdx.x / 128;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 64) {
        auto &box = boxes[part / 64 % 2];
        // The copy engine has to have read the box: all stores but the last one, or that too where it used this box.
        if (sends)
            BN == 64 ? tma_store_wait<0>() : tma_store_wait<1>();
        threads_meet(group, 128);
        #pragma unroll
        for (int j = 0; j < 8; j += 2)
            put_narrow(box, j, &sum[part / 2]);
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            tma_store(C, col + part, row, box);
            tma_store_commit();
        }
    }
}

// A piece has ROWS rows. The pieces follow each other from the GPU after this one: all GPUs then read from different ones.
template <int ROWS, int GPUS> struct pieces {
    int each, K, gpu; // rows of a GPU

    __device__ int count() const { return each * (GPUS - 1) / ROWS; }
    // The piece that begins at a row of A; negative where this GPU owns the row.
    __device__ int at(int row) const
    {
        int owner = row / each, after = (owner - gpu - 1 + GPUS) % GPUS;
        return owner == gpu ? -1 : (after * each + row % each) / ROWS;
    }
    // A warp copies one piece after the other, until all are taken.
    __device__ void copy(element *A, const element *const *owners) const
    {
        constexpr int AT_ONCE = 4;
        int lane = threadIdx.x % 32, vectors = ROWS * K / 8;
        for (;;) {
            int piece = __shfl_sync(~0u, lane == 0 ? (int)atomicAdd(&taken, 1u) : 0, 0);
            if (piece >= count())
                return;
            int after = piece * ROWS / each, row = piece * ROWS % each, owner = (gpu + 1 + after) % GPUS;
            const uint4 *from = (const uint4 *)(owners[owner] + (size_t)row * K);
            uint4 *to = (uint4 *)(A + ((size_t)owner * each + row) * K);
            for (int i = lane; i < vectors; i += 32 * AT_ONCE) {
                uint4 part[AT_ONCE];
                #pragma unroll
                for (int v = 0; v < AT_ONCE; v++)
                    if (i + 32 * v < vectors)
                        part[v] = __ldcg(from + i + 32 * v);
                #pragma unroll
                for (int v = 0; v < AT_ONCE; v++)
                    if (i + 32 * v < vectors)
                        to[i + 32 * v] = part[v];
            }
            __syncwarp();
            threads_meet(4 + threadIdx.x / 32, 32);
            if (lane == 0)
                flag_raise(landed[piece]);
        }
    }
    // A warp waits until the rows of a tile are there: each lane for one piece.
    __device__ void wait(int row) const
    {
        int first = at(row), lane = threadIdx.x % 32;
        if (first < 0)
            return;
        while (!__all_sync(~0u, landed[first + lane]))
            threads_meet(4 + threadIdx.x / 32, 32);
        __threadfence();
        __syncwarp();
        threads_meet(4 + threadIdx.x / 32, 32);
        global_read(); // ordinary stores wrote what the copy engine is going to read
    }
    // The warp that has waited says that its block needs the pieces no longer; that of the last block sets them back.
    __device__ void finish() const
    {
        int lane = threadIdx.x % 32;
        unsigned earlier = 0;
        if (lane == 0) {
            __threadfence();
            earlier = atomicAdd(&finished, 1u);
        }
        if (__shfl_sync(~0u, earlier, 0) != gridDim.x - 1)
            return;
        __threadfence();
        for (int i = lane; i < count(); i += 32)
            landed[i] = 0;
        if (lane == 0)
            taken = finished = 0;
    }
};

// Dynamic shared memory. The tensor cores read swizzled rows of 128 bytes, so B is in boxes of 64 columns.
template <int BM, int BN, int STAGES> struct tiles {
    element a[STAGES][BM][64], b[STAGES][BN / 64][64][64];
    element c[BM / 64][2][64][64];
};

template <int BM, int BN, int STAGES, int GROUP, int CLUSTER, int GPUS>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 + 2 * BM, 1)
fused_panels(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, element *gathered, const element *const *owners, int M, int N, int K, int gpu)
{
    enum { GROUPS = BM / 64, PART = 64 / CLUSTER };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    int down = M / (BM * CLUSTER), across = (N + BN - 1) / BN, rank = cluster_rank();
    if (threadIdx.x == 0) // before a stage is overwritten, the groups of all blocks that share a part of it have read it
        ring_init(full, empty, GROUPS * CLUSTER);
    share<GROUP> work(down, across, (K + 63) / 64, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    ring<STAGES> at;
    // The first tiles are those of the GPU's own rows: meanwhile the others arrive.
    auto top = [&] { return ((p.row + gpu * (down / GPUS)) % down * CLUSTER + rank) * BM; };
    cluster_begin();

    if (threadIdx.x < 128) {
        if (GROUPS > 1)
            registers_down<40>();
        pieces<BM / 32, GPUS> others = {M / GPUS, K, gpu};
        if (threadIdx.x < 32 * COPIERS)
            others.copy(gathered, owners);
        else
            while (work.next(p)) {
                int row = top(), left = p.col * BN;
                others.wait(row);
                if (threadIdx.x % 32 == 0) {
                    #pragma unroll 1
                    for (int t = p.from * 64; t < p.to * 64; t += 64, at.next()) {
                        barrier_wait(empty[at.stage], at.parity ^ 1);
                        barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                        tma_load(tile.a[at.stage], A, t, row, full[at.stage]);
                        #pragma unroll
                        for (int i = 0; i < BN / 64; i++) {
                            if (CLUSTER == 1)
                                tma_load(tile.b[at.stage][i], B, left + 64 * i, t, full[at.stage]);
                            else
                                tma_load_multicast(tile.b[at.stage][i][rank * PART], B, left + 64 * i, t + rank * PART,
                                                   full[at.stage], (1 << CLUSTER) - 1);
                        }
                    }
                }
                __syncwarp();
            }
        __syncwarp();
        threads_meet(GROUPS + 1, 128);
        if (threadIdx.x >= 32 * COPIERS)
            others.finish();
    } else {
        if (GROUPS > 1)
            registers_up<232>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        int me = threadIdx.x % 128, mine = group * 128 + me;
        operand a = along_k(tile.a[0][64 * group]);
        operand b = across_k(tile.b[0], sizeof(tile.b[0][0]));
        float sum[BN / 2];
        ring<STAGES> before;
        auto give_back = [&] {
            if (me < CLUSTER)
                barrier_arrive_at(empty[before.stage], me);
            before.next();
        };
        while (work.next(p)) {
            multiply_piece<element, BN>(sum, a, b, tile, p, at, full, give_back);
            if (!work.adds_up(p)) { // another cluster finishes this tile
                keep<128 * GROUPS>(unfinished[blockIdx.x] + mine, sum);
                threads_meet(group + 1, 128);
                if (me == 0)
                    flag_raise(begun[blockIdx.x][group]);
                continue;
            }
            if (p.from > 0) {
                if (me == 0)
                    flag_await(begun[blockIdx.x - CLUSTER][group]);
                threads_meet(group + 1, 128);
                add_kept<128 * GROUPS>(sum, unfinished[blockIdx.x - CLUSTER] + mine);
            }
            store_boxes<BN>(C, top() + group * 64, p.col * BN, sum, tile.c[group]);
        }
        // Shared memory has to be there until it has been read.
        if (me == 0)
            tma_store_wait<0>();
    }
    // No block leaves while others copy to its shared memory, or arrive at its barriers.
    if (CLUSTER > 1)
        cluster_begin();
}

// ---gemmviz breaks
// [no-wait-for-rows]
// title = "Without waiting for the rows of the other GPUs"
// find = "others.wait(row);"
// replace = ";"
// expect = ["race"]
// at = [128, 128, 128]
// set = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }
//
// [no-fence-for-the-copy-engine]
// title = "Without the fence between ordinary stores and the copy engine"
// find = "global_read();"
// replace = ";"
// expect = ["race"]
// at = [128, 128, 128]
// set = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }
//
// [raised-too-early]
// title = "With a piece's flag raised before all lanes have written"
// find = "threads_meet(4 + threadIdx.x / 32, 32);\n            if (lane == 0)"
// replace = ";\n            if (lane == 0)"
// expect = ["race"]
// at = [128, 320, 128]
// set = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 4, CLUSTER = 1 }
// ---
