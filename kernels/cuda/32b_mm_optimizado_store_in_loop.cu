// ---gemmviz
// version  = 2
// title    = "C stored at every stage"
// idea     = "mm_optimizado with the store inside the stage loop, as it is printed: the sum runs on, so the last store is right and all earlier ones are wasted."
// source   = "S1"
// alias    = "mm_optimizado (C stored in the loop)"
// entry    = "mm_optimizado_store_in_loop"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 4, params = { BLOCK_SIZE = 2 }, block = [1, 0], thread = [0, 1], stop = { line = "C[fila", write = true } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// exhibit  = """
// C is right, but it is stored once per stage instead of once. The sum runs on over all stages, so that each store
// replaces an unfinished sum by a longer one, and the last store is the only one that counts. With K / BLOCK_SIZE
// stages C is written K / BLOCK_SIZE times as often as in mm_optimizado, which stores once, after the loop."""
// ---

__global__ void mm_optimizado_store_in_loop(const float *A, const float *B, float *C, int M, int N, int K)
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
        if (fila < M && columna < N)
            C[fila * N + columna] = suma;
    }
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
// [sum-per-stage]
// title = "With a sum that starts anew at every stage"
// expect = "wrong result"
// [[sum-per-stage.edits]]
// find = "for (int t = 0; t < K; t += BLOCK_SIZE) {"
// replace = "for (int t = 0; t < K; t += BLOCK_SIZE) { suma = 0;"
//
// [store-behind-the-loop]
// title = "With one store, after the loop"
// expect = "none"
// [[store-behind-the-loop.edits]]
// find = "        if (fila < M && columna < N)\n            C[fila * N + columna] = suma;\n    }\n}"
// replace = "    }\n        if (fila < M && columna < N)\n            C[fila * N + columna] = suma;\n}"
// ---
