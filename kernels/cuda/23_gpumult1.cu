// ---gemmviz
// version  = 2
// title    = "One thread per element, coalesced"
// idea     = "The sum lives in a register and threadIdx.x counts columns: in blocks 32 wide a warp reads 32 neighbours of B, in four sectors."
// source   = "S0"
// alias    = "gpumult1"
// entry    = "gpumult1"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { BX = [32, 16, 8], BY = [32, 16, 8] }
// demo     = { size = 32, params = { BX = 32, BY = 2 }, block = [0, 1], thread = [3, 1], stop = { line = "sum += A", array = "B" }, lens = "coalescing" }
// block    = ["BX", "BY"]
// grid     = ["ceil(N / BX)", "ceil(M / BY)"]
// requires = ["BX >= 1", "BY >= 1", "BX * BY <= 1024"]
// ---

__global__ void gpumult1(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < Ay && col < Bx) {
        float sum = 0;
        for (int k = 0; k < Ax; k++)
            sum += A[row * Ax + k] * B[k * Bx + col];
        C[row * Bx + col] = sum;
    }
}

// ---gemmviz breaks
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (row < Ay && col < Bx) {"
// replace = "{"
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
// replace = "C[row * Bx + col] = 0;"
// [[sum-in-memory.edits]]
// find = "sum +="
// replace = "C[row * Bx + col] +="
// [[sum-in-memory.edits]]
// find = "C[row * Bx + col] = sum;"
// ---
