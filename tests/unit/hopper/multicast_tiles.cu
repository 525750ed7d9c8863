// ---gemmviz
// title      = "Two blocks share what each of them loads"
// entry      = "multicast_tiles<KIND>"
// args       = ["A.map", "B.map", "C", "M", "N", "K"]
// params     = { KIND = [0] }
// dtype      = "bfloat16"
// accumulate = "float32"
// capability = "9.0a"
// maps       = { A = { box = [4, 64] }, B = { box = [64, 16] } }
// block      = [128]
// grid       = ["ceil(N / 16)", "ceil(M / 8)"]
// cluster    = [2]
// ---
#include <cuda_bf16.h>
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

template <int Kind>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 1)
    multicast_tiles(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C, int M, int N, int K)
{
    __shared__ alignas(1024) __nv_bfloat16 a[8][64];
    __shared__ alignas(1024) __nv_bfloat16 b[64][16];
    __shared__ barrier full;
    int i = threadIdx.x / 16, j = threadIdx.x % 16, row = blockIdx.y * 8, column = blockIdx.x * 16;
    unsigned rank = cluster_rank();
    registers_down<64>();
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barriers_ready();
    }
    cluster_meet();

    float sum = 0;
    unsigned parity = 0;
    for (int k = 0; k < K; k += 64) {
        if (threadIdx.x == 0) {
            barrier_arrive_expect(full, sizeof(a) + sizeof(b));
            tma_load_multicast(a[4 * rank], A, k, row + 4 * rank, full, 3);
            tma_load(b, B, column, k, full);
        }
        barrier_wait(full, parity);
        for (int l = 0; l < 64; l++)
            sum += __bfloat162float(a[i][l]) * __bfloat162float(b[l][j]);
        parity ^= 1;
        // Both blocks have to be through with the tile: each of them writes into the other one's.
        cluster_meet();
    }
    if (row + i < M && column + j < N)
        C[(row + i) * N + column + j] = sum;
}
