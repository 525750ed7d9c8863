// ---gemmviz
// version  = 2
// title    = "CPU SIMD, threads"
// idea     = "C is cut into one rectangle per thread. A thread whose rectangle is done helps with the others."
// entry    = "simd_threads"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { THREADS = [0, 1, 2, 4], BITS = [0, 512, 256, 128], MC = [84, 168], KC = [1024, 512, 256], NC = [1024, 512, 2048] }
// demo     = { size = [24, 32, 32], params = { THREADS = 4, BITS = 256 }, stop = { line = "simd_store(to, t.add", array = "C", write = true, nth = 2 } }
// requires = ["THREADS >= 0", "THREADS <= 256", "BITS == 0 or BITS == 128 or BITS == 256 or BITS == 512",
//             "KC >= 1", "MC >= 42", "MC % 42 == 0", "NC >= 32", "NC % 32 == 0"]
// ---

// THREADS = 0 takes all cores; BITS = 0 takes the widest vectors that the CPU has (see simd). The threads stay, and
// wait for the next product. They share the work of packing B; then each packs the rows of A that it multiplies.

#include <gemmviz/panel.h>
#include <gemmviz/simd.h>
#include <gemmviz/threads.h>
#include <pthread.h>

// A tile: as many sums as the registers hold, beside what a step of k needs. 28 of 32 registers, or 12 of 16. A low tile
// has fewer rows: where C ends, fewer rows of zeros are multiplied.
enum { MANY = SIMD_REGISTERS == 32, ROWS = MANY ? 14 : 6, LOW_ROWS = MANY ? 8 : 4, VECTORS = 2 };
enum { COLUMNS = VECTORS * FLOATS };

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

// Multiplies the first `rows` rows of a panel of A: a constant wherever it is called, so that the sums are registers.
SIMD_INLINE void multiply_rows(int rows, struct job t)
{
    floats sum[ROWS][VECTORS] = {0};
    // The tile's rows of C are fetched shortly before its end: earlier, and the panels would displace them again.
    int soon = t.depth > 128 ? t.depth - 128 : 0;
    for (int k = 0; k < t.depth; k++, t.Ap += ROWS, t.Bp += COLUMNS) {
        int row = k - soon;
        if (k < t.lines)
            simd_prefetch(t.ahead + k * SIMD_LINE);
        else if (row >= 0 && row < rows)
            for (int c = 0; c < COLUMNS; c += SIMD_LINE)
                simd_prefetch_write(t.C + row * t.ldc + c);
        floats b[VECTORS];
        SIMD_UNROLL for (int v = 0; v < VECTORS; v++)
            b[v] = simd_load(t.Bp + v * FLOATS);
        SIMD_UNROLL for (int r = 0; r < rows; r++)
            SIMD_UNROLL for (int v = 0; v < VECTORS; v++)
                sum[r][v] += t.Ap[r] * b[v];
    }
    SIMD_UNROLL for (int r = 0; r < rows; r++) {
        SIMD_UNROLL for (int v = 0; v < VECTORS; v++) {
            float *to = t.C + r * t.ldc + v * FLOATS;
            simd_store(to, t.add ? simd_load(to) + sum[r][v] : sum[r][v]);
        }
    }
}

static void whole_tile(const struct job *t) { multiply_rows(ROWS, *t); }
static void low_tile(const struct job *t) { multiply_rows(LOW_ROWS, *t); }

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

// A tile of `rows` x `columns` elements of C. If C ends within the tile, it is computed apart, and what C has of it is
// copied.
static void tile_of_c(struct job t, int rows, int columns)
{
    int low = rows <= LOW_ROWS;
    void (*multiply)(const struct job *) = low ? low_tile : whole_tile;
    if (rows == (low ? LOW_ROWS : ROWS) && columns == COLUMNS) {
        multiply(&t);
        return;
    }
    float apart[ROWS * COLUMNS];
    float *C = t.C;
    long ldc = t.ldc;
    int add = t.add;
    t.C = apart, t.ldc = COLUMNS, t.add = 0;
    multiply(&t);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            C[r * ldc + c] = add ? C[r * ldc + c] + apart[r * COLUMNS + c] : apart[r * COLUMNS + c];
}

// Rows of C, and the tiles that they are cut into: whole ones, and below them low ones, so many that the fewest rows
// are computed for nothing. 128 rows are 8 tiles of 14 and 2 of 8.
struct band {
    int first, rows, whole, tiles;
};

static struct band band_of(int first, int rows)
{
    struct band best = {first, rows, panels(rows, ROWS), panels(rows, ROWS)};
    int least = best.whole * ROWS;
    for (int low = 1; low < ROWS / 2 && least > rows; low++) {
        int rest = rows - low * LOW_ROWS, whole = rest > 0 ? panels(rest, ROWS) : 0;
        int computed = whole * ROWS + low * LOW_ROWS;
        if (computed >= rows && computed < least) {
            least = computed;
            best.whole = whole, best.tiles = whole + low;
        }
    }
    return best;
}

