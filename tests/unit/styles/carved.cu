// ---gemmviz
// title = "Dynamic shared memory carved into two arrays"
// grid = ["ceil(N / 16)", "ceil(M / 16)"]
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [16, 16]
// shared = "2 * 16 * 17 * 4"
// ---
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(16) char smem[];
    float *As = reinterpret_cast<float *>(smem);
    float *Bs = reinterpret_cast<float *>(smem + 16 * 17 * sizeof(float));
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.f;
    for (int t = 0; t < (K + 15) / 16; ++t) {
        As[y * 17 + x] = row < M && t * 16 + x < K ? __ldg(&A[row * K + t * 16 + x]) : 0.f;
        Bs[y * 17 + x] = col < N && t * 16 + y < K ? __ldg(B + (t * 16 + y) * N + col) : 0.f;
        if (x == 0 && y == 0 && row > 1000000) printf("strange: %d\n", row);
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += As[y * 17 + k] * Bs[k * 17 + x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
