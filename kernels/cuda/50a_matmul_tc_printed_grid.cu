// ---gemmviz
// version    = 2
// title      = "Tensor cores, grid as printed"
// idea       = "matmul_tc with the grid that is printed, whose sides are swapped: right where M = N, wrong where they differ."
// source     = "S3"
// alias      = "matmul_tc (grid as printed)"
// entry      = "matmul_tc_printed_grid"
// args       = ["A", "B", "C", "M", "N", "K"]
// demo       = { size = [48, 64, 64], block = [0, 0], stop = { end = true } }
// dtype      = "float16"
// accumulate = "float32"
// block      = [32]
// grid       = ["N / 16", "M / 16"]
// # The last two keep what is touched outside within 64 KiB behind A, B and C, where gemmviz leaves room.
// requires   = [
//     "M % 16 == 0", "N % 16 == 0", "K % 16 == 0",
//     "max(N - M, 0) * max(N, K) <= 16000", "max(M - N, 0) <= 16000",
// ]
// exhibit    = """
// The kernel takes blockIdx.x for the row of its tile, but the launch is printed with the tiles along N as the grid's x
// side and those along M as its y side. Where M = N both grids are the same, and C is right. Where they differ, part
// of C is computed by no block, and other blocks compute tiles beyond its edge. What these write lands in later rows of
// C or behind its end.
// matmul_tc has the grid that the kernel needs."""
// ---
#include <mma.h>
using namespace nvcuda;

__global__ void matmul_tc_printed_grid(const half *A, const half *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * 16;
    int col = blockIdx.y * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + col, N);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(C + row * N + col, sum, N, wmma::mem_row_major);
}

// ---gemmviz breaks
// [column-by-x]
// title = "With blockIdx.x counting columns"
// expect = "none"
// [[column-by-x.edits]]
// find = "int row = blockIdx.x"
// replace = "int row = blockIdx.y"
// [[column-by-x.edits]]
// find = "int col = blockIdx.y"
// replace = "int col = blockIdx.x"
// ---
