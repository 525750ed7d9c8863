// ldmatrix and stmatrix: a warp moves 1, 2 or 4 matrices of 8 x 8 halves between shared memory and registers. Rules:
// PTX ISA, "ldmatrix" and "stmatrix". A row of a matrix is 16 bytes. The lane that gives its address reads or writes
// it.
#include "kernel_calls/wmma.h"
#include "access.h"
#include "block_memory.h"
#include "postponed.h"
#include "shared_memory.h"
#include <string.h>

enum { ROW_BYTES = 16, SIDE = 8, MOST = 4 /* matrices */ };

typedef struct {
    uint32_t *r;
    char *row; // in memory, or (for a store) a copy of the new data
    uint32_t count;
    int transposed;
} matrices;

// Lane l holds two adjacent elements of row l / 4, from 2 (l % 4) on: side by side, the registers of the lanes are the
// rows. Transposed, it holds those of column l / 4.
static inline void transpose(uint32_t *words)
{
    uint16_t element[SIDE][SIDE];
    memcpy(element, words, sizeof element);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        uint32_t row = 2 * (lane % 4), column = lane / 4;
        words[lane] = element[row][column] | (uint32_t)element[row + 1][column] << 16;
    }
}

static inline __attribute__((always_inline)) void load_all(void *posted[GV_WARP], uint32_t count)
{
    const matrices *all = posted[0];
    uint32_t words[MOST][GV_WARP];
    for (uint32_t lane = 0; lane < SIDE * count; lane++) {
        const matrices *its = posted[lane];
        gv_bring(its->row, ROW_BYTES);
        memcpy((char *)words + lane * ROW_BYTES, its->row, ROW_BYTES);
    }
    for (uint32_t i = 0; i < count && all->transposed; i++) transpose(words[i]);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const matrices *its = posted[lane];
        for (uint32_t i = 0; i < count; i++) // no call of memcpy
            if (i < its->count) its->r[i] = words[i][lane];
    }
}

static void load(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    switch (((const matrices *)posted[0])->count) { // the compiler knows each number
    case 1: load_all(posted, 1); break;
    case 2: load_all(posted, 2); break;
    default: load_all(posted, MOST);
    }
}

// Each row is a copy of the new data.
static void store(void *posted[GV_WARP], uint32_t mask)
{
    const matrices *all = posted[0];
    (void)mask;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t words[GV_WARP];
        for (uint32_t lane = 0; lane < GV_WARP; lane++) words[lane] = ((const matrices *)posted[lane])->r[i];
        if (all->transposed) transpose(words);
        for (uint32_t row = 0; row < SIDE; row++)
            memcpy(((const matrices *)posted[SIDE * i + row])->row, words + row * 4, ROW_BYTES);
    }
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
