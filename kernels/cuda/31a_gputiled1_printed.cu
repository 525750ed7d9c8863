// ---gemmviz
// version  = 2
// title    = "Unrolled by hand, remainder lost"
// idea     = "The tile loop of gputiled1, written out three times per turn: tile steps that are left over at the end are not executed."
// source   = "S0"
// alias    = "gputiled1 (expansion as printed)"
// entry    = "gputiled1_printed<TS>"
// args     = ["C", "A", "B", "M", "K", "N"]
// params   = { TS = [16, 8, 32] }
// demo     = { size = [8, 8, 16], params = { TS = 4 }, block = [1, 0], stop = { end = true }, lens = "reuse" }
// block    = ["TS", "TS"]
// grid     = ["ceil(N / TS)", "ceil(M / TS)"]
// requires = ["TS >= 1", "TS <= 32"]
// exhibit  = """
// The document explains unrolling by three with a loop that makes three tile steps in each turn. Nothing makes the one
// or two steps that are left over where their number is no multiple of 3: their products are missing in every element
// of C. At a multiple of 3 it is right. A compiler adds a loop for the remainder, so gputiled1 is right at any size."""
// ---

template <int TS>
__global__ void gputiled1_printed(float *__restrict__ C, const float *__restrict__ A, const float *__restrict__ B,
                                  int Ay, int Ax, int Bx)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;
    float sum = 0;

    int steps = (Ax + TS - 1) / TS;
    for (int t = 0; t < steps / 3 * 3 * TS; t += TS) {
        As[ty][tx] = row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;
        Bs[ty][tx] = t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();

        t += TS;
        As[ty][tx] = row < Ay && t + tx < Ax ? A[row * Ax + t + tx] : 0;
        Bs[ty][tx] = t + ty < Ax && col < Bx ? B[(t + ty) * Bx + col] : 0;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();

        t += TS;
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
// [one-turn-more]
// title = "With a turn for the remainder"
// find = "t < steps / 3 * 3 * TS;"
// replace = "t < Ax;"
// expect = "none"
// ---
