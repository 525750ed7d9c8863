// ---gemmviz
// title      = "Two blocks for each tile: the second has the copy engine add its part of the sums"
// entry      = "two_parts"
// args       = ["A", "B", "C.map", "M", "N", "K"]
// capability = "9.0a"
// maps       = { C = { box = [16, 16], swizzle = 0 } }
// block      = [16, 16]
// grid       = ["2 * ceil(M / 16) * ceil(N / 16)"]
// requires   = ["N % 4 == 0"]
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

__device__ volatile int stored[64]; // whether the first part of a tile is in C

__global__ void two_parts(const float *A, const float *B, const __grid_constant__ tensor_map C, int M, int N, int K)
{
    __shared__ __align__(128) float c[16][16];
    int tile = blockIdx.x / 2, second = blockIdx.x % 2, across = (N + 15) / 16;
    int top = tile / across * 16, left = tile % across * 16, i = top + threadIdx.y, j = left + threadIdx.x;
    float sum = 0;
    for (int k = second * (K / 2); k < (second ? K : K / 2); k++)
        sum += i < M && j < N ? A[i * K + k] * B[k * N + j] : 0;
    c[threadIdx.y][threadIdx.x] = sum;
    shared_written();
    __syncthreads();
    if (threadIdx.y || threadIdx.x)
        return;
    if (!second) {
        tma_store(C, left, top, c);
        tma_store_commit();
        tma_store_wait_written();
        __threadfence();
        stored[tile] = 1;
    } else {
        while (!stored[tile]) {}
        stored[tile] = 0;
        __threadfence();
        global_read();
        tma_add(C, left, top, c);
        tma_store_commit();
        tma_store_wait<0>();
    }
}
