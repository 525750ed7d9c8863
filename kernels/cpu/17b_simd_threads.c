// ---gemmviz
// version  = 2
// title    = "CPU SIMD, threads"
// idea     = "C is cut into one rectangle per thread. Each thread packs its own panels and writes only its own rectangle."
// entry    = "simd_threads"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { THREADS = [0, 1, 2, 4], BITS = [0, 512, 256, 128], MC = [84, 168], KC = [1024, 512, 256], NC = [1024, 2048] }
// demo     = { size = [24, 32, 32], params = { THREADS = 4, BITS = 256 }, stop = { line = "simd_store(to, t.add", array = "C", write = true, nth = 2 } }
// requires = ["THREADS >= 0", "THREADS <= 256", "BITS == 0 or BITS == 128 or BITS == 256 or BITS == 512",
//             "KC >= 1", "MC >= 42", "MC % 42 == 0", "NC >= 32", "NC % 32 == 0"]
// ---

// THREADS = 0 takes all cores; BITS = 0 takes the widest vectors that the CPU has (see simd). The threads stay, and wait for
// the next product.

#include <gemmviz/panel.h>
#include <gemmviz/simd.h>
#include <gemmviz/threads.h>
#include <pthread.h>
#include <unistd.h>

enum { ROWS = 14, VECTORS = 2 }; // the largest tile: rows, and vectors of 16 floats

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

// Multiplies the first `rows` rows of a panel of A, which is `width` rows wide. The sizes are constants wherever it is
// called, so that the sums are registers.
SIMD_INLINE void tile(int width, int rows, int vectors, struct job t)
{
    floats sum[ROWS][VECTORS] = {0};
    for (int k = 0; k < t.depth; k++, t.Ap += width, t.Bp += vectors * FLOATS) {
        if (k < rows) // first the tile's own rows of C, one at a time, so that no other read has to wait
            for (int v = 0; v < vectors; v++)
                simd_prefetch_write(t.C + k * t.ldc + v * FLOATS);
        else if (k < rows + t.lines)
            simd_prefetch(t.ahead + (k - rows) * FLOATS);
        floats b[VECTORS];
        SIMD_UNROLL for (int v = 0; v < vectors; v++)
            b[v] = simd_load(t.Bp + v * FLOATS);
        SIMD_UNROLL for (int r = 0; r < rows; r++)
            SIMD_UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] += t.Ap[r] * b[v];
    }
    SIMD_UNROLL for (int r = 0; r < rows; r++) {
        SIMD_UNROLL for (int v = 0; v < vectors; v++) {
            float *to = t.C + r * t.ldc + v * FLOATS;
            simd_store(to, t.add ? simd_load(to) + sum[r][v] : sum[r][v]);
        }
    }
}

// The same tile for each width: as many sums as the registers hold, beside what a step of k needs. Below the last whole
// tile C may have few rows more: a low tile does not multiply the zeros below them.
SIMD_512 static void tile_512(struct job t) { tile(ROWS, ROWS, VECTORS, t); } // 28 of 32 registers
SIMD_512 static void low_512(struct job t) { tile(ROWS, 8, VECTORS, t); }
SIMD_256 static void tile_256(struct job t) { tile(6, 6, 1, t); } // 12 of 16
SIMD_256 static void low_256(struct job t) { tile(6, 4, 1, t); }
static void tile_128(struct job t) { tile(6, 6, 1, t); } // 24 of 32 with NEON
static void low_128(struct job t) { tile(6, 4, 1, t); }
static const struct kernel {
    int bits, rows, low_rows, columns;
    void (*tile)(struct job), (*low)(struct job);
} kernels[] = {
    {512, ROWS, 8, VECTORS * FLOATS, tile_512, low_512},
    {256, 6, 4, FLOATS, tile_256, low_256},
    {0, 6, 4, FLOATS, tile_128, low_128},
};

// The panels as in packed, `width` rows or columns each. Of a whole panel of A 16 columns are packed at a time: its rows
// are read as vectors, and change into columns in registers.
SIMD_INLINE void pack_panel(float *Ap, const float *A, int rows, int depth, long lda, int width)
{
    int k = 0;
    for (; rows >= width && k + FLOATS <= depth; k += FLOATS) {
        floats row[FLOATS];
        SIMD_UNROLL for (int r = 0; r < FLOATS; r++)
            row[r] = r < width ? simd_load(A + r * lda + k) : (floats){0};
        simd_transpose(row);
        SIMD_UNROLL for (int c = 0; c < FLOATS; c++, Ap += width)
            simd_store_first(Ap, row[c], width);
    }
    for (; k < depth; k++)
        for (int r = 0; r < width; r++)
            *Ap++ = r < rows ? A[r * lda + k] : 0;
}

static void pack_a(float *Ap, const float *A, int rows, int depth, long lda, int width)
{
    for (int i = 0; i < rows; i += width, Ap += width * depth, A += width * lda) {
        if (width == ROWS)
            pack_panel(Ap, A, rows - i, depth, lda, ROWS);
        else
            pack_panel(Ap, A, rows - i, depth, lda, 6);
    }
}

static void pack_b(float *Bp, const float *B, int depth, int columns, long ldb, int width)
{
    for (int j = 0; j < panels(columns, width) * width; j += FLOATS) {
        float *to = Bp + (long)j / width * width * depth + j % width;
        for (int k = 0; k < depth; k++, to += width) {
            simd_prefetch(B + (k + FLOATS) * ldb + j); // the CPU itself prefetches no row so far away
            if (j + FLOATS <= columns)
                simd_store(to, simd_load(B + k * ldb + j));
            else
                for (int c = 0; c < FLOATS; c++)
                    to[c] = j + c < columns ? B[k * ldb + j + c] : 0;
        }
    }
}