// Where a tile begins in its band; for the number of tiles, where the band ends.
static int row_of(const struct band *b, int tile)
{
    return tile < b->whole ? tile * ROWS : min(b->whole * ROWS + (tile - b->whole) * LOW_ROWS, b->rows);
}

// What all threads use: a block of C of `columns` columns, and `depth` steps of k. It is cut into `down` x `across`
// rectangles, one per job, each of which has `blocks` blocks of up to `high` tiles, and up to `wide` panels of columns.
struct product {
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
    int below = job / p->across, panel = below * panels(p->wide, p->down) + part;
    int column = (job % p->across * p->wide + panel) * COLUMNS;
    float *Bp = p->Bp + (long)column * p->depth;
    if (panel < p->wide && column < p->columns)
        pack_b(Bp, p->B + column, p->depth, min(COLUMNS, p->columns - column), p->ldb);
}

// Multiplies a block of rows by a panel of B. Each thread that needs the block packs it, so that it lies in the cache
// of its own core.
static void multiply(void *what, int thread, int job, int part)
{
    struct product *p = what;
    const struct band *band = p->bands + job / p->across;
    long block = part / p->wide, tiles = band->tiles;
    int tile = tiles * block / p->blocks, end = tiles * (block + 1) / p->blocks;
    int column = (job % p->across * p->wide + part % p->wide) * COLUMNS;
    if (tile == end || column >= p->columns)
        return;
    long panel = (long)ROWS * p->depth; // of A
    float *Ap = p->Ap + thread * p->high * panel;
    const float *A = p->A + (long)band->first * p->lda, *first = A + row_of(band, tile) * p->lda;
    if (p->of_thread[thread].packed != first) {
        p->of_thread[thread].packed = first;
        for (int t = tile; t < end; t++) {
            int row = row_of(band, t);
            pack_panel(Ap + (t - tile) * panel, A + row * p->lda, band->rows - row, p->depth, p->lda);
        }
    }
    struct job t = {.Ap = Ap, .Bp = p->Bp + (long)column * p->depth, .ldc = p->ldb, .depth = p->depth, .add = p->add};
    t.lines = panels(COLUMNS * p->depth, SIMD_LINE * (end - tile)); // of the next panel of B, per tile
    t.ahead = t.Bp + COLUMNS * p->depth;
    for (; tile < end; tile++, t.Ap += panel, t.ahead += t.lines * SIMD_LINE) {
        int row = row_of(band, tile), rows = row_of(band, tile + 1) - row;
        t.C = p->C + (band->first + row) * p->ldb + column;
        tile_of_c(t, rows, min(COLUMNS, p->columns - column));
    }
}

// Only the first call asks: in a virtual machine the answer took 6 us.
static int cores;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void) { cores = threads_cores(); }

void simd_threads(float *C, const float *A, const float *B, int M, int N, int K)
{
    pthread_once(&asked, ask);
    int threads = min(THREADS ? THREADS : cores, THREADS_MOST);
    struct product p = {.lda = K, .ldb = N, .down = 1};
    // How many rectangles stand one below the other: as few elements of A and B as can be are read by several threads.
    long least = (long)M * threads + N;
    for (int d = 2; d <= threads; d++) {
        long read = (long)M * (threads / d) + (long)N * d;
        if (threads % d == 0 && read < least) {
            p.down = d;
            least = read;
        }
    }
    p.down = min(p.down, panels(M, ROWS)), p.across = min(threads / p.down, panels(N, COLUMNS));
    // Blocks of equal size: of B, at most NC columns for each rectangle and KC rows.
    int nc = panels(panels(N, panels(N, NC * p.across)), COLUMNS) * COLUMNS, kc = panels(K, panels(K, KC));
    p.wide = panels(nc / COLUMNS, p.across);
    int tiles = 0;
    for (int d = 0; d < p.down; d++) {
        int first = (long)M * d / p.down, end = (long)M * (d + 1) / p.down;
        p.bands[d] = band_of(first, end - first);
        tiles = p.bands[d].tiles > tiles ? p.bands[d].tiles : tiles;
    }
    p.blocks = panels(tiles, MC / ROWS), p.high = panels(tiles, p.blocks);
    p.Ap = panels_new("Ap", threads * p.high, kc, ROWS);
    p.Bp = panels_new("Bp", nc / COLUMNS, kc, COLUMNS);
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
// find = "if (rows == (low ? LOW_ROWS : ROWS) && columns == COLUMNS) {"
// replace = "if (1) {"
// expect = "out of bounds"
// at = [37, 48, 41]
// set = { THREADS = 4 }
// ---
