// ---gemmviz
// title    = "Shared-memory tiles"
// idea     = "A block copies one tile of A and one of B into shared memory, then every thread reads them TS times."
// source   = "S0"
// alias    = "gputiled"
// entry    = "gputiled<TS>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [16, 8, 32] }
// block    = ["TS", "TS"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "TS <= 32"]
// ---

template <int TS>
__global__ void gputiled(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;
    float sum = 0;

    for (int t = 0; t < Ax; t += TS) {
        // Outside the matrices the tiles hold zeros, so that any size works.
        As[ty][tx] = row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;
        Bs[ty][tx] = t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < Ay && col < Bx)
        C[row * Bx + col] = sum;
}
