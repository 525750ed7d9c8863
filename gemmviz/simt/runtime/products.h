// The products of tensor cores. Sums are made in double and rounded once: the order and the rounding of sums in the
// hardware are not documented.
#pragma once
#include "recording.h"

// Adds a b to sums. The products of operands with 24 bits or fewer are exact. Rows of the three arrays are `columns`,
// `depth` and `columns` doubles long; `rows` is a multiple of 4 and `columns` of 8.
void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth);

// The same in floats, where these are exact: all elements are whole numbers, and no sum of products can have more than
// 24 bits. Returns 0 and adds nothing if the processor has no fast way.
int gv_add_whole_products(float *sum, const float *a, const float *b, uint32_t rows, uint32_t columns, uint32_t depth);
