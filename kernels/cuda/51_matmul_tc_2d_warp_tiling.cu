// ---gemmviz
// version    = 2
// title      = "Tensor cores with warp tiles"
// idea       = "One warp computes WM x WN fragments of C: a fragment of A is used WN times, and each of B's fragments WM times."
// source     = "S3"
// alias      = "matmul_tc_2d_warp_tiling"
// entry      = "matmul_tc_2d_warp_tiling<WM, WN>"
// args       = ["A", "B", "C", "M", "N", "K"]
// params     = { WM = [4, 1, 2], WN = [4, 1, 2] }
// demo       = { size = 64, params = { WM = 2, WN = 2 }, block = [1, 0], thread = [5, 0], stop = { line = "load_matrix_sync(a", nth = 4 }, lens = "tensor core" }
// dtype      = "float16"
// accumulate = "float32"
// block      = [32]
// grid       = ["M / (16 * WM)", "N / (16 * WN)"]
// requires   = ["M % (16 * WM) == 0", "N % (16 * WN) == 0", "K % 16 == 0"]
// ---
#include <mma.h>
using namespace nvcuda;

template <int WM, int WN>
__global__ void matmul_tc_2d_warp_tiling(const half *A, const half *B, float *C, int M, int N, int K)
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
// [no-fill]
// title = "Without setting the sums to 0"
// find = "wmma::fill_fragment(sum[i][j], 0.0f);"
// replace = ";"
// expect = "read of memory nobody wrote"
//
// [a-by-columns]
// title = "With A taken for stored by columns"
// find = "half, wmma::row_major> a"
// replace = "half, wmma::col_major> a"
// expect = "wrong result"
// at = [64, 64, 64]
//
// [b-by-columns]
// title = "With B taken for stored by columns"
// find = "half, wmma::row_major> b"
// replace = "half, wmma::col_major> b"
// expect = "wrong result"
// at = [64, 64, 64]
//
// [c-by-columns]
// title = "With C stored by columns"
// find = "wmma::mem_row_major"
// replace = "wmma::mem_col_major"
// expect = "wrong result"
// at = [64, 64, 64]
// ---
