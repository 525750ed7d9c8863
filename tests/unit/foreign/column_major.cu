// Fortran's order, as cuBLAS has it: matrices by columns, leading dimensions, sizes of type size_t, the result first.
#define IDX(i, j, ld) ((i) + (j) * (ld))

namespace blas {

template <typename T, int THREADS = 128>
__device__ __forceinline__ T fused(T a, T b, T c) { return a * b + c; }

static __global__ void dgemm_nn(double *__restrict__ Cmat, size_t ldc, double const *__restrict__ Bmat, size_t ldb,
                                double const *__restrict__ Amat, size_t lda, size_t k, size_t n, size_t m,
                                double beta = 0.0, double alpha = 1.0)
{
    const size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x;
    const size_t j = blockIdx.y;
    if (i >= m || j >= n)
        return;
    double sum = 0;
    for (size_t l = 0; l < k; ++l)
        sum = fused<double>(Amat[IDX(i, l, lda)], Bmat[IDX(l, j, ldb)], sum);
    double old = beta == 0 ? 0 : beta * Cmat[IDX(i, j, ldc)];
    Cmat[IDX(i, j, ldc)] = alpha * sum + old;
}

} // namespace blas
