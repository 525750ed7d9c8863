// C = A * B for row-major matrices of floats, with tiles in shared memory.
//
//     nvcc -O3 -o matmul matmul.cu && ./matmul 1024

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define TILE 16

#define CHECK(call)                                               \
    do {                                                          \
        cudaError_t status = (call);                              \
        if (status != cudaSuccess) {                              \
            fprintf(stderr, "%s\n", cudaGetErrorString(status));  \
            exit(EXIT_FAILURE);                                   \
        }                                                         \
    } while (0)

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    int row = blockIdx.y * TILE + threadIdx.x;
    int col = blockIdx.x * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int start = 0; start < K; start += TILE) {
        int k = start + threadIdx.y;
        As[threadIdx.x][threadIdx.y] = row < M && k < K ? A[row * K + k] : 0.0f;
        k = start + threadIdx.x;
        Bs[threadIdx.x][threadIdx.y] = k < K && col < N ? B[k * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += As[threadIdx.x][i] * Bs[i][threadIdx.y];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    size_t bytes = sizeof(float) * n * n;
    std::vector<float> a(n * n, 1.0f), b(n * n, 2.0f), c(n * n);

    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, bytes));
    CHECK(cudaMalloc(&dB, bytes));
    CHECK(cudaMalloc(&dC, bytes));
    CHECK(cudaMemcpy(dA, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, b.data(), bytes, cudaMemcpyHostToDevice));

    dim3 threads(TILE, TILE);
    dim3 blocks((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    matmul<<<blocks, threads>>>(dA, dB, dC, n, n, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dC, bytes, cudaMemcpyDeviceToHost));

    printf("C[0] = %g, expected %g\n", c[0], 2.0 * n);
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    return std::fabs(c[0] - 2.0 * n) > 1e-3 * n;
}
