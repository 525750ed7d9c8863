// ---gemmviz
// version  = 2
// title    = "Thread tiles, narrow tiles"
// idea     = "The tiles are only BK deep, and a thread's columns are BLOCK / TT apart: 2 TT values in registers feed TT x TT products."
// entry    = "narrow_tiles<BLOCK, BK, TT>"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = { BLOCK = [64, 32, 16, 8, 4], BK = [16, 8, 4], TT = [8, 4, 2] }
// demo     = { size = 16, params = { BLOCK = 8, BK = 8, TT = 2 }, block = [1, 0], thread = [1, 0], stop = { line = "b[j] = Bs", nth = 4 }, lens = "thread tile" }
// block    = ["BLOCK / TT", "BLOCK / TT"]
// grid     = ["ceil(N / BLOCK)", "ceil(M / BLOCK)"]
// requires = ["TT >= 1", "BK >= 1", "BLOCK >= 1", "BLOCK % TT == 0", "BLOCK / TT <= 32", "BLOCK * BK <= 6144"]
// ---

template <int BLOCK, int BK, int TT>
__global__ void narrow_tiles(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[BLOCK][BK];
    __shared__ float Bs[BK][BLOCK];

    // A thread's TT columns stand SIDE apart, so that neighbouring lanes touch neighbouring banks and sectors.
    constexpr int SIDE = BLOCK / TT;
    constexpr int THREADS = SIDE * SIDE;
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * SIDE + tx;
    int row0 = blockIdx.y * BLOCK, col0 = blockIdx.x * BLOCK;
    float sum[TT][TT] = {};

    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int e = thread; e < BLOCK * BK; e += THREADS) {
            int i = e / BK, k = e % BK;
            As[i][k] = row0 + i < M && t + k < K ? A[(row0 + i) * K + t + k] : 0;
        }
        #pragma unroll
        for (int e = thread; e < BK * BLOCK; e += THREADS) {
            int k = e / BLOCK, j = e % BLOCK;
            Bs[k][j] = t + k < K && col0 + j < N ? B[(t + k) * N + col0 + j] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TT], b[TT];
            #pragma unroll
            for (int i = 0; i < TT; i++)
                a[i] = As[ty * TT + i][k];
            #pragma unroll
            for (int j = 0; j < TT; j++)
                b[j] = Bs[k][tx + j * SIDE];
            #pragma unroll
            for (int i = 0; i < TT; i++) {
                #pragma unroll
                for (int j = 0; j < TT; j++)
                    sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < TT; i++) {
        #pragma unroll
        for (int j = 0; j < TT; j++) {
            int row = row0 + ty * TT + i, col = col0 + tx + j * SIDE;
            if (row < M && col < N)
                C[row * N + col] = sum[i][j];
        }
    }
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
// find = "row0 + i < M && t + k < K ? A[(row0 + i) * K + t + k] : 0;"
// replace = "A[(row0 + i) * K + t + k];"
// expect = "out of bounds"
//
// [no-check-b]
// title = "Without the bounds check of B's tile"
// find = "t + k < K && col0 + j < N ? B[(t + k) * N + col0 + j] : 0;"
// replace = "B[(t + k) * N + col0 + j];"
// expect = "out of bounds"
//
// [no-zero-fill]
// title = "Without the zeros outside A and B"
// expect = "read of memory nobody wrote"
// [[no-zero-fill.edits]]
// find = "As[i][k] = row0 + i < M && t + k < K ? A[(row0 + i) * K + t + k] : 0;"
// replace = "if (row0 + i < M && t + k < K) As[i][k] = A[(row0 + i) * K + t + k];"
// [[no-zero-fill.edits]]
// find = "Bs[k][j] = t + k < K && col0 + j < N ? B[(t + k) * N + col0 + j] : 0;"
// replace = "if (t + k < K && col0 + j < N) Bs[k][j] = B[(t + k) * N + col0 + j];"
//
// [no-store-check]
// title = "Without the bounds check of C"
// find = "if (row < M && col < N)\n"
// replace = "\n"
// expect = ["out of bounds", "race"]
//
// [columns-side-by-side]
// title = "With a thread's columns side by side"
// expect = ["bank conflicts", "uncoalesced"]
// [[columns-side-by-side.edits]]
// find = "b[j] = Bs[k][tx + j * SIDE];"
// replace = "b[j] = Bs[k][tx * TT + j];"
// [[columns-side-by-side.edits]]
// find = "col = col0 + tx + j * SIDE;"
// replace = "col = col0 + tx * TT + j;"
//
// [pad-a]
// title = "With a padded tile of A"
// find = "As[BLOCK][BK];"
// replace = "As[BLOCK][BK + 1];"
// expect = "fewer bank conflicts"
//
// [no-unroll-k]
// title = "Without unrolling the loop over k"
// find = "#pragma unroll\n"
// nth = 3
// replace = "\n"
// expect = "none"
// ---
