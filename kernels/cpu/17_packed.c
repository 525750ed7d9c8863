// ---gemmviz
// version  = 2
// title    = "CPU loops, packed panels"
// idea     = "Blocks of A and B are copied into panels, in exactly the order in which the tile of C reads them."
// entry    = "packed"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { MR = [6, 4, 8], NR = [16, 32], MC = [168, 96, 336], KC = [512, 256], NC = [2048, 1024] }
// demo     = { size = 8, params = { MR = 2, NR = 4, MC = 4, KC = 8, NC = 8 }, stop = { share = 0.5 }, lens = "memory order" }
// requires = ["MR >= 1", "NR >= 1", "KC >= 1", "MC >= 2 * MR", "MC % MR == 0", "NC >= 2 * NR",
//             "NC % NR == 0"]
// ---

#include <gemmviz/panel.h>

static int min(int a, int b) { return a < b ? a : b; }
static int panels(int length, int width) { return (length + width - 1) / width; }

// MR rows of A become a panel: MR elements of the first column, MR of the second, ... Missing rows are zeros.
static void pack_a(float *Ap, const float *A, int rows, int depth, int K)
{
    for (int i = 0; i < rows; i += MR)
        for (int k = 0; k < depth; k++)
            for (int r = i; r < i + MR; r++)
                *Ap++ = r < rows ? A[(long)r * K + k] : 0;
}

// NR columns of B become a panel: NR elements of the first row, NR of the second, ... Missing columns are zeros.
static void pack_b(float *Bp, const float *B, int depth, int columns, int N)
{
    for (int j = 0; j < columns; j += NR)
        for (int k = 0; k < depth; k++)
            for (int c = j; c < j + NR; c++)
                *Bp++ = c < columns ? B[(long)k * N + c] : 0;
}

// The product of two panels. A tile is always a whole one; only what C has is written.
static void tile(float *C, const float *Ap, const float *Bp, int rows, int columns, int depth, int N, int add)
{
    float sum[MR][NR] = {0};
    for (int k = 0; k < depth; k++)
        for (int r = 0; r < MR; r++)
            for (int c = 0; c < NR; c++)
                sum[r][c] += Ap[k * MR + r] * Bp[k * NR + c];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            C[(long)r * N + c] = add ? C[(long)r * N + c] + sum[r][c] : sum[r][c];
}

void packed(float *C, const float *A, const float *B, int M, int N, int K)
{
    float *Ap = panels_new("Ap", panels(min(MC, M), MR), min(KC, K), MR);
    float *Bp = panels_new("Bp", panels(min(NC, N), NR), min(KC, K), NR);
    for (int jc = 0; jc < N; jc += NC) {
        int columns = min(NC, N - jc);
        for (int kc = 0; kc < K; kc += KC) {
            int depth = min(KC, K - kc);
            pack_b(Bp, B + (long)kc * N + jc, depth, columns, N);
            for (int ic = 0; ic < M; ic += MC) {
                int rows = min(MC, M - ic);
                pack_a(Ap, A + (long)ic * K + kc, rows, depth, K);
                // A panel of B stays in the first cache while the panels of A pass by, which stay in the second.
                for (int j = 0; j < columns; j += NR) {
                    for (int i = 0; i < rows; i += MR) {
                        float *to = C + (long)(ic + i) * N + jc + j;
                        const float *a = Ap + (long)i * depth, *b = Bp + (long)j * depth;
                        tile(to, a, b, min(MR, rows - i), min(NR, columns - j), depth, N, kc > 0);
                    }
                }
            }
        }
    }
    panels_free(Ap);
    panels_free(Bp);
}

// ---gemmviz breaks
// [no-zeros-a]
// title = "Without the zeros below A"
// find = "r < rows ? A[(long)r * K + k] : 0;"
// replace = "A[(long)r * K + k];"
// expect = "out of bounds"
//
// [write-it-all]
// title = "With the whole tile written"
// find = "tile(to, a, b, min(MR, rows - i), min(NR, columns - j), depth, N, kc > 0);"
// replace = "tile(to, a, b, MR, NR, depth, N, kc > 0);"
// expect = "out of bounds"
//
// [b-not-packed]
// title = "Without packing B"
// find = "pack_b(Bp, B + (long)kc * N + jc, depth, columns, N);"
// replace = ";"
// expect = "read of memory nobody wrote"
//
// [a-packed-too-early]
// title = "With the panel of A of the tile before"
// find = "const float *a = Ap + (long)i * depth,"
// replace = "const float *a = Ap + (long)(i ? i - MR : 0) * depth,"
// expect = "wrong result"
// ---
