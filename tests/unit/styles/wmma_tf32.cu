// ---gemmviz
// title = "A warp per tile on tf32 tensor cores"
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = ["N / 16", "M / 16"]
// math = "tf32"
// requires = ["M % 16 == 0", "N % 16 == 0", "K % 8 == 0"]
// ---
#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 8) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + column, N);
        for (auto &v : a.x) v = wmma::__float_to_tf32(v);
        for (int i = 0; i < b.num_elements; i++) b.x[i] = wmma::__float_to_tf32(b.x[i]);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * N + column, c, N, wmma::mem_row_major);
}
