// ---gemmviz
// title = "A warp per tile on bfloat16 tensor cores"
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = ["N / 8", "M / 32"]
// dtype = "bfloat16"
// accumulate = "float32"
// requires = ["M % 32 == 0", "N % 8 == 0", "K % 16 == 0"]
// ---
#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int M, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> c;
    int row = blockIdx.y * 32, column = blockIdx.x * 8;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + column, N);
        
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * N + column, c, N, wmma::mem_row_major);
}
