// The elements of tensor cores' operands and sums as doubles: in memory, and in the registers of a warp.
#pragma once
#include "kernel_calls/wmma.h"
#include "recording.h"

enum { GV_MOST_ELEMENTS = 16 /* of a fragment, in one lane */, GV_MOST_IN_TILE = 32 * 32 };

// The places of a fragment's elements: element i of a lane is at[lane][i] of a tile with this number of `elements`.
// A lane has `count` elements, and each `run` of them are adjacent in the tile.
typedef struct {
    uint32_t count, elements, run;
    uint16_t at[GV_WARP][GV_MOST_ELEMENTS];
} gv_places;

// The bytes of an element of a type (kernel_calls/wmma.h).
static inline uint32_t gv_itemsize(int type)
{
    switch (type) {
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

// Converts `count` adjacent elements of a type, each `step` doubles after the one before.
void gv_to_doubles(double *to, uint32_t step, const void *from, uint32_t count, int type);

// The same as floats, for types that have at most 24 bits; only on a processor with AVX2.
void gv_as_floats(float *to, uint32_t step, const void *from, uint32_t count, int type);

// The same for 4, 8 or 16 elements of each of eight columns: element i of column c becomes to[i * step + c].
enum { GV_COLUMNS = 8 };
void gv_as_columns(float *to, uint32_t step, const void *const from[GV_COLUMNS], uint32_t count, int type);

// Converts a fragment, which each lane has at its address, to a tile; rounds a tile to the floats of a fragment.
void gv_to_tile(double *tile, const gv_places *p, const void *const from[GV_WARP], int type);
void gv_to_floats(float *const to[GV_WARP], const gv_places *p, const double *tile);
