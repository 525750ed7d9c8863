// ---gemmviz
// title    = "Integers, B stored by columns, any size"
// idea     = "mm behind a bounds check: where the grid overshoots the matrix, the threads outside do nothing."
// source   = "S1"
// alias    = "mm + bounds"
// entry    = "mm_bounds"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// dtype    = "int32"
// layout   = { B = "column" }
// ---

__global__ void mm_bounds(const int *A, const int *B, int *C, int M, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M && j < N) {
        C[i * N + j] = 0;
        for (int k = 0; k < K; k++)
            C[i * N + j] += A[i * K + k] * B[k + j * K];
    }
}
