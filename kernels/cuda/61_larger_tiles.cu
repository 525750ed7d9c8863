// ---gemmviz
// version    = 2
// title      = "Larger tiles"
// idea       = "Tiles of 128 x 128 instead of 64 x 64: each element that is loaded is used twice as often."
// entry      = "larger_tiles<BM, BN>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { BM = [128, 64], BN = [128, 64, 256] }
// demo       = { size = [256, 256, 384], params = { BM = 128, BN = 128 }, block = [1, 0], stop = { line = "wgmma_m64n128k16_f32_f16", array = "Bs", nth = 92 }, lens = "reuse" }
// dtype      = "float16"
// accumulate = "float32"
// capability = "9.0a"
// maps.A     = { box = ["BM", 64], swizzle = 128 }
// maps.B     = { box = [64, 64], swizzle = 128 }
// block      = [128]
// grid       = ["ceil(N / BN)", "ceil(M / BM)"]
// requires   = [
//   "N % 8 == 0", "K % 8 == 0", "BM == 64 or BM == 128", "BN == 64 or BN == 128 or BN == 256", "BM * BN <= 16384"
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

template <int BM, int BN>
__global__ void __launch_bounds__(128)
larger_tiles(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C, int M, int N, int K)
{
    __shared__ alignas(1024) half As[BM][64];
    __shared__ alignas(1024) half Bs[BN / 64][64][64];
    __shared__ barrier full;
    int row = blockIdx.y * BM, col = blockIdx.x * BN;
    // 128 x 128 sums fill 128 registers of each thread: one warpgroup can hardly keep more.
    float sum[BM / 64][BN / 2];
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barriers_ready();
    }
    __syncthreads();

    unsigned parity = 0;
    for (int t = 0; t < K; t += 64) {
        if (threadIdx.x == 0) {
            barrier_arrive_expect(full, sizeof(As) + sizeof(Bs));
            tma_load(As, A, t, row, full);
            for (int j = 0; j < BN / 64; j++)
                tma_load(Bs[j], B, col + 64 * j, t, full);
        }
        barrier_wait(full, parity);
        parity ^= 1;
        wgmma_begin();
        #pragma unroll
        for (int k = 0; k < 64; k += 16) {
            #pragma unroll
            for (int i = 0; i < BM / 64; i++)
                multiply<BN>(sum[i], along_k(&As[64 * i][k]), across_k(Bs[0][k], sizeof(Bs[0])), t || k);
        }
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < BM / 64; i++)
        store<BN>(C, M, N, row + 64 * i, col, sum[i]);
}

// ---gemmviz breaks
// [no-wait-for-tiles]
// title = "Without waiting for the tiles"
// find = "barrier_wait(full, parity);"
// replace = ";"
// expect = ["read of memory nobody wrote"]
//
// [same-parity]
// title = "With the same parity in each step"
// find = "parity ^= 1;"
// replace = ";"
// expect = ["race"]
// at = [64, 64, 200]
//
// [no-wait-for-product]
// title = "Without waiting for the product"
// find = "wgmma_wait<0>();"
// replace = ";"
// expect = ["wrong result"]
//
// [no-barrier]
// title = "Without the barrier behind the product"
// find = "__syncthreads();"
// nth = 2
// replace = ";"
// expect = "race"
// at = [64, 64, 200]
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + 8 * h < M && col + 8 * j < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
// ---