// A tile of `rows` x `columns` elements of C. If C ends within the tile, it is computed apart, and what C has of it is
// copied.
static void part(const struct kernel *with, struct job t, int rows, int columns)
{
    int low = rows <= with->low_rows, width = with->columns;
    void (*multiply)(struct job) = low ? with->low : with->tile;
    if (rows == (low ? with->low_rows : with->rows) && columns == width) {
        multiply(t);
        return;
    }
    float apart[ROWS * VECTORS * FLOATS];
    float *C = t.C;
    long ldc = t.ldc;
    int add = t.add;
    t.C = apart, t.ldc = width, t.add = 0;
    multiply(t);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            C[r * ldc + c] = add ? C[r * ldc + c] + apart[r * width + c] : apart[r * width + c];
}

static void multiply_packed(const struct kernel *with, float *C, const float *A, const float *B, int rows, int columns,
                            int K, long lda, long ldb, float *Ap, float *Bp)
{
    int R = with->rows, W = with->columns;
    for (int jc = 0; jc < columns; jc += NC) {
        int nc = min(NC, columns - jc);
        for (int k = 0; k < K; k += KC) {
            int kc = min(KC, K - k);
            pack_b(Bp, B + k * ldb + jc, kc, nc, ldb, W);
            for (int ic = 0; ic < rows; ic += MC) {
                int mc = min(MC, rows - ic);
                pack_a(Ap, A + ic * lda + k, mc, kc, lda, R);
                int lines = panels(W / FLOATS * kc, panels(mc, R)); // of the next panel of B, per tile
                for (int j = 0; j < nc; j += W) {
                    for (int i = 0; i < mc; i += R) {
                        struct job t = {.Ap = Ap + (long)i * kc, .Bp = Bp + (long)j * kc, .depth = kc, .lines = lines};
                        t.ahead = t.Bp + W * kc + i / R * lines * FLOATS;
                        t.C = C + (ic + i) * ldb + jc + j, t.ldc = ldb, t.add = k > 0;
                        part(with, t, min(R, mc - i), min(W, nc - j));
                    }
                }
            }
        }
    }
}

struct rectangle {
    const struct kernel *with;
    float *C;
    const float *A, *B;
    int rows, columns, K, N;
    float *Ap, *Bp;
};

static void multiply_rectangle(void *argument)
{
    const struct rectangle *r = argument;
    multiply_packed(r->with, r->C, r->A, r->B, r->rows, r->columns, r->K, r->K, r->N, r->Ap, r->Bp);
}

// The kernel for this CPU, and how many cores it has. Only the first call asks: in a virtual machine the answers took
// 17 us, more than 1% of a product of 512.
static const struct kernel *with = kernels;
static long cores;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void)
{
    for (int width = simd_width(BITS); with->bits > width;)
        with++;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
}

void simd_threads(float *C, const float *A, const float *B, int M, int N, int K)
{
    pthread_once(&asked, ask);
    // Tiles of C, and how many rectangles stand one below the other: as few elements as can be are packed twice.
    int tall = panels(M, with->rows), wide = panels(N, with->columns);
    long wanted = THREADS ? THREADS : cores;
    int threads = wanted < 1 ? 1 : wanted > THREADS_MOST ? THREADS_MOST : wanted, down = 1;
    long least = (long)M * threads + N; // rows of A and columns of B that are packed
    for (int d = 2; d <= threads; d++) {
        long packed = (long)M * (threads / d) + (long)N * d;
        if (threads % d == 0 && packed < least) {
            down = d;
            least = packed;
        }
    }
    int across = min(threads / down, wide);
    down = min(down, tall);
    int a_panels = min(MC / with->rows, panels(tall, down)), b_panels = min(NC / with->columns, panels(wide, across));
    long a_floats = (long)a_panels * min(KC, K) * with->rows, b_floats = (long)b_panels * min(KC, K) * with->columns;
    float *Ap = panels_new("Ap", down * across * a_panels, min(KC, K), with->rows);
    float *Bp = panels_new("Bp", down * across * b_panels, min(KC, K), with->columns);

    struct rectangle rectangles[THREADS_MOST];
    for (int t = 0; t < down * across; t++) {
        int i = (long)tall * (t / across) / down * with->rows, j = (long)wide * (t % across) / across * with->columns;
        int i_end = min((long)tall * (t / across + 1) / down * with->rows, M);
        int j_end = min((long)wide * (t % across + 1) / across * with->columns, N);
        rectangles[t] = (struct rectangle){
            with,      C + (long)i * N + j, A + (long)i * K, B + j, i_end - i, j_end - j, K, N, Ap + t * a_floats,
            Bp + t * b_floats,
        };
    }
    threads_run(down * across, multiply_rectangle, rectangles, sizeof *rectangles);
    panels_free(Ap);
    panels_free(Bp);
}

// ---gemmviz breaks
// [one-a-panel]
// title = "With one set of panels of A for all threads"
// find = "Ap + t * a_floats"
// replace = "Ap"
// expect = "race"
// set = { THREADS = 4 }
//
// [overlapping-rectangles]
// title = "With rectangles that overlap"
// find = "(t / across + 1) / down * with->rows, M);"
// replace = "(t / across + 1) / down * with->rows + 1, M);"
// expect = "race"
// set = { THREADS = 4 }
//
// [no-edge]
// title = "With whole tiles only"
// find = "if (rows == (low ? with->low_rows : with->rows) && columns == width) {"
// replace = "if (1) {"
// expect = "out of bounds"
// at = [37, 48, 41]
// set = { THREADS = 4 }
// ---
