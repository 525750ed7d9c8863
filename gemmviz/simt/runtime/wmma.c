// Tensor-core fragments: the elements of a tile in each lane, the accesses that load and store them, the product.
#include "kernel_calls/wmma.h"
#include "access.h"
#include "block_memory.h"
#include "elements.h"
#include "kept_mma.h"
#include "products.h"
#include "stop.h"
#include <string.h>

enum { LARGEST = 32 };

// Only sums are written: no fragment of another type is a result.
static inline void put(const gv_fragment *f, void *p, uint32_t i, double value)
{
    switch (f->type) {
    case GV_HALF: ((_Float16 *)p)[i] = (_Float16)(float)value; break;
    case GV_FLOAT: ((float *)p)[i] = (float)value; break;
    case GV_DOUBLE: ((double *)p)[i] = value; break;
    case GV_S32: ((int32_t *)p)[i] = (int32_t)(uint32_t)(int64_t)value; break;
    case GV_S32_CLAMPED:
        ((int32_t *)p)[i] = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
        break;
    default: break;
    }
}

// The place of each element of each lane in its tile. Computed once per fragment, as a product reads it often.
enum { MOST_FRAGMENTS = 61 /* a prime */ };
typedef struct {
    const gv_fragment *of;
    uint8_t row[GV_WARP][GV_MOST_ELEMENTS], column[GV_WARP][GV_MOST_ELEMENTS];
    gv_places in_tile; // row by row
    // Of each lane: the bytes from the beginning of a tile in memory to each of its elements, for the layout of its
    // last load (`leading` 0: none).
    uint32_t leading[GV_WARP], at[GV_WARP][GV_MOST_ELEMENTS];
    uint8_t by_columns[GV_WARP];
} places;

// The number of elements that are adjacent in the tile, for each lane and from each multiple of it on.
static uint32_t adjacent(const gv_places *p)
{
    for (uint32_t run = 4; run > 1; run /= 2) {
        int all = p->count % run == 0;
        for (uint32_t lane = 0; all && lane < GV_WARP; lane++)
            for (uint32_t i = 0; i < p->count; i++) all &= p->at[lane][i] == p->at[lane][i / run * run] + i % run;
        if (all) return run;
    }
    return 1;
}

static void work_out(places *p, const gv_fragment *f)
{
    p->of = f;
    p->in_tile.count = f->count;
    p->in_tile.elements = (uint32_t)f->rows * f->columns;
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t i = 0; i < f->count; i++) {
            uint32_t group = lane / 4, within = f->spread * (lane % 4);
            uint32_t row = f->across ? within : group, column = f->across ? group : within;
            for (int bit = 0; bit < 4; bit++) {
                if (!(i >> bit & 1)) continue;
                row += (uint32_t)f->step[bit][0];
                column += (uint32_t)f->step[bit][1];
            }
            p->row[lane][i] = (uint8_t)row;
            p->column[lane][i] = (uint8_t)column;
            p->in_tile.at[lane][i] = (uint16_t)(row * f->columns + column);
        }
    p->in_tile.run = adjacent(&p->in_tile);
    memset(p->leading, 0, sizeof p->leading);
}

// The address of a fragment identifies it: each is a constant of the kernel's program. Two fragments with the same
// place in the table are worked out again each time.
static places *places_of(const gv_fragment *f)
{
    static places known[MOST_FRAGMENTS];
    uint32_t at = (uint32_t)((uintptr_t)f / sizeof *f) % MOST_FRAGMENTS;
    if (known[at].of != f) work_out(&known[at], f);
    return &known[at];
}

// Fragments that each thread has loaded since its last product, and products in a row that had loads of their own.
// These gain nothing by being postponed: copying their operands takes as long as the waits that are saved.
static struct {
    uint8_t loads, with_own;
} history[GV_MAX_CLUSTER * GV_MAX_THREADS];

// The common form that was postponed last: of it nothing else needs to be known for the next products, in a kernel that
// has not loaded fragments.
static const gv_product_kind *common_kind;
static gv_warp_work *common_work;
static int has_loaded;

static void note_load(void)
{
    uint32_t me = gv_thread_slot();
    if (history[me].loads < 2) history[me].loads++;
    has_loaded = 1;
    common_kind = NULL;
}

static int has_own_loads(void)
{
    uint32_t me = gv_thread_slot();
    if (!history[me].loads && !history[me].with_own) return 0;
    history[me].with_own = history[me].loads < 2 ? 0 : history[me].with_own < 2 ? history[me].with_own + 1 : 2;
    history[me].loads = 0;
    return history[me].with_own == 2;
}

