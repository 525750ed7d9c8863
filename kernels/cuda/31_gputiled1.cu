// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles, unrolled"
// idea     = "gputiled with pragmas that ask to unroll both loops. The document measured no difference: the compiler unrolls the inner loop anyway."
// source   = "S0"
// alias    = "gputiled1"
// entry    = "gputiled1<TS>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [16, 8, 32] }
// demo     = { size = 8, params = { TS = 4 }, block = [1, 0], thread = [2, 1], stop = { line = "sum += As", array = "Bs", nth = 6, fraction = 0.62 } }
// block    = ["TS", "TS"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "TS <= 32"]
// ---

template <int TS>
__global__ void gputiled1(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B, int Ay, int Ax, int Bx)
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
// find = "row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;"
// replace = "A[row * Ax + t + tx];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;"
// replace = "B[(t + ty) * Bx + col];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[ty][tx] = row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;"
// replace = "if (row < Ay && t + tx < Ax) As[ty][tx] = A[row * Ax + t + tx];"
// [[no-zero-fill.edits]]
// find = "Bs[ty][tx] = t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;"
// replace = "if (t + ty < Ax && col < Bx) Bs[ty][tx] = B[(t + ty) * Bx + col];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < Ay && col < Bx)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [row-by-x]
// title = "With threadIdx.x counting rows"
// find = "int tx = threadIdx.x, ty = threadIdx.y;"
// replace = "int tx = threadIdx.y, ty = threadIdx.x;"
// expect = ["bank conflicts", "uncoalesced"]
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n"
// replace = "\n"
// expect = "none"
//
// [no-unroll-tiles]
// title = "Without unrolling the loop over tiles"
// find = "#pragma unroll 3"
// expect = "none"
// ---
