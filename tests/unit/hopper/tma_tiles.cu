// ---gemmviz
// title      = "Tiles by the copy engine"
// entry      = "tma_tiles"
// args       = ["A.map", "B.map", "C.map", "K"]
// dtype      = "float16"
// accumulate = "float32"
// maps       = { A = { box = [32, 64], swizzle = 128 }, B = { box = [64, 16], swizzle = 32 }, C = { box = [32, 16], swizzle = 64 } }
// block      = [16, 32]
// grid       = ["ceil(N / 16)", "ceil(M / 32)"]
// ---
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

// Where a byte stands in a box whose rows are as long as its swizzle: the 16-byte pieces change places.
template <int Bytes> __device__ int swizzled(int at)
{
    return at ^ (at >> 3 & (Bytes - 1) & ~15);
}

__global__ void tma_tiles(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B,
                          const __grid_constant__ tensor_map C, int K)
{
    __shared__ alignas(1024) half a[32][64];
    __shared__ alignas(1024) half b[64][16];
    __shared__ alignas(1024) float c[32][16];
    __shared__ barrier full;
    int i = threadIdx.y, j = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 16;
    bool first = i == 0 && j == 0;
    if (first) {
        barrier_init(full, 1);
        barriers_ready();
    }
    __syncthreads();

    float sum = 0;
    unsigned parity = 0;
    for (int k = 0; k < K; k += 64) {
        if (first) {
            barrier_arrive_expect(full, sizeof(a) + sizeof(b));
            tma_load(a, A, k, row, full);
            tma_load(b, B, column, k, full);
        }
        barrier_wait(full, parity);
        parity ^= 1;
        for (int l = 0; l < 64; l++)
            sum += __half2float(*(half *)((char *)a + swizzled<128>(2 * (64 * i + l)))) *
                   __half2float(*(half *)((char *)b + swizzled<32>(2 * (16 * l + j))));
        __syncthreads();
    }

    *(float *)((char *)c + swizzled<64>(4 * (16 * i + j))) = sum;
    shared_written();
    __syncthreads();
    if (first) {
        tma_store(C, column, row, c);
        tma_store_commit();
        tma_store_wait<0>();
    }
}
