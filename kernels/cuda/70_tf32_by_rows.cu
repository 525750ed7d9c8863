// ---gemmviz
// version    = 2
// title      = "TF32, B by rows"
// idea       = "B stays by rows: a thread loads its elements of B from shared memory into registers, which wgmma takes in place of its first operand. So the kernel computes C transposed, and B's transposition costs no extra copy."
// entry      = "tf32_by_rows<BM, STAGES, GROUP, CLUSTER>"
// args       = ["A.map", "B.map", "C.map", "M", "N", "K"]
// params     = { BM = [256, 192, 128, 64], STAGES = [4, 6, 8, 3, 2], GROUP = [8, 4, 16], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// demo       = { size = [128, 128, 192], params = { BM = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [0, 0], stop = { line = "load(now", array = "Bs" }, lens = "pipeline" }
// dtype      = "float32"
// accumulate = "float32"
// math       = "tf32"
// capability = "9.0a"
// maps.A     = { box = ["BM / CLUSTER", 32], swizzle = 128 }
// maps.B     = { box = [32, 32], swizzle = 128 }
// maps.C     = { box = [32, 32], swizzle = 128 }
// block      = [384]
// grid       = ["min(BLOCKS, ceil(M / BM) * ceil(N / (128 * CLUSTER)) * CLUSTER)"]
// cluster    = ["CLUSTER"]
// shared     = "STAGES * (BM + 128) * 128 + 32768"
// requires   = [
//   "N % 4 == 0", "K % 4 == 0", "BM == 64 or BM == 128 or BM == 192 or BM == 256", "STAGES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "STAGES * (BM + 128) * 128 + 32768 <= 231424"
// ]
// ---
// New here: `load`, the products of C transposed, and their store. ring is that of rung 62; share and the flags are those of
// rung 67.
#include <gemmviz/cluster_parts.h>
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>
using namespace gemmviz;
using namespace gemmviz::ptx;

// Starts sum += b a: 64 columns of B, whose elements are in registers, 8 deep, and BM rows of A.
template <int BM> GEMMVIZ_PTX void multiply(float (&sum)[BM / 2], const float (&b)[4], operand a, int add)
{
    if constexpr (BM == 64)
        wgmma_m64n64k8_f32_tf32(sum, b, a, add);
    else if constexpr (BM == 128)
        wgmma_m64n128k8_f32_tf32(sum, b, a, add);
    else if constexpr (BM == 192)
        wgmma_m64n192k8_f32_tf32(sum, b, a, add);
    else
        wgmma_m64n256k8_f32_tf32(sum, b, a, add);
}

// Which two columns of its warpgroup's 64 a lane has: a box of 32, a piece of 4 in it, and the first of two in the piece.
// The lanes 4 q to 4 q + 3 have the same two. The pieces are so chosen that the 16 lanes that are served together meet
// no bank twice, neither where they read B nor where they write C: pieces p and p + 4 of successive rows stand, swizzled,
// in different places.
struct columns {
    int box, piece, first;
    __device__ columns()
    {
        int warp = threadIdx.x / 32 % 4, q = threadIdx.x % 32 / 4;
        box = warp / 2;
        piece = warp % 2 * 2 + q / 4 + q / 2 % 2 * 4;
        first = q % 2 * 2;
    }
};

// Loads a thread's elements of a stage of B: for each 8 rows of it, those of the rows l % 4 and l % 4 + 4, two columns each.
GEMMVIZ_PTX void load(float (&b)[4][4], const float (*boxes)[32][32], columns mine)
{
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            int row = 8 * k + threadIdx.x % 4 + 4 * i;
            float2 two = *(const float2 *)&boxes[mine.box][row][(mine.piece ^ row % 8) * 4 + mine.first];
            b[k][2 * i] = two.x;
            b[k][2 * i + 1] = two.y;
        }
    }
}

// Stores a warpgroup's sums, which begin at (row, col) of C, or adds them to C. Of each 8 rows of C a thread has l % 4 * 2 and
// the next one. A box has 32 rows and 32 columns; two boxes are written while the copy engine reads the other two.
template <int BM>
__device__ __forceinline__ void store(const tensor_map &C, int row, int col, const float (&sum)[BM / 2],
                                      float (*boxes)[2][32][32], columns mine, bool add)
{
    int group = threadIdx.x / 128, quarter = threadIdx.x % 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BM; part += 32) {
        auto &two = boxes[part / 32 % 2];
        if (sends)
            tma_store_wait<1>();
        threads_meet(group, 128);
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            #pragma unroll
            for (int e = 0; e < 2; e++) {
                // Half of the lanes take their two rows in the other order: else lanes would meet in a bank.
                bool odd = e ^ quarter / 2;
                const float *d = &sum[part / 2 + 4 * j];
                int r = 8 * j + quarter * 2 + odd;
                *(float2 *)&two[mine.box][r][(mine.piece ^ r % 8) * 4 + mine.first] =
                    make_float2(odd ? d[1] : d[0], odd ? d[3] : d[2]);
            }
        }
        shared_written();
        threads_meet(group, 128);
        if (sends) {
            for (int i = 0; i < 2; i++) {
                if (add)
                    tma_add(C, col + 32 * i, row + part, two[i]);
                else
                    tma_store(C, col + 32 * i, row + part, two[i]);
            }
            tma_store_commit();
        }
    }
}

