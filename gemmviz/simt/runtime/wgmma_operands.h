// The operands of wgmma, in shared memory and in registers.
#pragma once
#include "kernel_calls/hopper.h"
#include "kernel_calls/wmma.h"
#include "running.h"

enum { GV_WGMMA_ROWS = 64, GV_WGMMA_DEPTH_BYTES = 32 };

// The bytes of an element.
static inline uint32_t gv_operand_itemsize(int type)
{
    return type == GV_HALF || type == GV_BFLOAT16 ? 2 : type == GV_TF32 ? 4 : 1;
}

// The byte of element r of M (or N) and element k of K. The elements of its 16 bytes are adjacent along K, or (across)
// along M (N).
static inline uintptr_t gv_operand_place(gv_operand o, int across, uint32_t size, uint32_t r, uint32_t k)
{
    // row_bytes and size are powers of two, and a division by a variable is slow.
    uint32_t byte = k * size, in_row;
    int shift = __builtin_ctz(o.row_bytes) - __builtin_ctz(size);
    in_row = (1u << shift) - 1;
    if (o.row_bytes == 16 && across)
        return o.at + (r >> shift) * (uintptr_t)o.group_bytes + (r & in_row) * size + k / 8 * (uintptr_t)o.next_bytes +
               k % 8 * 16;
    if (o.row_bytes == 16)
        return o.at + r / 8 * (uintptr_t)o.group_bytes + r % 8 * 16 + byte / 16 * (uintptr_t)o.next_bytes + byte % 16;
    if (!across) return gv_swizzled(o.at + r / 8 * (uintptr_t)o.group_bytes + r % 8 * o.row_bytes + byte, o.row_bytes);
    return gv_swizzled(o.at + (r >> shift) * (uintptr_t)o.next_bytes + k / 8 * (uintptr_t)o.group_bytes +
                           k % 8 * o.row_bytes + (r & in_row) * size,
        o.row_bytes);
}


// Reads A of all threads (row by row), and B (by rows of N elements), as doubles.
void gv_read_operands(double *a, double *b, const gv_wgmma_product *const of[GV_WARPGROUP]);

// The same as floats. Returns what each sum of products along K is at most, without its sign, if all elements are whole
// numbers of less than 2^23; otherwise, or on a processor without AVX2, -1.
double gv_read_whole_operands(float *a, float *b, const gv_wgmma_product *const of[GV_WARPGROUP]);
