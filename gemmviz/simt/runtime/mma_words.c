// mma of numbers that are narrower than a byte, and with a sparse A. Which lane holds which element follows the rule
// of kernel_calls/mma.h: PTX ISA, "Matrix Fragments for mma.m16n8k256", "... for sparse mma.m16n8k32" and similar ones.
#include "kernel_calls/wmma.h"
#include "elements.h"
#include "fibres.h"
#include <math.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 256, QUAD = 4, GROUPS = 8 /* of four lanes */ };

typedef struct {
    void *d;
    const uint32_t *a, *b;
    const void *c;
    const gv_words_form *form;
} product;

static uint32_t bits_of(int type)
{
    return type == GV_BIT ? 1 : type == GV_S4 || type == GV_U4 ? 4 : 8 * gv_itemsize(type);
}

static double element(uint32_t word, uint32_t i, int type)
{
    double value;
    switch (type) {
    case GV_BIT: return word >> i & 1;
    case GV_U4: return word >> (4 * i) & 15;
    case GV_S4: return (double)((int32_t)(word << (28 - 4 * i)) >> 28);
    default: gv_to_doubles(&value, 1, (const char *)&word + i * gv_itemsize(type), 1, type); return value;
    }
}

// The element of a row of A for the i-th one that is stored: two of four, for TF32 one of two. Each chosen lane has 16
// bits for row g in its lower half, and 16 bits for row g + 8 in its upper half. -1: no element is meant.
static int32_t column_of(void *const posted[GV_WARP], uint32_t row, uint32_t i)
{
    const gv_words_form *form = ((const product *)posted[0])->form;
    uint32_t each = form->type_a == GV_TF32 ? 4 : 2, in_lane = 16 / each, lanes = (uint32_t)form->depth / 2 / in_lane;
    uint32_t lane = QUAD * (row % GROUPS) + form->selector * lanes + i / in_lane;
    uint32_t where = ((const product *)posted[lane % GV_WARP])->form->where >> (row < GROUPS ? 0 : 16) & 0xffff;
    uint32_t code = where >> (i % in_lane * each) & ((1u << each) - 1);
    if (each == 4) return code == 4 ? (int32_t)(2 * i) : code == 14 ? (int32_t)(2 * i + 1) : -1;
    uint32_t other = where >> ((i ^ 1) % in_lane * each) & 3;
    return code == other ? -1 : (int32_t)(i / 2 * 4 + code);
}

static void read_a(double a[ROWS][DEPTH], void *const posted[GV_WARP])
{
    const gv_words_form *form = ((const product *)posted[0])->form;
    uint32_t each = 32 / bits_of(form->type_a), tall = form->rows == ROWS;
    int sparse = form->how == GV_WORDS_SPARSE;
    uint32_t stored = (uint32_t)form->depth / (sparse ? 2 : 1), registers = stored / each / QUAD << tall;
    if (sparse) memset(a, 0, sizeof(double[ROWS][DEPTH]));
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t r = 0; r < registers; r++)
            for (uint32_t i = 0; i < each; i++) {
                uint32_t row = lane / QUAD + (tall ? r % 2 * GROUPS : 0);
                uint32_t k = each * (lane % QUAD) + QUAD * each * (r >> tall) + i;
                double value = element(((const product *)posted[lane])->a[r], i, form->type_a);
                int32_t column = sparse ? column_of(posted, row, k) : (int32_t)k;
                if (column < 0) a[row][0] = NAN; // the result is undefined
                else a[row][column] = value;
            }
}

static void read_b(double b[DEPTH][COLUMNS], void *const posted[GV_WARP])
{
    const gv_words_form *form = ((const product *)posted[0])->form;
    uint32_t each = 32 / bits_of(form->type_b), registers = (uint32_t)form->depth / each / QUAD;
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t r = 0; r < registers; r++)
            for (uint32_t i = 0; i < each; i++)
                b[each * (lane % QUAD) + QUAD * each * r + i][lane / QUAD] =
                    element(((const product *)posted[lane])->b[r], i, form->type_b);
}

static double sum_before(const void *c, uint32_t i, int type)
{
    return type == GV_HALF ? (double)((const _Float16 *)c)[i]
           : type == GV_S32 ? (double)((const int32_t *)c)[i]
                            : (double)((const float *)c)[i];
}

static void put(void *d, uint32_t i, int type, double sum)
{
    if (type == GV_HALF) ((_Float16 *)d)[i] = (_Float16)(float)sum;
    else if (type == GV_FLOAT) ((float *)d)[i] = (float)sum;
    else if (type == GV_S32_CLAMPED && (sum > INT32_MAX || sum < INT32_MIN))
        ((int32_t *)d)[i] = sum > 0 ? INT32_MAX : INT32_MIN;
    else ((int32_t *)d)[i] = (int32_t)(uint32_t)(int64_t)sum;
}

static void multiply(void *posted[GV_WARP], uint32_t mask)
{
    static double a[ROWS][DEPTH], b[DEPTH][COLUMNS];
    const gv_words_form *form = ((const product *)posted[0])->form;
    (void)mask;
    read_a(a, posted);
    read_b(b, posted);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const product *p = posted[lane];
        for (uint32_t i = 0; i < (uint32_t)form->rows / QUAD; i++) {
            uint32_t row = lane / QUAD + i / 2 * GROUPS, column = 2 * (lane % QUAD) + i % 2;
            double sum = sum_before(p->c, i, form->type_c);
            for (int k = 0; k < form->depth; k++) {
                double x = a[row][k], y = b[k][column];
                sum += form->how == GV_WORDS_XOR ? x + y - 2 * x * y : x * y;
            }
            put(p->d, i, form->type_d, sum);
        }
    }
}

void gv_mma_words(void *d, const uint32_t *a, const uint32_t *b, const void *c, const gv_words_form *form)
{
    gv_catch_up();
    product mine = {d, a, b, c, form};
    if (gv_lanes() != ~0u) gv_no_warp(GV_PC);
    gv_work_together(GV_WARP);
    gv_warp_instruction(~0u, &mine, multiply, GV_PC);
}
