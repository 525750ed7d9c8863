// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles, 16 x 16 blocks"
// idea     = "Each tile step multiplies one tile of A by one tile of B and adds the products to the sum."
// source   = "S2"
// alias    = "matrixMulTiled"
// entry    = "matrixMulTiled<TILE>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { TILE = [16, 4, 8, 32] }
// demo     = { size = 8, params = { TILE = 4 }, block = [1, 0], thread = [2, 1], stop = { line = "sum += tileA", array = "tileB", nth = 6, fraction = 0.62 } }
// block    = ["TILE", "TILE"]
// grid     = ["ceil(N / TILE)", "ceil(M / TILE)"]
// requires = ["TILE >= 1", "TILE <= 32"]
// ---

template <int TILE>
__global__ void matrixMulTiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    int steps = (K + TILE - 1) / TILE;
    for (int step = 0; step < steps; step++) {
        int colA = step * TILE + threadIdx.x;
        int rowB = step * TILE + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && colA < K ? A[row * K + colA] : 0;
        tileB[threadIdx.y][threadIdx.x] = rowB < K && col < N ? B[rowB * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
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
// find = "row < M && colA < K ? A[row * K + colA] : 0;"
// replace = "A[row * K + colA];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "rowB < K && col < N ? B[rowB * N + col] : 0;"
// replace = "B[rowB * N + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "tileA[threadIdx.y][threadIdx.x] = row < M && colA < K ? A[row * K + colA] : 0;"
// replace = "if (row < M && colA < K) tileA[threadIdx.y][threadIdx.x] = A[row * K + colA];"
// [[no-zero-fill.edits]]
// find = "tileB[threadIdx.y][threadIdx.x] = rowB < K && col < N ? B[rowB * N + col] : 0;"
// replace = "if (rowB < K && col < N) tileB[threadIdx.y][threadIdx.x] = B[rowB * N + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
// ---
