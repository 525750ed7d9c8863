// ---gemmviz
// title = "bfloat16, sums and C in float"
// entry = "bgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [16, 16]
// grid = ["ceil(N / 16)", "ceil(M / 16)"]
// dtype = "bfloat16"
// accumulate = "float32"
// ---
#include <cuda_bf16.h>
__global__ void bgemm(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int M, int N, int K)
{
    __shared__ __nv_bfloat16 As[16][16], Bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : __float2bfloat16(0.0f);
        Bs[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : __float2bfloat16(0.0f);
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += __bfloat162float(As[y][k]) * __bfloat162float(Bs[k][x]);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