// An operand of 16 bits is loaded 8 x 8 elements at a time, in any layout: each lane reads two adjacent elements of a
// row of memory. (For the other layout the hardware transposes the tile after the load.) Seen in the machine code for
// sm_90.
static void read_operand(const char *from, uint32_t leading, int by_columns, const gv_fragment *f, uintptr_t pc)
{
    uint32_t rows = by_columns ? f->columns : f->rows, columns = by_columns ? f->rows : f->columns;
    uint32_t lane = gv_lane_now(), size = gv_itemsize(f->type);
    for (uint32_t column = 0; column < columns; column += 8)
        for (uint32_t row = 0; row < rows; row += 8)
            gv_access_ahead(
                (char *)from + ((row + lane / 4) * leading + column + 2 * (lane % 4)) * size, 2 * size, 0, pc);
}

// Copies a few bytes; the compiler knows their number.
static inline void copy(void *to, const void *from, uint32_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, bytes);
    }
}

// Each lane moves the other fragments by itself: adjacent elements of a row (two sums, four bytes of an operand) with
// one access where they are adjacent in memory, else one by one. Seen in the machine code for sm_90, except for tf32.
static void touch_elements(
    char *at, const void *x, uint32_t leading, int by_columns, const gv_fragment *f, uintptr_t pc)
{
    uint32_t size = gv_itemsize(f->type), width = by_columns == f->across ? f->spread : 1, lane = gv_lane_now();
    const places *at_lanes = places_of(f);
    for (uint32_t i = 0; i < f->count; i += width) {
        uint32_t row = at_lanes->row[lane][i], column = at_lanes->column[lane][i];
        char *p = at + (by_columns ? column * leading + row : row * leading + column) * size;
        if (!x) {
            gv_access_ahead(p, width * size, 0, pc);
        } else {
            gv_access(p, width * size, GV_WRITE, pc);
            copy(p, (const char *)x + i * size, width * size);
        }
    }
}

// Returns the places of the lane's elements in memory, in bytes. Most loads of a fragment have one layout.
static const uint32_t *in_memory(places *p, uint32_t lane, uint32_t leading, int by_columns)
{
    if (p->leading[lane] == leading && p->by_columns[lane] == by_columns && leading) return p->at[lane];
    uint32_t size = gv_itemsize(p->of->type);
    p->leading[lane] = leading;
    p->by_columns[lane] = (uint8_t)by_columns;
    for (uint32_t i = 0; i < p->of->count; i++) {
        uint32_t row = p->row[lane][i], column = p->column[lane][i];
        p->at[lane][i] = (by_columns ? column * leading + row : row * leading + column) * size;
    }
    return p->at[lane];
}

void gv_wmma_load(void *x, const void *from, uint32_t leading, int by_columns, const gv_fragment *f)
{
    uint32_t size = gv_itemsize(f->type);
    if (gv_now.catch_up) gv_now.catch_up((uintptr_t)x, f->count * size);
    gv_before_new_site(GV_PC);
    if (size == 2 && !f->accumulates) read_operand(from, leading, by_columns, f, GV_PC);
    else touch_elements((char *)from, NULL, leading, by_columns, f, GV_PC);
    if (!f->accumulates) note_load();
    places *p = places_of(f);
    const uint32_t *at = in_memory(p, gv_lane_now(), leading, by_columns);
    uint32_t width = by_columns ? 1 : p->in_tile.run;
    for (uint32_t i = 0; gv_now.brings && i < f->count; i++) gv_bring((const char *)from + at[i], size);
    if (size == 2 && width == 2)
        for (uint32_t i = 0; i < f->count; i += 2) memcpy((char *)x + 2 * i, (const char *)from + at[i], 4);
    else if (size == 2)
        for (uint32_t i = 0; i < f->count; i++) memcpy((char *)x + 2 * i, (const char *)from + at[i], 2);
    else
        for (uint32_t i = 0; i < f->count; i++) copy((char *)x + i * size, (const char *)from + at[i], size);
}

void gv_wmma_store(void *to, const void *x, uint32_t leading, int by_columns, const gv_fragment *f)
{
    touch_elements(to, x, leading, by_columns, f, GV_PC);
}

typedef struct {
    void *d;
    const void *a, *b, *c;
    const gv_product_kind *kind;
} product;

// A product that is postponed, with room for its operands, the second behind the first.
enum { OPERANDS_BYTES = 64, MOST_KINDS = 1024 };
typedef struct {
    product it;
    char operands[OPERANDS_BYTES];
} kept_product;
_Static_assert(sizeof(kept_product) <= GV_POSTPONED_BYTES, "the arguments of a product");

static void multiply_common(void *const d[GV_WARP], const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], int type)
{
    gv_lane_mma lanes[GV_WARP];
    gv_lane_a of_a[GV_WARP];
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        lanes[lane].sums = (uintptr_t)d[lane];
        memcpy(&of_a[lane], a[lane], sizeof of_a[lane]);
        memcpy(lanes[lane].b, b[lane], sizeof lanes[lane].b);
    }
    for (uint32_t lane = 0; lane < GV_WARP; lane++) memmove(d[lane], c[lane], 4 * sizeof(float));
    gv_multiply_common(lanes, of_a, 1, type, 0);
}

