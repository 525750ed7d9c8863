// BLAS-like: alpha and beta, tiles as template arguments, threads in one dimension, loads of four floats at a time.
#include <cuda_runtime.h>

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const uint tileRow = blockIdx.y;
    const uint tileCol = blockIdx.x;
    const uint threadCol = threadIdx.x % (BN / TN);
    const uint threadRow = threadIdx.x / (BN / TN);

    __shared__ float As[BK * BM]; // transposed, so that a thread reads its rows in one piece
    __shared__ float Bs[BK * BN];

    A += tileRow * BM * K;
    B += tileCol * BN;
    C += tileRow * BM * N + tileCol * BN;

    const uint rowA = threadIdx.x / (BK / 4), colA = threadIdx.x % (BK / 4);
    const uint rowB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4);
    constexpr uint threads = (BM * BN) / (TM * TN);
    constexpr uint strideA = threads * 4 / BK;
    constexpr uint strideB = threads * 4 / BN;

    float sums[TM * TN] = {0.0f};
    float regM[TM], regN[TN];

    for (uint start = 0; start < K; start += BK) {
        for (uint offset = 0; offset < BM; offset += strideA) {
            const float4 four = reinterpret_cast<const float4 *>(&A[(rowA + offset) * K + colA * 4])[0];
            As[(colA * 4 + 0) * BM + rowA + offset] = four.x;
            As[(colA * 4 + 1) * BM + rowA + offset] = four.y;
            As[(colA * 4 + 2) * BM + rowA + offset] = four.z;
            As[(colA * 4 + 3) * BM + rowA + offset] = four.w;
        }
        for (uint offset = 0; offset < BK; offset += strideB)
            reinterpret_cast<float4 *>(&Bs[(rowB + offset) * BN + colB * 4])[0] =
                reinterpret_cast<const float4 *>(&B[(rowB + offset) * N + colB * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;

        for (uint k = 0; k < BK; ++k) {
            for (uint i = 0; i < TM; ++i)
                regM[i] = As[k * BM + threadRow * TM + i];
            for (uint j = 0; j < TN; ++j)
                regN[j] = Bs[k * BN + threadCol * TN + j];
            for (uint i = 0; i < TM; ++i)
                for (uint j = 0; j < TN; ++j)
                    sums[i * TN + j] += regM[i] * regN[j];
        }
        __syncthreads();
    }

    for (uint i = 0; i < TM; ++i) {
        for (uint j = 0; j < TN; j += 4) {
            float4 old = reinterpret_cast<float4 *>(&C[(threadRow * TM + i) * N + threadCol * TN + j])[0];
            old.x = alpha * sums[i * TN + j] + beta * old.x;
            old.y = alpha * sums[i * TN + j + 1] + beta * old.y;
            old.z = alpha * sums[i * TN + j + 2] + beta * old.z;
            old.w = alpha * sums[i * TN + j + 3] + beta * old.w;
            reinterpret_cast<float4 *>(&C[(threadRow * TM + i) * N + threadCol * TN + j])[0] = old;
        }
    }
}
