// ---gemmviz
// title    = "A comma for two brackets"
// idea     = "mm_optimizado as it is printed: As[fila, k] looks like an element, but a comma in brackets drops what stands before it."
// source   = "S1"
// alias    = "mm_optimizado (as printed)"
// entry    = "mm_optimizado_printed"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// dtype    = "int32"
// layout   = { B = "column" }
// exhibit  = """
// In C++ As[fila, k] is a comma expression: fila is dropped, and As[k] is a whole row. The product is one of two
// pointers, so the compiler refuses it; the element is As[fila][k]. The store inside the stage loop is printed
// so, too: mm_optimizado_store_in_loop shows what that can do."""
// ---

__global__ void mm_optimizado_printed(const int *A, const int *B, int *C, int M, int N, int K)
{
    __shared__ int As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ int Bs[BLOCK_SIZE][BLOCK_SIZE];
    int fila = threadIdx.y, col = threadIdx.x; // row and column in the tile, in the slides' words
    int row0 = blockIdx.y * BLOCK_SIZE, col0 = blockIdx.x * BLOCK_SIZE;
    int sum = 0;

    for (int t = 0; t < K; t += BLOCK_SIZE) {
        As[fila][col] = row0 + fila < M && t + col < K ? A[(row0 + fila) * K + t + col] : 0;
        // Neighbouring threads read along a column of B, as it lies in memory: they hold neighbouring k.
        Bs[col][fila] = t + col < K && col0 + fila < N ? B[t + col + (col0 + fila) * K] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; k++)
            sum += As[fila, k] * Bs[k, col];
        __syncthreads();
        if (row0 + fila < M && col0 + col < N)
            C[(row0 + fila) * N + col0 + col] = sum;
    }
}

// ---gemmviz breaks
// [both-indices]
// title = "With both indices in brackets of their own"
// find = "As[fila, k] * Bs[k, col]"
// replace = "As[fila][k] * Bs[k][col]"
// expect = "bank conflicts"
// ---
