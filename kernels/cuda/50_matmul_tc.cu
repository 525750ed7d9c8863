// ---gemmviz
// version    = 2
// title      = "Tensor cores"
// idea       = "One warp per block computes a 16 x 16 tile of C on the tensor cores, in half precision with sums in float."
// source     = "S3"
// alias      = "matmul_tc"
// entry      = "matmul_tc"
// args       = ["A", "B", "C", "M", "N", "K"]
// demo       = { size = 32, block = [1, 0], thread = [5, 0], stop = { line = "load_matrix_sync(b", nth = 4 }, lens = "tensor core" }
// dtype      = "float16"
// accumulate = "float32"
// block      = [32]
// grid       = ["M / 16", "N / 16"]
// requires   = ["M % 16 == 0", "N % 16 == 0", "K % 16 == 0"]
// ---
#include <mma.h>
using namespace nvcuda;

__global__ void matmul_tc(const half *A, const half *B, float *C, int M, int N, int K)
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
// [no-fill]
// title = "Without setting the sums to 0"
// find = "wmma::fill_fragment(sum, 0.0f);"
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
