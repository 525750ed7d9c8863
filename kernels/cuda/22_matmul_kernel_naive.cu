// ---gemmviz
// version  = 2
// title    = "One thread per element, uncoalesced"
// idea     = "threadIdx.x counts rows: the 32 lanes of a warp read 32 different rows of A, one sector each, at every k-step."
// source   = "S3"
// alias    = "matmul_kernel_naive"
// entry    = "matmul_kernel_naive"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BX = [32, 16, 8], BY = [32, 16, 8] }
// demo     = { size = 32, params = { BX = 32, BY = 2 }, block = [0, 1], thread = [3, 1], stop = { line = "sum += A", array = "A" }, lens = "coalescing" }
// block    = ["BX", "BY"]
// grid     = ["ceil(M / BX)", "ceil(N / BY)"]
// requires = ["BX >= 1", "BY >= 1", "BX * BY <= 1024"]
// ---

__global__ void matmul_kernel_naive(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (row < M && col < N) {"
// replace = "{"
// expect = ["out of bounds", "race"]
//
// [column-by-x]
// title = "With threadIdx.x counting columns"
// expect = "fewer sectors"
// [[column-by-x.edits]]
// find = "int row = blockIdx.x * blockDim.x + threadIdx.x;"
// replace = "int row = blockIdx.x * blockDim.x + threadIdx.y;"
// [[column-by-x.edits]]
// find = "int col = blockIdx.y * blockDim.y + threadIdx.y;"
// replace = "int col = blockIdx.y * blockDim.y + threadIdx.x;"
//
// [sum-in-memory]
// title = "With the sum in C itself"
// expect = "none"
// [[sum-in-memory.edits]]
// find = "float sum = 0;"
// replace = "C[row * N + col] = 0;"
// [[sum-in-memory.edits]]
// find = "sum +="
// replace = "C[row * N + col] +="
// [[sum-in-memory.edits]]
// find = "C[row * N + col] = sum;"
// ---
