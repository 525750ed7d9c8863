// ---gemmviz
// title    = "Integers, B stored by columns"
// idea     = "A thread runs along a row of A and a column of B, each in one piece; but the lanes of a warp now read B a column apart."
// source   = "S1"
// alias    = "mm"
// entry    = "mm"
// args     = ["A", "B", "C", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["N / BLOCK_SIZE", "M / BLOCK_SIZE"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32", "M % BLOCK_SIZE == 0", "N % BLOCK_SIZE == 0"]
// dtype    = "int32"
// layout   = { B = "column" }
// ---

__global__ void mm(const int *A, const int *B, int *C, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    C[i * N + j] = 0;
    for (int k = 0; k < K; k++)
        C[i * N + j] += A[i * K + k] * B[k + j * K];
}
