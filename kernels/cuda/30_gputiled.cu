// ---gemmviz
// version  = 2
// title    = "Shared-memory tiles"
// idea     = "A block copies one tile of A and one of B into shared memory; there each element is used TS times."
// source   = "S0"
// alias    = "gputiled"
// entry    = "gputiled<TS>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [16, 8, 32] }
// demo     = { size = 8, params = { TS = 4 }, stop = { line = "Bs[ty][tx] =", array = "B", nth = 2, fraction = 0.45 } }
// block    = ["TS", "TS"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "TS <= 32"]
// ---

template <int TS>
__global__ void gputiled(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B, int Ay, int Ax, int Bx)
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
// [pad-a]
// title = "With a padded tile of A"
// find = " As[TS][TS];"
// replace = " As[TS][TS + 1];"
// expect = "bank conflicts"
//
// [unroll-k]
// title = "With the loop over k unrolled"
// find = "for (int k = 0; k < TS; k++)"
// replace = "_Pragma(\"unroll\") for (int k = 0; k < TS; k++)"
// expect = "none"
// ---
