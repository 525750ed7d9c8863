// ---gemmviz
// version = 6
// title = "A structure of pointers, sizes and factors as the one parameter, with structures in it"
// entry = "gemm<Parameters<float>>"
// args = [["M", "N", "K", "A", "lda", "B", "ldb", "C", "ldc", "alpha", "beta"], "N"]
// block = [8, 8]
// grid = ["ceil(N / 8)", "ceil(M / 8)"]
// ---
struct Size {
    int m, n, k;
};
template <class T> struct Matrix {
    T *data;
    short ld;
};
template <class T> struct Parameters {
    Size size;
    Matrix<const T> a, b;
    Matrix<T> c;
    float alpha;
    double beta;
};

template <class P> __global__ void gemm(P p, size_t width)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= p.size.m || col >= width)
        return;
    float sum = 0;
    for (int k = 0; k < p.size.k; k++)
        sum += p.a.data[row * p.a.ld + k] * p.b.data[k * p.b.ld + col];
    float *c = p.c.data + row * p.c.ld + col;
    *c = p.alpha * sum + p.beta * *c;
}
