// ---gemmviz
// version  = 2
// title    = "Integers, B stored by columns, any size"
// idea     = "mm behind a bounds check: where the grid is larger than the matrix, the threads outside do nothing."
// source   = "S1"
// alias    = "mm + bounds"
// entry    = "mm_bounds"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 3, params = { BLOCK_SIZE = 2 }, block = [1, 0], thread = [0, 1], stop = { line = "C[i * N + j] += A", array = "B", nth = 2 }, lens = "memory order" }
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

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (i < M && j < N) {"
// replace = "{"
// expect = ["out of bounds", "race"]
//
// [zero-never-set]
// title = "Without setting C to 0"
// find = "C[i * N + j] = 0;"
// expect = "read of memory nobody wrote"
//
// [row-by-x]
// title = "With threadIdx.x counting rows"
// expect = ["uncoalesced", "fewer sectors"]
// [[row-by-x.edits]]
// find = "int i = blockIdx.y * blockDim.y + threadIdx.y;"
// replace = "int i = blockIdx.y * blockDim.y + threadIdx.x;"
// [[row-by-x.edits]]
// find = "int j = blockIdx.x * blockDim.x + threadIdx.x;"
// replace = "int j = blockIdx.x * blockDim.x + threadIdx.y;"
//
// [sum-in-register]
// title = "With the sum in a register"
// expect = "none"
// [[sum-in-register.edits]]
// find = "C[i * N + j] = 0;"
// replace = "int sum = 0;"
// [[sum-in-register.edits]]
// find = "for (int k = 0; k < K; k++)\n            C[i * N + j] += A[i * K + k] * B[k + j * K];"
// replace = "for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k + j * K];\n        C[i * N + j] = sum;"
// ---