static void multiply(void *posted[GV_WARP], uint32_t mask)
{
    static double a[LARGEST * LARGEST], b[LARGEST * LARGEST], sum[LARGEST * LARGEST];
    (void)mask;
    const gv_product_kind *kind = ((const product *)posted[0])->kind;
    const void *of_a[GV_WARP], *of_b[GV_WARP], *of_c[GV_WARP];
    void *of_d[GV_WARP];
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const product *p = posted[lane];
        of_a[lane] = p->a;
        of_b[lane] = p->b;
        of_c[lane] = p->c;
        of_d[lane] = p->d;
    }
    if (gv_is_common_mma(kind)) {
        multiply_common(of_d, of_a, of_b, of_c, kind->a->type);
        return;
    }
    const places *at_a = places_of(kind->a), *at_b = places_of(kind->b), *at_c = places_of(kind->c);
    gv_to_tile(a, &at_a->in_tile, of_a, kind->a->type);
    gv_to_tile(b, &at_b->in_tile, of_b, kind->b->type);
    gv_to_tile(sum, &at_c->in_tile, of_c, kind->c->type);
    uint32_t rows = kind->d->rows, columns = kind->d->columns, depth = kind->a->columns;
    if (kind->a->type == GV_DOUBLE) { // each product is rounded
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t k = 0; k < depth; k++)
                for (uint32_t column = 0; column < columns; column++) {
                    double x = a[row * depth + k] * b[k * columns + column];
                    sum[row * columns + column] += x;
                }
    } else {
        gv_add_products(sum, a, b, rows, columns, depth);
    }
    const gv_places *d = &places_of(kind->d)->in_tile;
    if (kind->d->type == GV_FLOAT) {
        gv_to_floats((float *const *)of_d, d, sum);
        return;
    }
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t i = 0; i < d->count; i++) put(kind->d, of_d[lane], i, sum[d->at[lane][i]]);
}

static inline __attribute__((always_inline)) void product_of(
    void *d, const void *a, const void *b, const void *c, const gv_product_kind *kind, uintptr_t pc)
{
    if (gv_lanes() != ~0u) gv_no_warp(pc);
    gv_work_together(GV_WARP);
    if (has_own_loads() || gv_now.run->at_once || c != d || kind->bytes_a + kind->bytes_b > OPERANDS_BYTES) {
        product mine = {d, a, b, c, kind};
        gv_warp_instruction(~0u, &mine, multiply, pc);
        return;
    }
    if (gv_changes((uintptr_t)a, kind->bytes_a) || gv_changes((uintptr_t)b, kind->bytes_b)) gv_catch_up();
    if (gv_is_common_mma(kind)) {
        common_kind = has_loaded ? NULL : kind;
        common_work = gv_work_of_common(kind->a->type);
        if (!gv_has_room()) gv_begin_postponing(pc);
        gv_keep_common(d, a, b, common_work, pc);
        return;
    }
    kept_product *kept = gv_postpone(multiply, d, kind->bytes_d, pc);
    kept->it.d = d;
    kept->it.c = c;
    kept->it.kind = kind;
    kept->it.a = kept->operands;
    kept->it.b = kept->operands + kind->bytes_a;
    gv_keep_operand(kept->operands, a, kind->bytes_a);
    gv_keep_operand(kept->operands + kind->bytes_a, b, kind->bytes_b);
}

static __attribute__((noinline)) void product_anew(
    void *d, const void *a, const void *b, const void *c, const gv_product_kind *kind, uintptr_t pc)
{
    product_of(d, a, b, c, kind, pc);
}

void gv_wmma_multiply(void *d, const void *a, const void *b, const void *c, const gv_product_kind *kind)
{
    if (kind == common_kind && c == d && gv_has_room() && gv_keeps_common(a, b))
        gv_keep_common(d, a, b, common_work, GV_PC);
    else product_anew(d, a, b, c, kind, GV_PC);
}

// Returns the kind of a product of these fragments. A kernel's program has few; each keeps its place.
static const gv_product_kind *kind_of(const gv_fragment *d, const gv_fragment *a, const gv_fragment *b,
    const gv_fragment *c)
{
    static gv_product_kind known[MOST_KINDS];
    static uint32_t kinds, last;
    for (uint32_t i = 0; i < kinds; i++) {
        const gv_product_kind *k = &known[(last + i) % kinds];
        if (k->d != d || k->a != a || k->b != b || k->c != c) continue;
        last = (uint32_t)(k - known);
        return k;
    }
    if (kinds == MOST_KINDS) gv_stop(GV_NO_MEMORY);
    known[kinds] = (gv_product_kind){d, a, b, c, (uint16_t)(d->count * gv_itemsize(d->type)),
        (uint16_t)(a->count * gv_itemsize(a->type)), (uint16_t)(b->count * gv_itemsize(b->type))};
    return &known[kinds++];
}

void gv_wmma_mma(void *d, const gv_fragment *fd, const void *a, const gv_fragment *fa, const void *b,
    const gv_fragment *fb, const void *c, const gv_fragment *fc)
{
    product_of(d, a, b, c, kind_of(fd, fa, fb, fc), GV_PC);
}
