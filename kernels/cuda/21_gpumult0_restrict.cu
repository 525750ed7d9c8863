// ---gemmviz
// version  = 2
// title    = "One thread per element, restrict"
// idea     = "gpumult0 with __restrict__ on its pointers: the compiler may now keep C[row,col] in a register by itself."
// source   = "S0"
// alias    = "gpumult0 + restrict"
// entry    = "gpumult0_restrict"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { BX = [32, 16, 8], BY = [32, 16, 8] }
// demo     = { size = 16, params = { BX = 8, BY = 8 }, block = [1, 0], thread = [2, 1], stop = { line = "C[row * Bx + col] += A", array = "B", nth = 15 }, lens = "thread tile" }
// block    = ["BX", "BY"]
// grid     = ["ceil(N / BX)", "ceil(M / BY)"]
// requires = ["BX >= 1", "BY >= 1", "BX * BY <= 1024"]
// ---

__global__ void gpumult0_restrict(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B,
                                  int Ay, int Ax, int Bx)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < Ay && col < Bx) {
        C[row * Bx + col] = 0;
        for (int k = 0; k < Ax; k++)
            C[row * Bx + col] += A[row * Ax + k] * B[k * Bx + col];
    }
}

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (row < Ay && col < Bx) {"
// replace = "{"
// expect = ["out of bounds", "race"]
//
// [no-restrict]
// title = "Without __restrict__"
// find = "float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B"
// replace = "float *C, const float *A, const float *B"
// expect = "none"
//
// [zero-never-set]
// title = "Without setting C to 0"
// find = "C[row * Bx + col] = 0;"
// expect = "read of memory nobody wrote"
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
// [sum-in-register]
// title = "With the sum in a register"
// expect = "none"
// [[sum-in-register.edits]]
// find = "C[row * Bx + col] = 0;"
// replace = "float sum = 0;"
// [[sum-in-register.edits]]
// find = "for (int k = 0; k < Ax; k++)\n            C[row * Bx + col] += A[row * Ax + k] * B[k * Bx + col];"
// replace = "for (int k = 0; k < Ax; k++) sum += A[row * Ax + k] * B[k * Bx + col];\n        C[row * Bx + col] = sum;"
// ---
