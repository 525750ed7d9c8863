// ---gemmviz
// version  = 2
// title    = "CPU loops, a tile of C in registers"
// idea     = "MR x NR sums stay in registers while k runs: each element of A is used NR times, each element of B MR times."
// entry    = "register_block"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { MR = [6, 4, 8], NR = [16, 32], KC = [256, 128, 512], NC = [512, 1024] }
// demo     = { size = 8, params = { MR = 4, NR = 4, KC = 4, NC = 8 }, stop = { step = 232 }, lens = "thread tile" }
// requires = ["MR >= 1", "NR >= 1", "KC >= 1", "NC >= NR", "NC % NR == 0"]
// ---

static int min(int a, int b) { return a < b ? a : b; }

// The sums of a whole tile. Its size is known to the compiler, which writes the loops over r and c out.
static void tile(float *restrict C, const float *restrict A, const float *restrict B, int depth, int N, int K, int add)
{
    float sum[MR][NR] = {0};
    for (int k = 0; k < depth; k++)
        for (int r = 0; r < MR; r++)
            for (int c = 0; c < NR; c++)
                sum[r][c] += A[(long)r * K + k] * B[(long)k * N + c];
    for (int r = 0; r < MR; r++)
        for (int c = 0; c < NR; c++)
            C[(long)r * N + c] = add ? C[(long)r * N + c] + sum[r][c] : sum[r][c];
}

// What is left at the right and at the bottom of C: any number of rows and columns.
static void edge(float *C, const float *A, const float *B, int rows, int columns, int depth, int N, int K, int add)
{
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            float sum = 0;
            if (add)
                sum = C[(long)r * N + c];
            for (int k = 0; k < depth; k++)
                sum += A[(long)r * K + k] * B[(long)k * N + c];
            C[(long)r * N + c] = sum;
        }
    }
}

void register_block(float *C, const float *A, const float *B, int M, int N, int K)
{
    for (int jc = 0; jc < N; jc += NC) {
        for (int kc = 0; kc < K; kc += KC) {
            int depth = min(KC, K - kc);
            for (int i = 0; i < M; i += MR) {
                for (int j = jc; j < min(jc + NC, N); j += NR) {
                    float *to = C + (long)i * N + j;
                    const float *a = A + (long)i * K + kc, *b = B + (long)kc * N + j;
                    if (i + MR <= M && j + NR <= N)
                        tile(to, a, b, depth, N, K, kc > 0);
                    else
                        edge(to, a, b, min(MR, M - i), min(NR, N - j), depth, N, K, kc > 0);
                }
            }
        }
    }
}

// ---gemmviz breaks
// [no-edge]
// title = "With whole tiles only"
// find = "if (i + MR <= M && j + NR <= N)"
// replace = "if (1)"
// expect = "out of bounds"
//
// [first-block-added]
// title = "With the first block added to what C held"
// find = "tile(to, a, b, depth, N, K, kc > 0);"
// replace = "tile(to, a, b, depth, N, K, 1);"
// expect = "read of memory nobody wrote"
//
// [each-block-stored]
// title = "With each block of k stored over the one before"
// find = "add ? C[(long)r * N + c] + sum[r][c] : sum[r][c];"
// replace = "sum[r][c];"
// expect = "wrong result"
// set = { KC = 16 }
// ---
