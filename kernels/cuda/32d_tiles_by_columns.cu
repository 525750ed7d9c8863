// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles of integers, B stored by columns"
// idea     = "Neighbouring threads load along the rows of A and along the columns of B, as both lie in memory; B's tile is transposed when it is written."
// entry    = "tiles_by_columns"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 16, params = { BLOCK_SIZE = 8 }, block = [1, 0], thread = [2, 1], stop = { line = "Bs[col][row] =", array = "B" }, lens = "memory order" }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// dtype    = "int32"
// layout   = { B = "column" }
// ---

__global__ void tiles_by_columns(const int *A, const int *B, int *C, int M, int N, int K)
{
    __shared__ int As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ int Bs[BLOCK_SIZE][BLOCK_SIZE];
    int row = threadIdx.y, col = threadIdx.x; // row and column in the tile
    int row0 = blockIdx.y * BLOCK_SIZE, col0 = blockIdx.x * BLOCK_SIZE;
    int sum = 0;

    for (int t = 0; t < K; t += BLOCK_SIZE) {
        As[row][col] = row0 + row < M && t + col < K ? A[(row0 + row) * K + t + col] : 0;
        // Neighbouring threads read along a column of B, as it lies in memory: they hold neighbouring k.
        Bs[col][row] = t + col < K && col0 + row < N ? B[t + col + (col0 + row) * K] : 0;
        __syncthreads();
        for (int k = 0; k < BLOCK_SIZE; k++)
            sum += As[row][k] * Bs[k][col];
        __syncthreads();
    }
    if (row0 + row < M && col0 + col < N)
        C[(row0 + row) * N + col0 + col] = sum;
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
// find = "row0 + row < M && t + col < K ? A[(row0 + row) * K + t + col] : 0;"
// replace = "A[(row0 + row) * K + t + col];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + col < K && col0 + row < N ? B[t + col + (col0 + row) * K] : 0;"
// replace = "B[t + col + (col0 + row) * K];"
// expect = "out of bounds"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row0 + row < M && col0 + col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [row-by-x]
// title = "With threadIdx.x counting rows"
// find = "int row = threadIdx.y, col = threadIdx.x;"
// replace = "int row = threadIdx.x, col = threadIdx.y;"
// expect = ["bank conflicts", "uncoalesced", "fewer bank conflicts"]
//
// [b-across]
// title = "With B read across its columns"
// find = "Bs[col][row] = t + col < K && col0 + row < N ? B[t + col + (col0 + row) * K] : 0;"
// replace = "Bs[row][col] = t + row < K && col0 + col < N ? B[t + row + (col0 + col) * K] : 0;"
// expect = ["uncoalesced", "fewer bank conflicts"]
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[row][col] = row0 + row < M && t + col < K ? A[(row0 + row) * K + t + col] : 0;"
// replace = "if (row0 + row < M && t + col < K) As[row][col] = A[(row0 + row) * K + t + col];"
// [[no-zero-fill.edits]]
// find = "Bs[col][row] = t + col < K && col0 + row < N ? B[t + col + (col0 + row) * K] : 0;"
// replace = "if (t + col < K && col0 + row < N) Bs[col][row] = B[t + col + (col0 + row) * K];"
//
// [pad-b]
// title = "With a padded tile of B"
// find = " Bs[BLOCK_SIZE][BLOCK_SIZE];"
// replace = " Bs[BLOCK_SIZE][BLOCK_SIZE + 1];"
// expect = "fewer bank conflicts"
// ---
