// The most common mma: 16 x 8 sums in floats, of 16 halves or bfloat16 along K.
#pragma once
#include "elements.h"

// The operands of a product, by lane, and its sums, to which it is added.
typedef struct {
    float *sums[GV_WARP];
    uint32_t a[GV_WARP][4], b[8][8]; // b: its register r of lane l is b[4 r + l % 4][l / 4]
} __attribute__((aligned(64))) gv_common_mma;

// Whether a product has this form, and the processor AVX-512.
int gv_is_common_mma(const gv_product_kind *kind);

static inline void gv_put_b(gv_common_mma *p, uint32_t lane, const uint32_t registers[2])
{
    p->b[lane % 4][lane / 4] = registers[0];
    p->b[lane % 4 + 4][lane / 4] = registers[1];
}

// Multiplies; `type` is that of the operands.
void gv_multiply_common(const gv_common_mma *p, int type);
