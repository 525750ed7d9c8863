// The products of tensor cores: elements as doubles, and sums of products. Sums are made in double and rounded once:
// the order and the rounding of sums in the hardware are not documented.
#pragma once
#include "recording.h"

enum { GV_MOST_ELEMENTS = 16 }; // of a fragment, in one lane

// Converts `count` adjacent elements of a type (kernel_calls/wmma.h), each `step` doubles after the one before.
void gv_to_doubles(double *to, uint32_t step, const void *from, uint32_t count, int type);

// Converts the elements of a fragment, `count` in each lane: element i of a lane becomes tile[at[lane][i]].
void gv_to_tile(double *tile, const uint16_t at[GV_WARP][GV_MOST_ELEMENTS], const void *const from[GV_WARP],
    uint32_t count, int type);

// Adds a b to sums. The products of operands with 24 bits or fewer are exact. Rows of the three arrays are `columns`,
// `depth` and `columns` doubles long; `rows` is a multiple of 4 and `columns` of 8.
void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth);
