// ---gemmviz
// version  = 2
// title    = "CPU SIMD, the tile in vector registers"
// idea     = "The tile of C fills the CPU's vector registers; the data that come next are prefetched."
// entry    = "simd"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { BITS = [0, 512, 256, 128], MC = [168, 84, 336], KC = [512, 256], NC = [2048, 1024] }
// demo     = { size = [12, 16, 16], params = { BITS = 256 }, stop = { line = "simd_store(to, t.add", array = "C", write = true, nth = 3 }, lens = "thread tile" }
// requires = ["BITS == 0 or BITS == 128 or BITS == 256 or BITS == 512", "KC >= 1", "MC >= 42", "MC % 42 == 0",
//             "NC >= 32", "NC % 32 == 0"]
// ---

// BITS = 0 takes the widest vectors that the CPU has: 512 bits (AVX-512), 256 (AVX2), or 128, which stands for what
// every other CPU has (NEON, SSE).

#include <gemmviz/panel.h>
#include <gemmviz/simd.h>

// A tile: as many sums as the registers hold, beside what a step of k needs. 28 of 32 registers, or 12 of 16.
enum { ROWS = SIMD_REGISTERS == 32 ? 14 : 6, VECTORS = 2, COLUMNS = VECTORS * FLOATS };

static int min(int a, int b) { return a < b ? a : b; }
static int panels(int length, int width) { return (length + width - 1) / width; }

// What a tile of C is made of: a panel of A and one of B, both `depth` long. Meanwhile `lines` of the cache are fetched
// from `ahead` on, which is where a later tile goes on.
struct job {
    const float *Ap, *Bp, *ahead;
    float *C;
    long ldc;
    int depth, lines, add;
};

static void tile(struct job t)
{
    floats sum[ROWS][VECTORS] = {0};
    // The tile's rows of C are fetched shortly before its end: earlier, and the panels would displace them again.
    int soon = t.depth > 128 ? t.depth - 128 : 0;
    for (int k = 0; k < t.depth; k++, t.Ap += ROWS, t.Bp += COLUMNS) {
        int row = k - soon;
        if (k < t.lines)
            simd_prefetch(t.ahead + k * SIMD_LINE);
        else if (row >= 0 && row < ROWS)
            for (int c = 0; c < COLUMNS; c += SIMD_LINE)
                simd_prefetch_write(t.C + row * t.ldc + c);
        floats b[VECTORS];
        SIMD_UNROLL for (int v = 0; v < VECTORS; v++)
            b[v] = simd_load(t.Bp + v * FLOATS);
        SIMD_UNROLL for (int r = 0; r < ROWS; r++)
            SIMD_UNROLL for (int v = 0; v < VECTORS; v++)
                sum[r][v] += t.Ap[r] * b[v];
    }
    SIMD_UNROLL for (int r = 0; r < ROWS; r++) {
        SIMD_UNROLL for (int v = 0; v < VECTORS; v++) {
            float *to = t.C + r * t.ldc + v * FLOATS;
            simd_store(to, t.add ? simd_load(to) + sum[r][v] : sum[r][v]);
        }
    }
}

// The panels as in packed. Of a whole panel of A as many columns are packed at a time as a vector has floats: its rows
// are read as vectors, and change into columns in registers.
static void pack_panel(float *Ap, const float *A, int rows, int depth, long lda)
{
    int k = 0;
    for (; rows >= ROWS && k + FLOATS <= depth; k += FLOATS, Ap += FLOATS * ROWS) {
        SIMD_UNROLL for (int top = 0; top < ROWS; top += FLOATS) {
            floats row[FLOATS];
            SIMD_UNROLL for (int r = 0; r < FLOATS; r++)
                row[r] = top + r < ROWS ? simd_load(A + (top + r) * lda + k) : (floats){0};
            simd_transpose(row);
            SIMD_UNROLL for (int c = 0; c < FLOATS; c++)
                simd_store_first(Ap + c * ROWS + top, row[c], ROWS - top < FLOATS ? ROWS - top : FLOATS);
        }
    }
    for (; k < depth; k++)
        for (int r = 0; r < ROWS; r++)
            *Ap++ = r < rows ? A[r * lda + k] : 0;
}

