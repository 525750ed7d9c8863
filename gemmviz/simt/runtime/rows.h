// The block, thread, phase and turn of each row. A thread runs for a while, so they are kept once per such span of
// rows; when a block (or the cluster) has ended, its rows are sorted by block, phase and thread, and get their columns.
// Lanes of a warp that wait for each other, and the blocks of a cluster, run in turns: only then are rows sorted.
#pragma once
#include "running.h"

// Call it before the first row of a block, and after its last one.
void gv_rows_begin(void);
void gv_rows_end(void);

// The first row of each thread in each phase of a block, with its key; behind them the number of all rows.
typedef struct {
    uint32_t row;
    uint64_t key;
} gv_first_row;
static inline uint64_t gv_key_of_rows(uint64_t block, uint64_t phase, uint64_t thread)
{
    return block << 32 | phase << 16 | thread;
}

// Returns these of the last run, and their number; NULL if they were not kept: only a run that tells of events in its
// first block keeps them, and only those of blocks that this process runs.
const gv_first_row *gv_first_rows(uint64_t *count);

// Call it before a run.
void gv_rows_forget(void);

// Frees the memory for sorting.
void gv_rows_close(void);

// The rows since the last call belong to the running thread. Call it before block, thread, phase or turn changes.
void gv_mark(void);

// The place of the running thread's next row in its block: the number of its span, and of the row in this span. When
// the block has ended, and until the next one begins, gv_row_in_block returns the number of the row, counted from the
// first row of the block of this rank.
typedef struct {
    uint32_t span, row;
} gv_row_place;
gv_row_place gv_next_row(void);
uint32_t gv_row_in_block(gv_row_place place, uint32_t rank);