// Dynamic shared memory. A row of a has 32 floats of K, a row of b 32 floats of one k: both are the 128 bytes by which boxes
// are swizzled. C leaves in boxes of 32 floats.
template <int BM, int STAGES> struct tiles {
    float a[STAGES][BM][32], b[STAGES][4][32][32];
    float c[2][2][2][32][32];
};

template <int BM, int STAGES, int GROUP, int CLUSTER>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
tf32_by_rows(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
             const __grid_constant__ tensor_map C, int M, int N, int K)
{
    // Each block of a cluster copies PART rows of A's tile, for all.
    enum { PART = BM / CLUSTER };
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BM, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    // A cluster computes CLUSTER tiles, one beside the other, each block the one of its rank.
    int down = (M + BM - 1) / BM, rank = cluster_rank(), across = (N + 128 * CLUSTER - 1) / (128 * CLUSTER);
    begin(full, empty, 2 * CLUSTER, A, B, C);
    share<GROUP> work(down, across, (K + 31) / 32, blockIdx.x / CLUSTER, gridDim.x / CLUSTER);
    piece p;
    bool any = work.next(p);
    cluster_begin();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (; any; any = work.next(p))
                for (int t = p.from * 32; t < p.to * 32; t += 32, at.next()) {
                    barrier_wait(empty[at.stage], at.parity ^ 1);
                    barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                    auto &part = tile.a[at.stage][rank * PART];
                    int row = p.row * BM + rank * PART;
                    if (CLUSTER == 1)
                        tma_load(part, A, t, row, full[at.stage]);
                    else
                        tma_load_multicast(part, A, t, row, full[at.stage], (1 << CLUSTER) - 1);
                    for (int i = 0; i < 4; i++)
                        tma_load(tile.b[at.stage][i], B, ((p.col * CLUSTER + rank) * 4 + i) * 32, t, full[at.stage]);
                }
        }
    } else {
        registers_up<232>();
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1; // the compiler does not know that a warp has one
        bool sends = threadIdx.x % 128 == 0, to_tell = false;
        operand a = along_k(tile.a[0]);
        columns mine;
        float sum[BM / 2], now[4][4];
        ring<STAGES> before;
        returned_stages<CLUSTER, STAGES> give_back = {empty, before};
        for (; any; any = work.next(p)) {
            barrier_wait(full[at.stage], at.parity);
            load(now, &tile.b[at.stage][group * 2], mine);
            for (int t = p.from; t < p.to; t++) {
                wgmma_begin();
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    multiply<BM>(sum, now[k], a + (at.stage * sizeof(tile.a[0]) + k * 8 * sizeof(float)), t > p.from || k);
                wgmma_commit();
                // While the tensor cores work, the elements for the next products are loaded.
                float next[4][4];
                at.next();
                if (t + 1 < p.to) {
                    barrier_wait(full[at.stage], at.parity);
                    load(next, &tile.b[at.stage][group * 2], mine);
                }
                wgmma_wait<0>();
                give_back();
                #pragma unroll
                for (int k = 0; k < 16; k++)
                    now[k / 4][k % 4] = next[k / 4][k % 4];
            }
            // The store of the last piece has arrived by now: setting its flag costs no wait.
            if (sends && to_tell)
                tell(group);
            if (sends && p.from > 0)
                wait_for_first_part<CLUSTER>(group);
            store<BM>(C, p.row * BM, (p.col * CLUSTER + rank) * 128 + group * 64, sum, tile.c[group], mine, p.from > 0);
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
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 100]
// set = { BM = 64, STAGES = 2, CLUSTER = 1 }
//
// [read-before-it-is-full]
// title = "With B read before its stage is full"
// find = "barrier_wait(full[at.stage], at.parity);"
// nth = 2
// replace = ";"
// expect = ["barrier divergence", "race", "read of memory nobody wrote"]
// at = [64, 64, 100]
// set = { BM = 64, STAGES = 2, CLUSTER = 1 }
//
// [columns-in-order]
// title = "With a lane's columns in the order of the lanes"
// find = "piece = warp % 2 * 2 + q / 4 + q / 2 % 2 * 4;"
// replace = "piece = warp % 2 * 4 + q / 2;"
// expect = "bank conflicts"
// ---
