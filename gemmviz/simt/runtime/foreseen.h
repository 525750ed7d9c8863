// Rows of matrices that a warp loads, foreseen from the lane that arrives first: at the same instruction with the same
// row of this lane, the other lanes had these rows before. So the first lane reads for all, and no lane waits for the
// others, which mostly ask for the same places again and again: shared memory has a tile, and then the next one.
//
// Each lane compares its row with the foreseen one when it arrives. A run with another row, or with a write while some
// lanes are ahead of others (gv_wait_for_value), ends with GV_AGAIN: see postponed.h.
#pragma once
#include "fibres.h"

typedef struct {
    uintptr_t pc;
    uint32_t count, row[GV_WARP]; // of so many lanes; the lower half of each address
} gv_known_rows;

// Returns the rows of `count` lanes at an instruction where the running lane has this row; NULL if they are not known.
const gv_known_rows *gv_find_rows(const char *row, uint32_t count, uintptr_t pc);
// Remembers the rows of the first `count` lanes.
void gv_learn_rows(char *const rows[GV_WARP], uint32_t count, uintptr_t pc);
void gv_foreseen_begin(void);
// Ends the run.
void gv_not_foreseen(void) __attribute__((noreturn));

static inline void gv_rows_from(char *rows[GV_WARP], const gv_known_rows *known, char *mine)
{
    uint32_t its = known->row[gv_lane_now()];
    for (uint32_t lane = 0; lane < known->count; lane++) rows[lane] = mine + (int32_t)(known->row[lane] - its);
}

static inline void gv_must_be_foreseen(const gv_known_rows *known, const char *row, uint32_t count, uintptr_t pc)
{
    uint32_t lane = gv_lane_now();
    int other_row = lane < count && known->row[lane] != (uint32_t)(uintptr_t)row;
    if (known->pc != pc || known->count != count || other_row) gv_not_foreseen();
}
