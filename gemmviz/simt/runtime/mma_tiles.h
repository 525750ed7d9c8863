// The most common mma: 16 x 8 sums in floats, of 16 halves or bfloat16 along K.
#pragma once
#include "elements.h"

// What a lane has in a product: its registers of B, and the place of its sums, to which the product is added. Those of
// A are elsewhere, as several products in a row have the same: their number is in the upper bits of the place.
typedef struct {
    uint32_t b[2];
    uint64_t sums;
} gv_lane_mma;
typedef struct {
    uint32_t a[4];
} gv_lane_a;
enum { GV_NUMBER_SHIFT = 48 /* an address has no bits from here on */ };

// Whether a product has this form, and the processor AVX2.
int gv_is_common_mma(const gv_product_kind *kind);

// Multiplies; `type` is that of the operands. What each lane has is this number of elements behind the lane before,
// also in `a`. `round`: while it is the same, and not 0, so are the registers of A with the same number.
void gv_multiply_common(const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round);

// The same on a processor without AVX-512.
void gv_multiply_by_avx2(const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round);
