// ---gemmviz
// version = 6
// title = "A batch by arrays of pointers"
// entry = "batched"
// args = ["A.pointers", "B.pointers", "C.pointers", "M", "N", "K"]
// batch = 4
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)", 4]
// ---
__global__ void batched(const float *const A[], const float *const *B, float **C, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    const float *a = A[blockIdx.z], *b = B[blockIdx.z];
    if (row >= M || col >= N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += a[row * K + k] * b[k * N + col];
    C[blockIdx.z][row * N + col] = sum;
}
