// ---gemmviz
// title    = "One thread per element, 16 x 16 blocks"
// idea     = "The textbook kernel: a register sum behind a bounds check, in blocks of 16 x 16 threads."
// source   = "S2"
// alias    = "matrixMulNaive"
// entry    = "matrixMulNaive"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BX = [16, 32, 8], BY = [16, 32, 8] }
// block    = ["BX", "BY"]
// grid     = ["ceil(N / BX)", "ceil(M / BY)"]
// requires = ["BX >= 1", "BY >= 1", "BX * BY <= 1024"]
// ---

__global__ void matrixMulNaive(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
