// ---gemmviz
// version    = 2
// title      = "Tensor cores with warp tiles, grid as printed"
// idea       = "matmul_tc_2d_warp_tiling with the grid that is printed, whose sides are swapped: right where M = N, wrong where they differ."
// source     = "S3"
// alias      = "matmul_tc_2d_warp_tiling (grid as printed)"
// entry      = "matmul_tc_2d_warp_tiling_printed_grid<WM, WN>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params     = { WM = [4, 1, 2], WN = [4, 1, 2] }
// demo       = { size = [64, 128, 160], params = { WM = 2, WN = 2 }, block = [0, 0], stop = { end = true } }
// dtype      = "float16"
// accumulate = "float32"
// block      = [32]
// grid       = ["N / (16 * WM)", "M / (16 * WN)"]
// # The last two keep what is touched outside within 64 KiB behind A, B and C, where gemmviz leaves room.
// requires   = [
//     "M % (16 * WM) == 0", "N % (16 * WN) == 0", "K % 16 == 0",
//     "N % (16 * WM) == 0", "M % (16 * WN) == 0",
//     "max(N - M, 0) * max(N, K) <= 16000", "max(M - N, 0) <= 16000",
// ]
// exhibit    = """
// The kernel takes blockIdx.x for the row of its warp tile, but the launch is printed with the warp tiles along N as the
// grid's x side and those along M as its y side. Where M = N both give every warp tile a block, and C is right. Where M and N
// differ, part of C is computed by no block, and other blocks compute tiles beyond its edge. What these write lands in
// later rows of C or behind its end.
// matmul_tc_2d_warp_tiling has the grid that the kernel needs."""
// ---
#include <mma.h>
using namespace nvcuda;

template <int WM, int WN>
__global__ void matmul_tc_2d_warp_tiling_printed_grid(const half *A, const half *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * 16 * WM;
    int col = blockIdx.y * 16 * WN;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[WN];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[WM][WN];

    for (int i = 0; i < WM; i++)
        for (int j = 0; j < WN; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    for (int k = 0; k < K; k += 16) {
        for (int j = 0; j < WN; j++)
            wmma::load_matrix_sync(b[j], B + k * N + col + 16 * j, N);
        for (int i = 0; i < WM; i++) {
            wmma::load_matrix_sync(a, A + (row + 16 * i) * K + k, K);
            for (int j = 0; j < WN; j++)
                wmma::mma_sync(sum[i][j], a, b[j], sum[i][j]);
        }
    }

    for (int i = 0; i < WM; i++)
        for (int j = 0; j < WN; j++)
            wmma::store_matrix_sync(C + (row + 16 * i) * N + col + 16 * j, sum[i][j], N, wmma::mem_row_major);
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
