// Tensor-core fragments: the elements of a tile in each lane, the accesses that load and store them, the product.
#include "wmma.h"
#include "access.h"
#include "fibres.h"
#include <math.h>
#include <string.h>

enum { LARGEST = 32 };

static uint32_t itemsize(const gv_fragment *f)
{
    switch (f->type) {
    case GV_HALF:
    case GV_BFLOAT16: return 2;
    case GV_S8:
    case GV_U8:
    case GV_E4M3:
    case GV_E5M2: return 1;
    case GV_DOUBLE: return 8;
    default: return 4;
    }
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// An 8-bit float with 4 bits for the exponent and 3 after the point; it has no infinity, and one NaN of each sign.
// (PTX ISA, "Alternate Floating-Point Data Formats".)
static float from_e4m3(uint8_t bits)
{
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    if (exponent == 15 && fraction == 7) return from_bits(0x7fffffff);
    float size = exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return bits >> 7 ? -size : size;
}

// An 8-bit float that is the upper byte of a half.
static float from_e5m2(uint8_t bits)
{
    uint16_t high = (uint16_t)(bits << 8);
    _Float16 half;
    memcpy(&half, &high, sizeof half);
    return (float)half;
}

static double other_value(const gv_fragment *f, const void *p, uint32_t i)
{
    switch (f->type) {
    case GV_S8: return ((const int8_t *)p)[i];
    case GV_U8: return ((const uint8_t *)p)[i];
    case GV_E4M3: return from_e4m3(((const uint8_t *)p)[i]);
    case GV_E5M2: return from_e5m2(((const uint8_t *)p)[i]);
    case GV_DOUBLE: return ((const double *)p)[i];
    default: return ((const int32_t *)p)[i];
    }
}

// A tf32 operand that was not rounded loses the bits after its tenth: the hardware ignores them.
static inline float get(const gv_fragment *f, const void *p, uint32_t i)
{
    switch (f->type) {
    case GV_HALF: return (float)((const _Float16 *)p)[i];
    case GV_FLOAT: return ((const float *)p)[i];
    case GV_BFLOAT16: return from_bits((uint32_t)((const uint16_t *)p)[i] << 16);
    case GV_TF32: return from_bits(((const uint32_t *)p)[i] & 0xffffe000);
    default: return (float)other_value(f, p, i);
    }
}

// Whole numbers may have more digits than a float.
static inline double get_sum(const gv_fragment *f, const void *p, uint32_t i)
{
    return f->type < GV_DOUBLE ? get(f, p, i) : other_value(f, p, i);
}

float gv_fragment_value(const gv_fragment *f, const void *registers, uint32_t i) { return get(f, registers, i); }

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
enum { MOST_ELEMENTS = 16, MOST_FRAGMENTS = 32 };
typedef struct {
    const gv_fragment *of;
    uint8_t row[GV_WARP][MOST_ELEMENTS], column[GV_WARP][MOST_ELEMENTS];
} places;

static void work_out(places *p, const gv_fragment *f)
{
    p->of = f;
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
        }
}

// The address of a fragment identifies it: each is a constant of the kernel's program. If there are too many of them,
// the last entry is computed again each time.
static const places *places_of(const gv_fragment *f)
{
    static places known[MOST_FRAGMENTS];
    uint32_t at = 0;
    while (at < MOST_FRAGMENTS - 1 && known[at].of && known[at].of != f) at++;
    if (known[at].of != f) work_out(&known[at], f);
    return &known[at];
}

// An operand of 16 bits is loaded 8 x 8 elements at a time, in any layout: each lane reads two adjacent elements of a
// row of memory. (For the other layout the hardware transposes the tile after the load.) Seen in the machine code for
// sm_90.
static void read_operand(const char *from, uint32_t leading, int by_columns, const gv_fragment *f, uintptr_t pc)
{
    uint32_t rows = by_columns ? f->columns : f->rows, columns = by_columns ? f->rows : f->columns;
    uint32_t lane = gv_lane(), size = itemsize(f);
    for (uint32_t column = 0; column < columns; column += 8)
        for (uint32_t row = 0; row < rows; row += 8)
            gv_access((char *)from + ((row + lane / 4) * leading + column + 2 * (lane % 4)) * size, 2 * size, 0, pc);
}

