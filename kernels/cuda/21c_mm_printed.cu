// ---gemmviz
// version  = 2
// title    = "C was never set"
// idea     = "mm as it is printed: every k-step adds to C, and the first one adds to whatever was in that memory."
// source   = "S1"
// alias    = "mm (as printed)"
// entry    = "mm_printed"
// args     = ["A", "B", "C", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 4, params = { BLOCK_SIZE = 2 }, block = [1, 0], thread = [0, 1], stop = { line = "C[i * N + j] += A", array = "C", write = true } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["N / BLOCK_SIZE", "M / BLOCK_SIZE"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32", "M % BLOCK_SIZE == 0", "N % BLOCK_SIZE == 0"]
// dtype    = "int32"
// layout   = { B = "column" }
// exhibit  = """
// C is read before anything wrote it, so that each sum starts from what was in that memory. With fresh memory,
// which is often zero, it looks right: gemmviz fills C with a pattern first, as memory that was used before
// would be. mm sets C to 0."""
// ---

__global__ void mm_printed(const int *A, const int *B, int *C, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < K; k++)
        C[i * N + j] += A[i * K + k] * B[k + j * K];
}

// ---gemmviz breaks
// [zero-first]
// title = "With C set to 0 first"
// find = "for (int k"
// replace = "C[i * N + j] = 0; for (int k"
// expect = "none"
// ---
