// ---gemmviz
// title = "Three stages of cp.async, ldmatrix with a swizzle, mma"
// entry = "hgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = ["N / 32", "M / 32"]
// dtype = "float16"
// accumulate = "float32"
// shared = "3 * 2 * 32 * 32 * 2"
// requires = ["M % 32 == 0", "N % 32 == 0", "K % 32 == 0"]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz;
constexpr int BM = 32, BN = 32, BK = 32, STAGES = 3;
// Chunks of 8 halves change places in a row, so that eight rows of a matrix lie in different banks.
__device__ __forceinline__ int at(int row, int chunk) { return row * BK + (chunk ^ (row >> 1 & 3)) * 8; }
__global__ void hgemm(const half *A, const half *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(128) unsigned char smem[];
    half *As = reinterpret_cast<half *>(smem), *Bs = As + STAGES * BM * BK;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 2 * 16, wn = warp % 2 * 16;
    auto stage = [&](int i) {
        if (i * BK < K) {
            half *a = As + i % STAGES * BM * BK, *b = Bs + i % STAGES * BN * BK;
            int row = t / 4, chunk = t % 4;
            ptx::cp_async_cg16(&a[at(row, chunk)], &A[(blockIdx.y * BM + row) * K + i * BK + chunk * 8]);
            ptx::cp_async_cg16(&b[at(row, chunk)], &B[(i * BK + row) * N + blockIdx.x * BN + chunk * 8]);
        }
        ptx::cp_async_commit();
    };
    float sum[2][4] = {};
    for (int i = 0; i < STAGES - 1; i++) stage(i);
    for (int i = 0; i < K / BK; i++) {
        ptx::cp_async_wait<STAGES - 2>();
        __syncthreads();
        stage(i + STAGES - 1);
        const half *a = As + i % STAGES * BM * BK, *b = Bs + i % STAGES * BN * BK;
        for (int k = 0; k < BK; k += 16) {
            unsigned ra[4], rb[2][2];
            ptx::ldmatrix_x4(ra, &a[at(wm + lane % 16, k / 8 + lane / 16)]);
            for (int n = 0; n < 2; n++) ptx::ldmatrix_x2_trans(rb[n], &b[at(k + lane % 16, wn / 8 + n)]);
            for (int n = 0; n < 2; n++) ptx::mma_m16n8k16_f32_f16(sum[n], ra, rb[n], sum[n]);
        }
    }
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 4; i += 2) {
            int row = blockIdx.y * BM + wm + lane / 4 + i / 2 * 8, col = blockIdx.x * BN + wn + n * 8 + lane % 4 * 2;
            *reinterpret_cast<float2 *>(&C[row * N + col]) = make_float2(sum[n][i], sum[n][i + 1]);
        }
}
