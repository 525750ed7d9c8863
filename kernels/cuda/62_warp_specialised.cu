// ---gemmviz
// version    = 2
// title      = "Warp specialisation"
// idea       = "One warpgroup only loads, one only multiplies, and a ring of stages between them keeps both busy."
// entry      = "warp_specialised<BM, BN, STAGES>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { BM = [128, 64], BN = [128, 64, 256], STAGES = [4, 2, 3, 5] }
// demo       = { size = [128, 128, 256], params = { BM = 64, BN = 64, STAGES = 3 }, block = [1, 0], stop = { tile = 4 }, lens = "pipeline" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = ["BM", 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// block      = [256]
// grid       = ["ceil(N / BN)", "ceil(M / BM)"]
// shared     = "STAGES * (BM + BN) * 128"
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BM == 64 or BM == 128", "BN == 64 or BN == 128 or BN == 256", "BM * BN <= 16384",
//   "STAGES >= 2", "STAGES * (BM + BN) * 128 <= 230400"
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
template <int BM, int BN, int STAGES> struct tiles {
    half a[STAGES][BM][64], b[STAGES][BN / 64][64][64];
};

template <int BM, int BN, int STAGES>
__global__ void __launch_bounds__(256)
warp_specialised(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C,
                 int M, int N, int K)
{
    extern __shared__ __align__(1024) char memory[];
    auto &tile = *(tiles<BM, BN, STAGES> *)memory;
    __shared__ barrier full[STAGES], empty[STAGES];
    int row = blockIdx.y * BM, col = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full[s], 1);
            barrier_init(empty[s], 1);
        }
        barriers_ready();
    }
    __syncthreads();

    ring<STAGES> at;
    if (threadIdx.x == 0) {
        // The loader waits until a stage is empty. At first all are: a barrier counts as if phase 1 were over.
        for (int t = 0; t < K; t += 64, at.next()) {
            barrier_wait(empty[at.stage], at.parity ^ 1);
            barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
            tma_load(tile.a[at.stage], A, t, row, full[at.stage]);
            for (int j = 0; j < BN / 64; j++)
                tma_load(tile.b[at.stage][j], B, col + 64 * j, t, full[at.stage]);
        }
    } else if (threadIdx.x >= 128) {
        float sum[BM / 64][BN / 2];
        ring<STAGES> before;
        // One thread speaks for its group: what it has waited for, the whole group has multiplied.
        auto give_back = [&] {
            if (threadIdx.x == 128)
                barrier_arrive(empty[before.stage]);
            before.next();
        };
        for (int t = 0; t < K; t += 64, at.next()) {
            barrier_wait(full[at.stage], at.parity);
            wgmma_begin();
            #pragma unroll
            for (int k = 0; k < 64; k += 16) {
                #pragma unroll
                for (int i = 0; i < BM / 64; i++)
                    multiply<BN>(sum[i], along_k(&tile.a[at.stage][64 * i][k]),
                                 across_k(tile.b[at.stage][0][k], sizeof(tile.b[0][0])), t || k);
            }
            wgmma_commit();
            // These products go on while the stage of those before, which are done, is given back.
            wgmma_wait<1>();
            if (t > 0)
                give_back();
        }
        wgmma_wait<0>();
        #pragma unroll
        for (int i = 0; i < BM / 64; i++)
            store<BN>(C, M, N, row + 64 * i, col, sum[i]);
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
// set = { BM = 64, BN = 64, STAGES = 2 }
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
// set = { BM = 64, BN = 64, STAGES = 2 }
//
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BM = 64, BN = 64, STAGES = 2 }
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + 8 * h < M && col + 8 * j < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
// ---
