// A textbook's program: one width for square matrices called M, N and P, and the host's own launch in the same file.
#include <cuda_runtime.h>
#include <stdio.h>
constexpr int TILE_WIDTH = 16;
#define CHECK(call) do { if ((call) != cudaSuccess) printf("failed: %s\n", #call); } while (0)

__global__ void MatrixMulKernel(float *M, float *N, float *P, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[Row * Width + ph * TILE_WIDTH + tx];
        Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Width + Col];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    P[Row * Width + Col] = Pvalue;
}

static void multiply(float *hM, float *hN, float *hP, int width)
{
    float *dM, *dN, *dP;
    size_t bytes = sizeof(float) * width * width;
    CHECK(cudaMalloc(&dM, bytes));
    CHECK(cudaMalloc(&dN, bytes));
    CHECK(cudaMalloc(&dP, bytes));
    CHECK(cudaMemcpy(dM, hM, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dN, hN, bytes, cudaMemcpyHostToDevice));
    dim3 threads(TILE_WIDTH, TILE_WIDTH);
    dim3 blocks((width + TILE_WIDTH - 1) / TILE_WIDTH, (width + threads.y - 1) / threads.y);
    MatrixMulKernel<<<blocks, threads>>>(dM, dN, dP, width);
    CHECK(cudaMemcpy(hP, dP, bytes, cudaMemcpyDeviceToHost));
}

int main()
{
    static float M[256 * 256], N[256 * 256], P[256 * 256];
    multiply(M, N, P, 256);
    printf("%f\n", P[0]); // "}"
    return 0;
}
