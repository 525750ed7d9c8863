// Flags by which the blocks of a grid wait for each other. For tsan.c, which sees their reads and writes.
#pragma once
#include "running.h"

// Every run begins with the flags as they were loaded: one that ended early, or ran a part of the grid, may leave some
// set. For record.c.
void gv_flags_begin(void);

// A flag that is not watched is read, or written: before its value is there.
void gv_flag_read(uintptr_t at, uintptr_t pc);
void gv_flag_written(uintptr_t at, uint32_t bytes, uintptr_t pc);
