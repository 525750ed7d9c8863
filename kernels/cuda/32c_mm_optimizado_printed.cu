// ---gemmviz
// version  = 2
// title    = "mm_optimizado as printed"
// idea     = "The printed text does not compile: tiles without a type, k without a declaration, a comma for two brackets, B instead of Bs."
// source   = "S1"
// alias    = "mm_optimizado (as printed)"
// entry    = "mm_optimizado_printed"
// args     = ["A", "B", "C", "N"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 4, params = { BLOCK_SIZE = 2 } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["N / BLOCK_SIZE", "N / BLOCK_SIZE"]
// requires = ["M == N", "K == N", "BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32", "N % BLOCK_SIZE == 0"]
// exhibit  = """
// The compiler refuses the printed text, and the text has more faults than the compiler names. The tiles have no
// element type. k is not declared. In C++ As[fila, k] is a comma expression: fila is dropped, and As[k] is a whole row
// of the tile. With two brackets it would still be wrong, as fila is a row of the whole matrix and not of the tile. The
// other factor is an element of B in global memory, and not of Bs, whose loads are wasted. C is stored in every stage.
// The changes that this exhibit declares repair it step by step; mm_optimizado is what the slides mean."""
// ---

__global__ void mm_optimizado_printed(const float *A, const float *B, float *C, int N)
{
    __shared__ As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ Bs[BLOCK_SIZE][BLOCK_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int fila = blockIdx.y * BLOCK_SIZE + ty, columna = blockIdx.x * BLOCK_SIZE + tx; // row and column of C
    float suma = 0;

    for (int t = 0; t < N; t += BLOCK_SIZE) {
        As[ty][tx] = A[fila * N + t + tx];
        Bs[ty][tx] = B[(t + ty) * N + columna];
        __syncthreads();
        for (k = 0; k < BLOCK_SIZE; k++)
            suma += As[fila, k] * B[k, columna];
        __syncthreads();
        C[fila * N + columna] = suma;
    }
}

// ---gemmviz breaks
// [brackets-only]
// title = "With types, k declared, and both indices in brackets"
// expect = "out of bounds"
// at = [8, 8, 8]
// set = { BLOCK_SIZE = 2 }
// [[brackets-only.edits]]
// find = "__shared__ As["
// replace = "__shared__ float As["
// [[brackets-only.edits]]
// find = "__shared__ Bs["
// replace = "__shared__ float Bs["
// [[brackets-only.edits]]
// find = "for (k = 0"
// replace = "for (int k = 0"
// [[brackets-only.edits]]
// find = "As[fila, k] * B[k, columna]"
// replace = "As[fila][k] * B[k * N + columna]"
//
// [b-in-global-memory]
// title = "Repaired, with B read from global memory"
// expect = "none"
// [[b-in-global-memory.edits]]
// find = "__shared__ As["
// replace = "__shared__ float As["
// [[b-in-global-memory.edits]]
// find = "__shared__ Bs["
// replace = "__shared__ float Bs["
// [[b-in-global-memory.edits]]
// find = "for (k = 0"
// replace = "for (int k = 0"
// [[b-in-global-memory.edits]]
// find = "As[fila, k] * B[k, columna]"
// replace = "As[ty][k] * B[(t + k) * N + columna]"
//
// [repaired]
// title = "Repaired, but for the store in the loop"
// expect = "none"
// [[repaired.edits]]
// find = "__shared__ As["
// replace = "__shared__ float As["
// [[repaired.edits]]
// find = "__shared__ Bs["
// replace = "__shared__ float Bs["
// [[repaired.edits]]
// find = "for (k = 0"
// replace = "for (int k = 0"
// [[repaired.edits]]
// find = "As[fila, k] * B[k, columna]"
// replace = "As[ty][k] * Bs[k][tx]"
// ---
