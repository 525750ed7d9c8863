// ---gemmviz
// title    = "Shared-memory tiles, more work per thread"
// idea     = "A thread computes WPT elements of one column, TS / WPT rows apart: fewer threads, and each value of B is used WPT times."
// source   = "S0"
// alias    = "gputiled_more_work"
// entry    = "gputiled_more_work<TS, WPT>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [32, 16], WPT = [8, 4, 2] }
// block    = ["TS", "TS / WPT"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "WPT >= 1", "TS % WPT == 0", "TS <= 64", "TS * TS / WPT <= 1024"]
// ---

template <int TS, int WPT>
__global__ void gputiled_more_work(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    constexpr int RTS = TS / WPT; // rows of threads, and the distance between a thread's rows
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;
    float sum[WPT] = {};

    for (int t = 0; t < Ax; t += TS) {
        #pragma unroll
        for (int w = 0; w < WPT; w++) {
            int i = ty + w * RTS;
            As[i][tx] = row + w * RTS < Ay && t + tx < Ax ? A[(row + w * RTS) * Ax + t + tx] : 0;
            Bs[i][tx] = t + i < Ax && col < Bx ? B[(t + i) * Bx + col] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TS; k++) {
            float b = Bs[k][tx];
            #pragma unroll
            for (int w = 0; w < WPT; w++)
                sum[w] += As[ty + w * RTS][k] * b;
        }
        __syncthreads();
    }
    #pragma unroll
    for (int w = 0; w < WPT; w++)
        if (row + w * RTS < Ay && col < Bx)
            C[(row + w * RTS) * Bx + col] = sum[w];
}
