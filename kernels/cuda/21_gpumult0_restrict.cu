// ---gemmviz
// title    = "The same, restrict"
// idea     = "gpumult0 with __restrict__ on its pointers: the compiler may now keep C[row,col] in a register by itself."
// source   = "S0"
// alias    = "gpumult0 + restrict"
// entry    = "gpumult0_restrict"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { BX = [32, 16, 8], BY = [32, 16, 8] }
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
