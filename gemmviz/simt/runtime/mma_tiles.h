// The most common mma: 16 x 8 sums in floats, of 16 halves or bfloat16 along K.
#pragma once
#include "elements.h"

// The operands of a lane in a product, and its sums, to which it is added.
typedef struct {
    uint32_t a[4], b[2];
    float *sums;
} gv_lane_mma;

// Whether a product has this form, and the processor AVX-512.
int gv_is_common_mma(const gv_product_kind *kind);

// Multiplies; `type` is that of the operands. What each lane has is this number of elements behind the lane before.
void gv_multiply_common(const gv_lane_mma *lanes, uint32_t apart, int type);
