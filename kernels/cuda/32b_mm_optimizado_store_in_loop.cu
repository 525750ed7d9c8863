// ---gemmviz
// title    = "C stored at every stage"
// idea     = "mm_optimizado with the store inside the stage loop: each stage overwrites what the one before it left in C."
// source   = "S1"
// alias    = "mm_optimizado (C stored in the loop)"
// entry    = "mm_optimizado_store_in_loop"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// dtype    = "int32"
// layout   = { B = "column" }
// exhibit  = """
// C is stored inside the stage loop, and the sum belongs to the stage: only the products of the last stage are
// left in C, which is right when K fits into one tile. With a sum that runs on through all stages the last store
// would be right, and all stores before it wasted. mm_optimizado stores once, behind the loop."""
// ---

__global__ void mm_optimizado_store_in_loop(const int *A, const int *B, int *C, int M, int N, int K)
{
    __shared__ int As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ int Bs[BLOCK_SIZE][BLOCK_SIZE];
    int fila = threadIdx.y, col = threadIdx.x; // row and column in the tile, in the slides' words
    int row0 = blockIdx.y * BLOCK_SIZE, col0 = blockIdx.x * BLOCK_SIZE;

    for (int t = 0; t < K; t += BLOCK_SIZE) {
        int sum = 0;
        As[fila][col] = row0 + fila < M && t + col < K ? A[(row0 + fila) * K + t + col] : 0;
        // Neighbouring threads read along a column of B, as it lies in memory: they hold neighbouring k.
        Bs[col][fila] = t + col < K && col0 + fila < N ? B[t + col + (col0 + fila) * K] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; k++)
            sum += As[fila][k] * Bs[k][col];
        __syncthreads();
        if (row0 + fila < M && col0 + col < N)
            C[(row0 + fila) * N + col0 + col] = sum;
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
// [sum-before-loop]
// title = "With the sum kept from tile to tile"
// expect = "none"
// [[sum-before-loop.edits]]
// find = "for (int t = 0;"
// replace = "int sum = 0; for (int t = 0;"
// [[sum-before-loop.edits]]
// find = "int sum = 0;"
// ---
