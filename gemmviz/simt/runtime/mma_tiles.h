// The most common mma: 16 x 8 sums in floats, of 16 halves or bfloat16 along K.
#pragma once
#include "elements.h"

// Multiplies with the fragments of all lanes, if the product has this form and the processor AVX-512; otherwise does
// nothing and returns 0.
int gv_multiply_mma(const gv_product_kind *kind, const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], void *const d[GV_WARP]);
