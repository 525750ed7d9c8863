// ---gemmviz
// version  = 2
// title    = "CPU SIMD, threads"
// idea     = "C is cut into one rectangle per thread. A thread whose rectangle is done helps with the others."
// entry    = "simd_threads"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { THREADS = [0, 1, 2, 4], BITS = [0, 512, 256, 128], MC = [84, 168], KC = [1024, 512, 256], NC = [4096, 2048] }
// demo     = { size = [24, 32, 32], params = { THREADS = 4, BITS = 256 }, stop = { line = "simd_store(to, t.add", array = "C", write = true, nth = 2 } }
// requires = ["THREADS >= 0", "THREADS <= 256", "BITS == 0 or BITS == 128 or BITS == 256 or BITS == 512",
//             "KC >= 1", "MC >= 42", "MC % 42 == 0", "NC >= 32", "NC % 32 == 0"]
// ---

// THREADS = 0 takes all cores; BITS = 0 takes the widest vectors that the CPU has (see simd). The threads stay, and
// wait for the next product. All of them pack B, each panel once; then each packs the rows of A that it multiplies.

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
    if (width == ROWS)
        pack_panel(Ap, A, rows, depth, lda, ROWS);
    else
        pack_panel(Ap, A, rows, depth, lda, 6);
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
static void tile_of_c(const struct kernel *with, struct job t, int rows, int columns)
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

// Rows of C, and the tiles that they are cut into: whole ones, and below them low ones, so many that the fewest rows
// are computed for nothing. 128 rows are 8 tiles of 14 and 2 of 8.
struct band {
    int first, rows, whole, tiles;
};

static struct band band_of(const struct kernel *with, int first, int rows)
{
    struct band best = {first, rows, panels(rows, with->rows), panels(rows, with->rows)};
    int least = best.whole * with->rows;
    for (int low = 1; low < with->rows / 2 && least > rows; low++) {
        int rest = rows - low * with->low_rows, whole = rest > 0 ? panels(rest, with->rows) : 0;
        int computed = whole * with->rows + low * with->low_rows;
        if (computed >= rows && computed < least) {
            least = computed;
            best.whole = whole, best.tiles = whole + low;
        }
    }
    return best;
}

// Where a tile begins in its band; for the number of tiles, where the band ends.
static int row_of(const struct kernel *with, const struct band *b, int tile)
{
    int low = tile - b->whole;
    return low < 0 ? tile * with->rows : min(b->whole * with->rows + low * with->low_rows, b->rows);
}

// What all threads use: a block of C of `columns` columns, and `depth` steps of k. It is cut into `down` x `across`
// rectangles, one per job, each of which has `blocks` blocks of up to `high` tiles, and up to `wide` panels of columns.
struct product {
    const struct kernel *with;
    const float *A, *B;
    float *C, *Ap, *Bp;
    long lda, ldb;
    int columns, depth, add, down, across, wide, blocks, high;
    struct band bands[THREADS_MOST];
    struct {
        _Alignas(64) const float *packed; // where the block of A begins of which a thread has the panels
    } of_thread[THREADS_MOST];
};

// Packs a panel of B, once. Rectangles one below the other need the same panels: their jobs share them.
static void pack(void *what, int thread, int job, int part)
{
    (void)thread;
    const struct product *p = what;
    int width = p->with->columns, below = job / p->across, panel = below * panels(p->wide, p->down) + part;
    int column = (job % p->across * p->wide + panel) * width;
    float *Bp = p->Bp + (long)column * p->depth;
    if (panel < p->wide && column < p->columns)
        pack_b(Bp, p->B + column, p->depth, min(width, p->columns - column), p->ldb, width);
}

