// ---gemmviz
// version  = 2
// title    = "Integers, B stored by columns"
// idea     = "B lies by columns: one thread reads neighbours one after another, but neighbouring lanes read different columns."
// source   = "S1"
// alias    = "mm"
// entry    = "mm"
// args     = ["A", "B", "C", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 4, params = { BLOCK_SIZE = 2 }, block = [1, 0], thread = [0, 1], stop = { line = "C[i * N + j] += A", array = "B", nth = 2 }, lens = "memory order" }
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

// ---gemmviz breaks
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
// find = "for (int k = 0; k < K; k++)\n        C[i * N + j] += A[i * K + k] * B[k + j * K];"
// replace = "for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k + j * K];\n    C[i * N + j] = sum;"
// ---