// Each lane moves the other fragments by itself: adjacent elements of a row (two sums, four bytes of an operand) with
// one access where they are adjacent in memory, else one by one. Seen in the machine code for sm_90, except for tf32.
static void touch_elements(
    char *at, const void *x, uint32_t leading, int by_columns, const gv_fragment *f, uintptr_t pc)
{
    uint32_t size = itemsize(f), width = by_columns == f->across ? f->spread : 1, lane = gv_lane();
    const places *at_lanes = places_of(f);
    for (uint32_t i = 0; i < f->count; i += width) {
        uint32_t row = at_lanes->row[lane][i], column = at_lanes->column[lane][i];
        char *p = at + (by_columns ? column * leading + row : row * leading + column) * size;
        gv_access(p, width * size, x != NULL, pc);
        if (x) memcpy(p, (const char *)x + i * size, width * size);
    }
}

void gv_wmma_load(void *x, const void *from, uint32_t leading, int by_columns, const gv_fragment *f)
{
    uint32_t size = itemsize(f);
    if (size == 2 && !f->accumulates) read_operand(from, leading, by_columns, f, GV_PC);
    else touch_elements((char *)from, NULL, leading, by_columns, f, GV_PC);
    const places *at = places_of(f);
    uint32_t lane = gv_lane();
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t row = at->row[lane][i], column = at->column[lane][i];
        memcpy((char *)x + i * size,
            (const char *)from + (by_columns ? column * leading + row : row * leading + column) * size, size);
    }
}

void gv_wmma_store(void *to, const void *x, uint32_t leading, int by_columns, const gv_fragment *f)
{
    touch_elements(to, x, leading, by_columns, f, GV_PC);
}

typedef struct {
    void *d;
    const void *a, *b, *c;
    const gv_fragment *fd, *fa, *fb, *fc;
} product;

#define GATHER(name, number, value) \
    static void name( \
        number tile[LARGEST][LARGEST], const gv_fragment *f, const places *at, uint32_t lane, const void *x) \
    { \
        for (uint32_t i = 0; i < f->count; i++) tile[at->row[lane][i]][at->column[lane][i]] = value(f, x, i); \
    }
GATHER(gather, float, get)
GATHER(gather_sums, double, get_sum)
GATHER(gather_doubles, double, other_value)
#undef GATHER

// Sums in double and rounds once: the order and the rounding of sums in the hardware are not documented.
#define MULTIPLY(name, number, gather_operand) \
    static void name(void *posted[GV_WARP], uint32_t mask) \
    { \
        number a[LARGEST][LARGEST], b[LARGEST][LARGEST]; \
        double sum[LARGEST][LARGEST]; \
        (void)mask; \
        const product *first = posted[0]; \
        const places *at_a = places_of(first->fa), *at_b = places_of(first->fb), *at_c = places_of(first->fc); \
        for (uint32_t lane = 0; lane < GV_WARP; lane++) { \
            const product *p = posted[lane]; \
            gather_operand(a, p->fa, at_a, lane, p->a); \
            gather_operand(b, p->fb, at_b, lane, p->b); \
            gather_sums(sum, p->fc, at_c, lane, p->c); \
        } \
        uint32_t rows = first->fd->rows, columns = first->fd->columns, depth = first->fa->columns; \
        for (uint32_t row = 0; row < rows; row++) \
            for (uint32_t k = 0; k < depth; k++) \
                for (uint32_t column = 0; column < columns; column++) \
                    sum[row][column] += (double)a[row][k] * b[k][column]; \
        const places *at_d = places_of(first->fd); \
        for (uint32_t lane = 0; lane < GV_WARP; lane++) { \
            const product *p = posted[lane]; \
            for (uint32_t i = 0; i < p->fd->count; i++) \
                put(p->fd, p->d, i, sum[at_d->row[lane][i]][at_d->column[lane][i]]); \
        } \
    }
MULTIPLY(multiply, float, gather)
MULTIPLY(multiply_doubles, double, gather_doubles)
#undef MULTIPLY

void gv_wmma_mma(void *d, const gv_fragment *fd, const void *a, const gv_fragment *fa, const void *b,
    const gv_fragment *fb, const void *c, const gv_fragment *fc)
{
    product mine = {d, a, b, c, fd, fa, fb, fc};
    if (gv_lanes() != ~0u) gv_no_warp(GV_PC);
    gv_work_together(GV_WARP);
    gv_warp_instruction(~0u, &mine, fa->type == GV_DOUBLE ? multiply_doubles : multiply, GV_PC);
}