// Multiplies a block of rows by a panel of B. Each thread that needs the block packs it, so that it lies in the cache
// of its own core.
static void multiply(void *what, int thread, int job, int part)
{
    struct product *p = what;
    const struct kernel *with = p->with;
    const struct band *band = p->bands + job / p->across;
    int block = part / p->wide, tile = band->tiles * block / p->blocks, end = band->tiles * (block + 1) / p->blocks;
    int column = (job % p->across * p->wide + part % p->wide) * with->columns;
    if (tile == end || column >= p->columns)
        return;
    long panel = (long)with->rows * p->depth; // of A
    float *Ap = p->Ap + thread * p->high * panel;
    const float *A = p->A + (long)band->first * p->lda, *first = A + row_of(with, band, tile) * p->lda;
    if (p->of_thread[thread].packed != first) {
        p->of_thread[thread].packed = first;
        for (int t = tile; t < end; t++) {
            int row = row_of(with, band, t);
            pack_a(Ap + (t - tile) * panel, A + row * p->lda, band->rows - row, p->depth, p->lda, with->rows);
        }
    }
    struct job t = {.Ap = Ap, .Bp = p->Bp + (long)column * p->depth, .ldc = p->ldb, .depth = p->depth, .add = p->add};
    t.lines = panels(with->columns / FLOATS * p->depth, end - tile); // of the next panel of B, per tile
    t.ahead = t.Bp + with->columns * p->depth;
    for (; tile < end; tile++, t.Ap += panel, t.ahead += t.lines * FLOATS) {
        int row = row_of(with, band, tile), rows = row_of(with, band, tile + 1) - row;
        t.C = p->C + (band->first + row) * p->ldb + column;
        tile_of_c(with, t, rows, min(with->columns, p->columns - column));
    }
}

// The kernel for this CPU, and how many cores it has. Only the first call asks: in a virtual machine the answers took
// 17 us, more than 1% of a product of 512.
static const struct kernel *with = kernels;
static int cores;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void)
{
    for (int width = simd_width(BITS); with->bits > width;)
        with++;
    cores = threads_cores();
}

void simd_threads(float *C, const float *A, const float *B, int M, int N, int K)
{
    pthread_once(&asked, ask);
    int threads = min(THREADS ? THREADS : cores, THREADS_MOST);
    int nc = panels(N, panels(N, NC)), kc = panels(K, panels(K, KC)); // blocks of equal size
    struct product p = {.with = with, .lda = K, .ldb = N, .down = 1};
    // How many rectangles stand one below the other: as few elements of A and B as can be are read by several threads.
    long least = (long)M * threads + nc;
    for (int d = 2; d <= threads; d++) {
        long read = (long)M * (threads / d) + (long)nc * d;
        if (threads % d == 0 && read < least) {
            p.down = d;
            least = read;
        }
    }
    p.down = min(p.down, panels(M, with->rows)), p.across = min(threads / p.down, panels(nc, with->columns));
    p.wide = panels(panels(nc, with->columns), p.across);
    int tiles = 0;
    for (int d = 0; d < p.down; d++) {
        int first = (long)M * d / p.down, end = (long)M * (d + 1) / p.down;
        p.bands[d] = band_of(with, first, end - first);
        tiles = p.bands[d].tiles > tiles ? p.bands[d].tiles : tiles;
    }
    p.blocks = panels(tiles, MC / with->rows), p.high = panels(tiles, p.blocks);
    p.Ap = panels_new("Ap", threads * p.high, kc, with->rows);
    p.Bp = panels_new("Bp", panels(nc, with->columns), kc, with->columns);
    for (int j = 0; j < N; j += nc) {
        p.C = C + j, p.columns = min(nc, N - j);
        for (int k = 0; k < K; k += kc) {
            p.A = A + k, p.B = B + (long)k * N + j, p.depth = min(kc, K - k), p.add = k > 0;
            threads_run(p.down * p.across, panels(p.wide, p.down), pack, &p);
            threads_run(p.down * p.across, p.blocks * p.wide, multiply, &p);
        }
    }
    panels_free(p.Ap);
    panels_free(p.Bp);
}

// ---gemmviz breaks
// [one-a-panel]
// title = "With one set of panels of A for all threads"
// find = "p->Ap + thread * p->high * panel"
// replace = "p->Ap"
// expect = "race"
// set = { THREADS = 4 }
//
// [overlapping-rectangles]
// title = "With rectangles that overlap"
// find = "end = (long)M * (d + 1) / p.down;"
// replace = "end = min((long)M * (d + 1) / p.down + 1, M);"
// expect = "race"
// set = { THREADS = 4 }
//
// [no-wait]
// title = "With threads that do not wait for the panels of B"
// expect = "race"
// set = { THREADS = 4 }
// [[no-wait.edits]]
// find = "threads_run(p.down * p.across, panels(p.wide, p.down), pack, &p);"
// [[no-wait.edits]]
// find = "if (tile == end || column >= p->columns)"
// replace = "for (int b = 0; part == 0 && b < panels(p->wide, p->down); b++) pack(what, thread, job, b); if (tile == end || column >= p->columns)"
//
// [no-edge]
// title = "With whole tiles only"
// find = "if (rows == (low ? with->low_rows : with->rows) && columns == width) {"
// replace = "if (1) {"
// expect = "out of bounds"
// at = [37, 48, 41]
// set = { THREADS = 4 }
// ---
