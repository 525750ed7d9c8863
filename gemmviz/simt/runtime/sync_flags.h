// Flags by which the blocks of a grid wait for each other. For tsan.c, which sees their reads and writes.
#pragma once
#include "running.h"

// Resets the flags to their values at load time: a run that ended early, or ran a part of the grid, may leave some
// flags set. With `keep` they keep their values, as in a second launch of a kernel. For record.c.
void gv_flags_begin(int keep);

// An unwatched flag is read or written. Called before the access.
void gv_flag_read(uintptr_t at, uintptr_t pc);
void gv_flag_written(uintptr_t at, uint32_t bytes, uintptr_t pc);
