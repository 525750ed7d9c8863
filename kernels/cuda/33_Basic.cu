// ---gemmviz
// version  = 2
// title    = "Lab kernel without shared memory"
// idea     = "The report's starting point, which it does not print: threadIdx.x counts rows, and products are rounded before they are added."
// source   = "S4"
// alias    = "Basic"
// entry    = "Basic"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [16, 4, 8, 32] }
// demo     = { size = 16, params = { BLOCK = 8 }, block = [0, 1], thread = [2, 1], stop = { line = "sum +=", array = "A" }, lens = "coalescing" }
// block    = ["BLOCK", "BLOCK"]
// grid     = ["ceil(M / BLOCK)", "ceil(N / BLOCK)"]
// requires = ["BLOCK >= 1", "BLOCK <= 32"]
// ---

__global__ void Basic(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += __fmul_rn(A[row * K + k], B[k * N + col]);
    C[row * N + col] = sum;
}

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (row >= M || col >= N)\n        return;"
// replace = "\n"
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
//
// [fused]
// title = "With fused multiply-add"
// find = "__fmul_rn(A[row * K + k], B[k * N + col])"
// replace = "A[row * K + k] * B[k * N + col]"
// expect = "none"
// ---
