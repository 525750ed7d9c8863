// ---gemmviz
// entry = "sgemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["N / 8", "M / 8"]
// requires = ["M % 8 == 0", "N % 8 == 0", "K % 8 == 0"]
// capability = "8.0"
// ---
#include "steps.cuh"

__global__ void sgemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[8][8], Bs[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0;
    for (int k = 0; k < K; k += 8) {
        async_copy<4>(shared_address(&As[y][x]), A + row * K + k + x);
        async_copy<4>(shared_address(&Bs[y][x]), B + (k + y) * N + column);
        async_wait<0>();
        __syncthreads();
        for (int i = 0; i < 8; i++) {
            float a = read_shared(shared_address(&As[y][i]));
            float b = read_shared(shared_address(&Bs[i][x]));
            asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
        }
        __syncthreads();
    }
    asm volatile("st.global.f32 [%0], %1;" ::"l"(C + row * N + column), "f"(sum) : "memory");
}
