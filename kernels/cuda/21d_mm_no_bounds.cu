// ---gemmviz
// version  = 2
// title    = "No bounds check"
// idea     = "mm with a grid that covers any matrix, but without the check: the threads outside read and write other elements."
// source   = "S1"
// alias    = "mm (grid overshoots)"
// entry    = "mm_no_bounds"
// args     = ["A", "B", "C", "N", "K"]
// params   = { BLOCK_SIZE = [16, 2, 8, 32] }
// demo     = { size = 3, params = { BLOCK_SIZE = 2 }, block = [1, 0], stop = { end = true } }
// block    = ["BLOCK_SIZE", "BLOCK_SIZE"]
// grid     = ["ceil(N / BLOCK_SIZE)", "ceil(M / BLOCK_SIZE)"]
// # The last two keep what is touched outside within 64 KiB behind A, B and C, where gemmviz leaves room.
// requires = [
//     "BLOCK_SIZE >= 1", "BLOCK_SIZE <= 32",
//     "(ceil(M / BLOCK_SIZE) * BLOCK_SIZE - M) * max(N, K) <= 16000",
//     "(ceil(N / BLOCK_SIZE) * BLOCK_SIZE - N) * K <= 16000",
// ]
// dtype    = "int32"
// layout   = { B = "column" }
// exhibit  = """
// Where BLOCK_SIZE does not divide M and N, the grid is larger than the matrix, and nothing stops the threads
// outside. Those beyond the last column add to the next row of C, at the same time as the threads that own it;
// those beyond the last row write behind C. Where BLOCK_SIZE divides M and N, the result is right, so that a test at
// such a size does not find the mistake. mm_bounds has the check."""
// ---

__global__ void mm_no_bounds(const int *A, const int *B, int *C, int N, int K)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    C[i * N + j] = 0;
    for (int k = 0; k < K; k++)
        C[i * N + j] += A[i * K + k] * B[k + j * K];
}

// ---gemmviz breaks
// [column-check]
// title = "With a check of the column only"
// find = "C[i * N + j] = 0;"
// replace = "if (j >= N) return; C[i * N + j] = 0;"
// expect = "out of bounds"
// ---
