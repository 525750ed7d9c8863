// ldmatrix and stmatrix: a warp moves 1, 2 or 4 matrices of 8 x 8 halves between shared memory and registers. Rules:
// PTX ISA, "ldmatrix" and "stmatrix". A row of a matrix is 16 bytes. The lane that gives its address reads or writes
// it.
#include "kernel_calls/wmma.h"
#include "access.h"
#include "block_memory.h"
#include "postponed.h"
#include "shared_memory.h"
#include <string.h>

enum { ROW_BYTES = 16 };

typedef struct {
    uint32_t *r;
    char *row; // in memory, or (for a store) a copy of the new data
    uint32_t count;
    int transposed;
} matrices;

// Lane l holds two adjacent elements of row l / 4, from 2 (l % 4) on; transposed, of column l / 4.
static void copy(void *posted[GV_WARP], int to_memory)
{
    const matrices *all = posted[0];
    for (uint32_t lane = 0; !to_memory && lane < 8 * all->count; lane++)
        gv_bring(((const matrices *)posted[lane])->row, ROW_BYTES);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const matrices *mine = posted[lane];
        for (uint32_t i = 0; i < mine->count; i++)
            for (uint32_t half = 0; half < 2; half++) {
                uint32_t row = lane / 4, column = 2 * (lane % 4) + half;
                const matrices *other = posted[8 * i + (mine->transposed ? column : row)];
                char *in_register = (char *)&mine->r[i] + 2 * half;
                char *in_row = other->row + 2 * (mine->transposed ? row : column);
                memcpy(to_memory ? in_row : in_register, to_memory ? in_register : in_row, 2);
            }
    }
}

static void load(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    copy(posted, 0);
}

static void store(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    copy(posted, 1);
}

void gv_ldmatrix(uint32_t *r, const void *row, uint32_t count, int transposed)
{
    uintptr_t pc = GV_PC;
    matrices mine = {r, (char *)row, count, transposed};
    if (gv_lanes() != ~0u) gv_no_warp(pc);
    if (gv_lane_now() < 8 * count) {
        gv_must_be_shared(row, "ldmatrix", pc);
        gv_access_ahead((void *)row, ROW_BYTES, 0, pc);
    }
    gv_work_together(GV_WARP);
    if (gv_now.run->at_once) gv_warp_instruction(~0u, &mine, load, pc);
    else *(matrices *)gv_postpone(load, r, count * sizeof *r, pc) = mine;
}

void gv_stmatrix(void *row, const uint32_t *r, uint32_t count, int transposed)
{
    uintptr_t pc = GV_PC;
    gv_catch_up();
    char data[ROW_BYTES];
    matrices mine = {(uint32_t *)r, data, count, transposed};
    if (gv_lanes() != ~0u) gv_no_warp(pc);
    gv_work_together(GV_WARP);
    gv_warp_instruction(~0u, &mine, store, pc);
    if (gv_lane_now() >= 8 * count) return;
    gv_must_be_shared(row, "stmatrix", pc);
    gv_access(row, ROW_BYTES, GV_WRITE, pc);
    memcpy(row, data, ROW_BYTES);
}
