// ---gemmviz
// title    = "Shared-memory tiles, unrolled"
// idea     = "gputiled with pragmas that ask to unroll both loops: no difference, because the compiler unrolls the inner one anyway."
// source   = "S0"
// alias    = "gputiled1"
// entry    = "gputiled1<TS>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [16, 8, 32] }
// block    = ["TS", "TS"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "TS <= 32"]
// ---

template <int TS>
__global__ void gputiled1(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;
    float sum = 0;

    #pragma unroll 3
    for (int t = 0; t < Ax; t += TS) {
        As[ty][tx] = row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;
        Bs[ty][tx] = t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < Ay && col < Bx)
        C[row * Bx + col] = sum;
}
