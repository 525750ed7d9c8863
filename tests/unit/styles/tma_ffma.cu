// ---gemmviz
// title    = "Boxes for plain FP32 arithmetic: two stages, swizzled by 64 bytes"
// entry    = "boxes"
// args     = ["A.map", "B.map", "C", "M", "N", "K"]
// block    = ["160"]
// grid     = ["ceil(N / 32)", "ceil(M / 32)"]
// maps     = { A = { box = [32, 16], swizzle = 64 }, B = { box = [16, 32] } }
// shared   = "2 * 2 * 2048"
// capability = "9.0"
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;

__global__ void boxes(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, float *C,
                      int M, int N, int K)
{
    extern __shared__ __align__(1024) char raw[];
    __shared__ barrier full[2], empty[2];
    int row = blockIdx.y * 32, col = blockIdx.x * 32, t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; s++) {
            barrier_init(full[s], 1);
            barrier_init(empty[s], 4);
        }
        barriers_ready();
    }
    __syncthreads();
    if (t >= 128) {
        if (t > 128) return;
        for (int step = 0; step * 16 < K; step++) {
            barrier_wait(empty[step % 2], step / 2 % 2 ^ 1);
            barrier_arrive_expect(full[step % 2], 4096);
            tma_load(raw + step % 2 * 2048, A, step * 16, row, full[step % 2]);
            tma_load(raw + 4096 + step % 2 * 2048, B, col, step * 16, full[step % 2]);
        }
        return;
    }
    float sum[8] = {};
    int i = t / 4, j0 = t % 4 * 8;
    for (int step = 0; step * 16 < K; step++) {
        barrier_wait(full[step % 2], step / 2 % 2);
        const char *As = raw + step % 2 * 2048;
        const float *Bs = (const float *)(raw + 4096 + step % 2 * 2048);
        for (int k = 0; k < 16; k++) {
            float a = *(const float *)(As + i * 64 + (k / 4 ^ i / 2 % 4) * 16 + k % 4 * 4);
            for (int j = 0; j < 8; j++) sum[j] += a * Bs[k * 32 + j0 + j];
        }
        __syncwarp();
        if (t % 32 == 0) barrier_arrive(empty[step % 2]);
    }
    for (int j = 0; j < 8; j++)
        if (row + i < M && col + j0 + j < N) C[(row + i) * N + col + j0 + j] = sum[j];
}
