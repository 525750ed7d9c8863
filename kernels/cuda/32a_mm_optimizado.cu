// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles, B by rows"
// idea     = "Each thread loads one element of A and one of B per stage, along the rows of both; the sum stays in a register until the end."
// source   = "S1"
// alias    = "mm_optimizado"
// entry    = "mm_optimizado"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 4, params = { BLOCK_SIZE = 2 }, block = [1, 0], stop = { tile = 2, fraction = 0.45 } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// ---

__global__ void mm_optimizado(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int fila = blockIdx.y * BLOCK_SIZE + ty, columna = blockIdx.x * BLOCK_SIZE + tx; // row and column of C
    float suma = 0;

    for (int t = 0; t < K; t += BLOCK_SIZE) {
        As[ty][tx] = fila < M && t + tx < K ? A[fila * K + t + tx] : 0;
        Bs[ty][tx] = t + ty < K && columna < N ? B[(t + ty) * N + columna] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; k++)
            suma += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (fila < M && columna < N)
        C[fila * N + columna] = suma;
}

// ---gemmviz breaks
// [no-first-barrier]
// title = "Without the first barrier"
// find = "__syncthreads();"
// expect = "race"
//
// [no-second-barrier]
// title = "Without the second barrier"
// find = "__syncthreads();"
// nth = 2
// expect = "race"
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "fila < M && t + tx < K ? A[fila * K + t + tx] : 0;"
// replace = "A[fila * K + t + tx];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + ty < K && columna < N ? B[(t + ty) * N + columna] : 0;"
// replace = "B[(t + ty) * N + columna];"
// expect = "out of bounds"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (fila < M && columna < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[ty][tx] = fila < M && t + tx < K ? A[fila * K + t + tx] : 0;"
// replace = "if (fila < M && t + tx < K) As[ty][tx] = A[fila * K + t + tx];"
// [[no-zero-fill.edits]]
// find = "Bs[ty][tx] = t + ty < K && columna < N ? B[(t + ty) * N + columna] : 0;"
// replace = "if (t + ty < K && columna < N) Bs[ty][tx] = B[(t + ty) * N + columna];"
//
// [row-by-x]
// title = "With threadIdx.x counting rows"
// find = "int tx = threadIdx.x, ty = threadIdx.y;"
// replace = "int tx = threadIdx.y, ty = threadIdx.x;"
// expect = ["bank conflicts", "uncoalesced"]
//
// [store-in-loop]
// title = "With C stored at every stage"
// expect = "none"
// [[store-in-loop.edits]]
// find = "        __syncthreads();\n    }\n    if (fila < M && columna < N)\n        C[fila * N + columna] = suma;\n}"
// replace = "        __syncthreads();\n    if (fila < M && columna < N)\n        C[fila * N + columna] = suma;\n    }\n}"
// ---
