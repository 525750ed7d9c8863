// ---gemmviz
// title = "Two stages of cp.async, edges filled with zeros"
// entry = "tiled"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = ["ceil(N / 32)", "ceil(M / 32)"]
// ---
#include <gemmviz/ptx.h>
using namespace gemmviz::ptx;
const int T = 32, KT = 8;
__device__ void fetch(
    float (&As)[T][KT], float (&Bs)[KT][T], const float *A, const float *B, int M, int N, int K, int k0)
{
    int t = threadIdx.x, row = blockIdx.y * T + t / 4, col = k0 + t % 4 * 2;
    for (int i = 0; i < 2; i++)
        cp_async_ca_zfill<4>(&As[t / 4][t % 4 * 2 + i], A + row * K + col + i, row < M && col + i < K ? 4 : 0);
    for (int i = t; i < KT * T; i += 128) {
        int k = k0 + i / T, j = blockIdx.x * T + i % T;
        cp_async_ca_zfill<4>(&Bs[i / T][i % T], B + k * N + j, k < K && j < N ? 4 : 0);
    }
    cp_async_commit();
}
__global__ void tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[2][T][KT], Bs[2][KT][T];
    int t = threadIdx.x, row = t / 32, col = t % 32;
    float sum[8] = {};
    fetch(As[0], Bs[0], A, B, M, N, K, 0);
    for (int k0 = 0, now = 0; k0 < K; k0 += KT, now ^= 1) {
        fetch(As[now ^ 1], Bs[now ^ 1], A, B, M, N, K, k0 + KT);
        cp_async_wait<1>();
        __syncthreads();
        for (int k = 0; k < KT; k++)
            for (int i = 0; i < 8; i++) sum[i] += As[now][row + 4 * i][k] * Bs[now][k][col];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int r = blockIdx.y * T + row + 4 * i, c = blockIdx.x * T + col;
        if (r < M && c < N) C[r * N + c] = sum[i];
    }
}
