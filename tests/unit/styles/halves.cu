// ---gemmviz
// title = "Halves in pairs and in a structure of four"
// entry = "hgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = ["N / 32", "M / 32"]
// dtype = "float16"
// requires = ["M % 32 == 0", "N % 32 == 0", "K % 16 == 0"]
// ---
#include <cuda_fp16.h>
struct __align__(8) half4 { half x, y, z, w; };
__global__ void hgemm(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K)
{
    __shared__ half As[32][16 + 8];
    __shared__ half2 Bs[16][16];
    int t = threadIdx.x;
    half2 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = __float2half2_rn(0.f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        *reinterpret_cast<half4 *>(&As[t / 4][t % 4 * 4]) =
            *reinterpret_cast<const half4 *>(A + (blockIdx.y * 32 + t / 4) * K + k0 + t % 4 * 4);
        for (int i = t; i < 256; i += 128)
            Bs[i / 16][i % 16] = reinterpret_cast<const half2 *>(B + (k0 + i / 16) * N + blockIdx.x * 32)[i % 16];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                sum[i] = __hfma2(__half2half2(As[t / 16 + 8 * i][k]), Bs[k][t % 16], sum[i]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *reinterpret_cast<half2 *>(&C[(blockIdx.y * 32 + t / 16 + 8 * i) * N + blockIdx.x * 32 + t % 16 * 2]) = sum[i];
}
