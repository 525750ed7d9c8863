// ---gemmviz
// version  = 2
// title    = "C was never set, with a bounds check"
// idea     = "mm + bounds as it is printed: the check stops the threads outside C, but each sum still starts from old memory."
// source   = "S1"
// alias    = "mm + bounds (as printed)"
// entry    = "mm_bounds_printed"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 3, params = { BLOCK_SIZE = 2 }, block = [1, 0], thread = [0, 1], stop = { line = "C[i * N + j] += A", array = "C", write = true } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// requires = ["BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32"]
// dtype    = "int32"
// layout   = { B = "column" }
// exhibit  = """
// The bounds check is right, but C is read before anything wrote it, so that each sum starts from what was in that
// memory. With fresh memory, which is often zero, it looks right. mm_bounds sets C to 0."""
// ---

__global__ void mm_bounds_printed(const int *A, const int *B, int *C, int M, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M && j < N) {
        for (int k = 0; k < K; k++)
            C[i * N + j] += A[i * K + k] * B[k + j * K];
    }
}

// ---gemmviz breaks
// [zero-first]
// title = "With C set to 0 first"
// find = "for (int k"
// replace = "C[i * N + j] = 0; for (int k"
// expect = "none"
//
// [no-bounds-check]
// title = "Without the bounds check"
// find = "if (i < M && j < N) {"
// replace = "{"
// expect = ["out of bounds", "race", "read of memory nobody wrote"]
// ---
