// ---gemmviz
// version    = 2
// title      = "Two warpgroups multiply"
// idea       = "Two warpgroups hold the sums of 128 x 256, too many for one; the warpgroup that loads gives them some of its registers."
// entry      = "two_consumers<BN, STAGES>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { BN = [256, 128, 64], STAGES = [4, 3, 2] }
// demo       = { size = [256, 256, 384], params = { BN = 256, STAGES = 2 }, block = [0, 1], stop = { share = 0.25 }, lens = "pipeline" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = [128, 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// block      = [384]
// grid       = ["ceil(N / BN)", "ceil(M / 128)"]
// shared     = "STAGES * (128 + BN) * 128"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BN == 64 or BN == 128 or BN == 256", "STAGES >= 2",
//   "STAGES * (128 + BN) * 128 <= 230400"
// ]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Starts sum = a b, or sum += a b: 64 rows of A, 16 deep, and BN columns of B.
template <int BN> __device__ __forceinline__ void multiply(float (&sum)[BN / 2], operand a, operand b, int add)
{
    if constexpr (BN == 64)
        wgmma_m64n64k16_f32_f16<ACROSS_K>(sum, a, b, add);
    else if constexpr (BN == 128)
        wgmma_m64n128k16_f32_f16<ACROSS_K>(sum, a, b, add);
    else
        wgmma_m64n256k16_f32_f16<ACROSS_K>(sum, a, b, add);
}

// Writes a warpgroup's sums, which begin at (row, col) of C. wgmma gives each of the 4 warps 16 of the 64 rows; lane l of a
// warp has row l / 4 and the row 8 below (h), and of each 8 columns (j) column l % 4 * 2 and the next one.
template <int BN>
__device__ __forceinline__ void store(float *C, int M, int N, int row, int col, const float (&sum)[BN / 2])
{
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    col += threadIdx.x % 4 * 2;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        #pragma unroll
        for (int j = 0; j < BN / 8; j++) {
            if (row + 8 * h < M && col + 8 * j < N)
                *(float2 *)&C[(size_t)(row + 8 * h) * N + col + 8 * j] =
                    make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
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

// What is in dynamic shared memory: the tensor cores read rows of 128 bytes, swizzled, so B is in boxes of 64 columns.
template <int BN, int STAGES> struct tiles {
    half a[STAGES][128][64], b[STAGES][BN / 64][64][64];
};

template <int BN, int STAGES>
__global__ void __launch_bounds__(384, 1)
two_consumers(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    int row = blockIdx.y * 128, col = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], 1);
            // A stage is empty when both groups have read it.
            barrier_init(empty[s], 2);
        }
        barriers_ready();
    }
    __syncthreads();

    ring<STAGES> at;
    if (threadIdx.x < 128) {
        // 65536 registers are 168 for each of 384 threads: enough for the loader, too few for those with the sums.
        registers_down<40>();
        if (threadIdx.x == 0) {
            for (int t = 0; t < K; t += 64, at.next()) {
                barrier_wait(empty[at.stage], at.parity ^ 1);
                barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
                tma_load(tile.a[at.stage], A, t, row, full[at.stage]);
                for (int j = 0; j < BN / 64; j++)
                    tma_load(tile.b[at.stage][j], B, col + 64 * j, t, full[at.stage]);
            }
        }
    } else {
        registers_up<232>();
        int rows = threadIdx.x / 128 * 64 - 64; // in the tile: the first of this group
        float sum[BN / 2];
        ring<STAGES> before;
        auto give_back = [&] {
            if (threadIdx.x % 128 == 0)
                barrier_arrive(empty[before.stage]);
            before.next();
        };
        for (int t = 0; t < K; t += 64, at.next()) {
            barrier_wait(full[at.stage], at.parity);
            wgmma_begin();
            #pragma unroll
            for (int k = 0; k < 64; k += 16)
                multiply<BN>(sum, along_k(&tile.a[at.stage][rows][k]),
                             across_k(tile.b[at.stage][0][k], sizeof(tile.b[0][0])), t || k);
            wgmma_commit();
            wgmma_wait<1>();
            if (t > 0)
                give_back();
        }
        wgmma_wait<0>();
        store<BN>(C, M, N, row + rows, col, sum);
    }
}

// ---gemmviz breaks
// [no-wait-for-full]
// title = "Without waiting for a stage to be full"
// find = "barrier_wait(full[at.stage], at.parity);"
// replace = ";"
// expect = ["read of memory nobody wrote"]
//
// [no-wait-for-empty]
// title = "Without waiting for a stage to be empty"
// find = "barrier_wait(empty[at.stage], at.parity ^ 1);"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [wrong-parity]
// title = "With the loader waiting for the wrong parity"
// find = "at.parity ^ 1"
// replace = "at.parity"
// expect = ["barrier divergence", "element of C never written"]
//
// [never-given-back]
// title = "Without giving stages back"
// find = "barrier_arrive(empty[before.stage]);"
// replace = ";"
// expect = ["barrier divergence", "element of C never written"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [one-arrival]
// title = "With a stage empty when one group has read it"
// find = "barrier_init(empty[s], 2);"
// replace = "barrier_init(empty[s], 1);"
// expect = ["barrier divergence", "element of C never written"]
// at = [128, 64, 200]
// set = { BN = 64, STAGES = 2 }
//
// [same-rows]
// title = "With the same rows of A for both groups"
// find = "tile.a[at.stage][rows][k]"
// replace = "tile.a[at.stage][0][k]"
// expect = ["wrong result"]
// at = [128, 64, 64]
// ---
