// ---gemmviz
// version = 6
// title = "A batch with strides: one matrix B for all entries, gaps between the entries of A and C"
// entry = "batched"
// args = ["M", "N", "K", "alpha", "A", "strideA", "B", "strideB", "beta", "C", "strideC", "batch"]
// params = { COUNT = [3, 2] }
// batch = "COUNT"
// strides = { A = "M * K + 8", B = 0, C = "M * N + 4" }
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)", "COUNT"]
// ---
__global__ void batched(int M, int N, int K, float alpha, const float *A, long long strideA, const float *B,
                        long long strideB, float beta, float *C, long long strideC, int batch)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    const int entry = blockIdx.z;
    if (row >= M || col >= N || entry >= batch || gridDim.z != batch)
        return;
    A += entry * strideA;
    B += entry * strideB;
    C += entry * strideC;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
