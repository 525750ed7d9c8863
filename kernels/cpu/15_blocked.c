// ---gemmviz
// version  = 2
// title    = "CPU loops, blocked for the cache"
// idea     = "A block of B, KC rows by NC columns, stays in the cache while all rows of C use it."
// entry    = "blocked"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { KC = [64, 32, 128, 256], NC = [1024, 512, 2048] }
// demo     = { size = 8, params = { KC = 4, NC = 4 }, stop = { share = 0.25 }, lens = "reuse" }
// requires = ["KC >= 1", "NC >= 1"]
// ---

static int min(int a, int b) { return a < b ? a : b; }

void blocked(float *restrict C, const float *restrict A, const float *restrict B, int M, int N, int K)
{
    for (int jc = 0; jc < N; jc += NC) {
        int j_end = min(jc + NC, N);
        for (int kc = 0; kc < K; kc += KC) {
            int k_end = min(kc + KC, K);
            for (int i = 0; i < M; i++) {
                if (kc == 0)
                    for (int j = jc; j < j_end; j++)
                        C[(long)i * N + j] = 0;
                for (int k = kc; k < k_end; k++)
                    for (int j = jc; j < j_end; j++)
                        C[(long)i * N + j] += A[(long)i * K + k] * B[(long)k * N + j];
            }
        }
    }
}

// ---gemmviz breaks
// [zero-in-each-block]
// title = "With C set to 0 in each block of k"
// find = "if (kc == 0)"
// replace = "if (kc >= 0)"
// expect = "wrong result"
// set = { KC = 16 }
//
// [zero-never-set]
// title = "Without setting C to 0"
// find = "C[(long)i * N + j] = 0;"
// replace = ";"
// expect = "read of memory nobody wrote"
//
// [last-block-not-cut]
// title = "With the last block of k as long as the others"
// find = "min(kc + KC, K)"
// replace = "kc + KC"
// expect = "out of bounds"
//
// [blocks-of-k-outside]
// title = "With the blocks of k in the outer loop"
// expect = "none"
// [[blocks-of-k-outside.edits]]
// find = "for (int jc = 0; jc < N; jc += NC) {\n        int j_end = min(jc + NC, N);"
// replace = "for (int kc = 0; kc < K; kc += KC) {\n        int k_end = min(kc + KC, K);"
// [[blocks-of-k-outside.edits]]
// find = "for (int kc = 0; kc < K; kc += KC) {\n            int k_end = min(kc + KC, K);"
// replace = "for (int jc = 0; jc < N; jc += NC) {\n            int j_end = min(jc + NC, N);"
// ---
