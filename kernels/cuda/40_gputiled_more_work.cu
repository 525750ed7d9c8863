// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles, more work per thread"
// idea     = "A thread computes WPT elements of one column, TS / WPT rows apart: fewer threads, and each value of B is used WPT times."
// source   = "S0"
// alias    = "gputiled_more_work"
// entry    = "gputiled_more_work<TS, WPT>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [32, 16], WPT = [8, 4, 2] }
// demo     = { size = 16, params = { TS = 8, WPT = 4 }, block = [1, 0], thread = [2, 1], stop = { line = "As[ty + w * RTS][k]", array = "As", nth = 8 }, lens = "thread tile" }
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

// ---gemmviz breaks
// [no-first-barrier]
// title = "Without the first barrier"
// find = "__syncthreads();"
// expect = "race"
//
// [no-second-barrier]
// title = "Without the second barrier"
// find = "__syncthreads();"
// nth = 2
// expect = "race"
//
// [no-check-a]
// title = "Without the bounds check of A's tile"
// find = "row + w * RTS < Ay && t + tx < Ax ? A[(row + w * RTS) * Ax + t + tx] : 0;"
// replace = "A[(row + w * RTS) * Ax + t + tx];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + i < Ax && col < Bx ? B[(t + i) * Bx + col] : 0;"
// replace = "B[(t + i) * Bx + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[i][tx] = row + w * RTS < Ay && t + tx < Ax ? A[(row + w * RTS) * Ax + t + tx] : 0;"
// replace = "if (row + w * RTS < Ay && t + tx < Ax) As[i][tx] = A[(row + w * RTS) * Ax + t + tx];"
// [[no-zero-fill.edits]]
// find = "Bs[i][tx] = t + i < Ax && col < Bx ? B[(t + i) * Bx + col] : 0;"
// replace = "if (t + i < Ax && col < Bx) Bs[i][tx] = B[(t + i) * Bx + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row + w * RTS < Ay && col < Bx)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n"
// nth = 2
// replace = "\n"
// expect = "none"
//
// [no-unroll-sums]
// title = "Without unrolling the loops over the sums"
// expect = "none"
// [[no-unroll-sums.edits]]
// find = "#pragma unroll\n"
// nth = 3
// replace = "\n"
// [[no-unroll-sums.edits]]
// find = "#pragma unroll\n"
// nth = 4
// replace = "\n"
//
// [b-not-kept]
// title = "With B read anew for every row"
// find = "* b;"
// replace = "* Bs[k][tx];"
// expect = "none"
// ---
