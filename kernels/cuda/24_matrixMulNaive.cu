// ---gemmviz
// version  = 2
// title    = "One thread per element, 16 x 16 blocks"
// idea     = "The blog post's first kernel: a register sum behind a bounds check, in blocks of 16 x 16 threads."
// source   = "S2"
// alias    = "matrixMulNaive"
// entry    = "matrixMulNaive"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BX = [16, 32, 8], BY = [16, 32, 8] }
// demo     = { size = 32, params = { BX = 16, BY = 16 }, block = [1, 0], thread = [2, 1], stop = { line = "sum += A", array = "B", nth = 3 }, lens = "coalescing" }
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

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (row >= M || col >= N)\n        return;"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [row-by-x]
// title = "With threadIdx.x counting rows"
// expect = "uncoalesced"
// [[row-by-x.edits]]
// find = "int row = blockIdx.y * blockDim.y + threadIdx.y;"
// replace = "int row = blockIdx.y * blockDim.y + threadIdx.x;"
// [[row-by-x.edits]]
// find = "int col = blockIdx.x * blockDim.x + threadIdx.x;"
// replace = "int col = blockIdx.x * blockDim.x + threadIdx.y;"
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