static void pack_a(float *Ap, const float *A, int rows, int depth, long lda)
{
    for (int i = 0; i < rows; i += ROWS, Ap += ROWS * depth, A += ROWS * lda)
        pack_panel(Ap, A, rows - i, depth, lda);
}

static void pack_b(float *Bp, const float *B, int depth, int columns, long ldb)
{
    for (int j = 0; j < columns; j += COLUMNS) {
        for (int k = 0; k < depth; k++, Bp += COLUMNS) {
            const float *from = B + k * ldb + j;
            for (int c = 0; c < COLUMNS; c += SIMD_LINE)
                simd_prefetch(from + 16 * ldb + c); // the CPU itself prefetches no row so far away
            if (j + COLUMNS <= columns)
                SIMD_UNROLL for (int c = 0; c < COLUMNS; c += FLOATS)
                    simd_store(Bp + c, simd_load(from + c));
            else
                for (int c = 0; c < COLUMNS; c++)
                    Bp[c] = j + c < columns ? from[c] : 0;
        }
    }
}

// Where C ends within a tile, the tile is computed apart, and what C has of it is copied.
static void edge(struct job t, int rows, int columns)
{
    float apart[ROWS * COLUMNS];
    float *C = t.C;
    long ldc = t.ldc;
    int add = t.add;
    t.C = apart, t.ldc = COLUMNS, t.add = 0;
    tile(t);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            C[r * ldc + c] = add ? C[r * ldc + c] + apart[r * COLUMNS + c] : apart[r * COLUMNS + c];
}

void simd(float *C, const float *A, const float *B, int M, int N, int K)
{
    float *Ap = panels_new("Ap", panels(min(MC, M), ROWS), min(KC, K), ROWS);
    float *Bp = panels_new("Bp", panels(min(NC, N), COLUMNS), min(KC, K), COLUMNS);
    for (int jc = 0; jc < N; jc += NC) {
        int nc = min(NC, N - jc);
        for (int k = 0; k < K; k += KC) {
            int kc = min(KC, K - k);
            pack_b(Bp, B + (long)k * N + jc, kc, nc, N);
            for (int ic = 0; ic < M; ic += MC) {
                int mc = min(MC, M - ic);
                pack_a(Ap, A + (long)ic * K + k, mc, kc, K);
                int lines = panels(COLUMNS * kc, SIMD_LINE * panels(mc, ROWS)); // of the next panel of B, per tile
                for (int j = 0; j < nc; j += COLUMNS) {
                    for (int i = 0; i < mc; i += ROWS) {
                        struct job t = {.Ap = Ap + (long)i * kc, .Bp = Bp + (long)j * kc, .depth = kc, .lines = lines};
                        t.ahead = t.Bp + COLUMNS * kc + i / ROWS * lines * SIMD_LINE;
                        t.C = C + (long)(ic + i) * N + jc + j, t.ldc = N, t.add = k > 0;
                        if (i + ROWS <= mc && j + COLUMNS <= nc)
                            tile(t);
                        else
                            edge(t, min(ROWS, mc - i), min(COLUMNS, nc - j));
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
// find = "r < rows ? A[r * lda + k] : 0;"
// replace = "A[r * lda + k];"
// expect = "out of bounds"
//
// [no-zeros-b]
// title = "Without the zeros beside B"
// find = "if (j + COLUMNS <= columns)"
// replace = "if (1)"
// expect = "out of bounds"
//
// [no-edge]
// title = "With whole tiles only"
// find = "if (i + ROWS <= mc && j + COLUMNS <= nc)"
// replace = "if (1)"
// expect = "out of bounds"
// at = [37, 48, 41]
//
// [each-block-stored]
// title = "With each block of k stored over the one before"
// find = "t.add = k > 0;"
// replace = "t.add = 0;"
// expect = "wrong result"
// set = { KC = 16 }
// ---
