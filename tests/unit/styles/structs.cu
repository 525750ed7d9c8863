// ---gemmviz
// title = "Structures and a union in shared memory"
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [256]
// grid = ["N / 16", "M / 16"]
// requires = ["M % 16 == 0", "N % 16 == 0", "K % 8 == 0"]
// ---
template <int R, int C> struct Smem { float a[R][C]; float b[C][R + 1]; int steps; };
struct Pair { float left, right; };
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ alignas(16) Smem<16, 8> s;
    __shared__ Pair last[16];
    union Scratch { float f[16]; int i[16]; };
    __shared__ Scratch scratch;
    int t = threadIdx.x, row = t / 16, col = t % 16;
    if (t == 0) s.steps = K / 8;
    if (t < 16) { last[t] = Pair{0.f, 1.f}; scratch.i[t] = 0; }
    __syncthreads();
    float sum = last[col].left;
    for (int i = 0; i < s.steps; i++) {
        if (t < 128) s.a[t / 8][t % 8] = A[(blockIdx.y * 16 + t / 8) * K + i * 8 + t % 8];
        else s.b[(t - 128) / 16][t % 16] = B[(i * 8 + (t - 128) / 16) * N + blockIdx.x * 16 + t % 16];
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += s.a[row][k] * s.b[k][col];
        __syncthreads();
    }
    C[(blockIdx.y * 16 + row) * N + blockIdx.x * 16 + col] = sum * last[col].right + scratch.f[col];
}
