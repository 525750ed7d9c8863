// ---gemmviz
// title      = "One product of a warpgroup after the other"
// entry      = "shapes"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// block      = ["128"]
// grid       = ["1"]
// maps       = { A = { box = [64, 64], swizzle = 128 }, B = { box = [64, 64], swizzle = 128 } }
// shared     = "64 * 64 * 2 + 64 * N * 2"
// requires   = ["M == 64", "N == 64"]
// capability = "9.0a"
// dtype      = "float16"
// accumulate = "float32"
// ---
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

__global__ void shapes(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C,
                       int M, int N, int K)
{
    extern __shared__ __align__(1024) char raw[];
    __shared__ barrier loaded;
    constexpr int COLUMNS = 64;
    float sum[COLUMNS / 2] = {};
    unsigned parity = 0;
    int t = threadIdx.x;
    if (t == 0) barrier_init(loaded, 1);
    __syncthreads();
    for (int k = 0; k < K; k += 64, parity ^= 1) {
        if (t == 0) {
            barrier_arrive_expect(loaded, 64 * 128 + COLUMNS * 128);
            tma_load(raw, A, k, 0, loaded);
            for (int n = 0; n < COLUMNS; n += 64) tma_load(raw + 8192 + n * 128, B, n, k, loaded);
        }
        barrier_wait(loaded, parity);
        wgmma_begin();
        for (int kk = 0; kk < 64; kk += 16)
            wgmma_m64n64k16_f32_f16<ACROSS_K>(sum, along_k(raw + kk * 2), across_k(raw + 8192 + kk * 128, 8192), 1);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    int row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
    for (int i = 0; i < COLUMNS / 2; i++) C[(row + i / 2 % 2 * 8) * N + col + i / 4 * 8 + i % 2] = sum[i];
}
