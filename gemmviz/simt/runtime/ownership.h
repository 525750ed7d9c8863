// Which block touches which element, while several processes run blocks. Blocks only meet in global memory, and there
// they seldom do; where they do, the blocks have to run one after another. workers.c switches this on; each access to
// memory is looked up.
#pragma once
#include "running.h"

// Makes room for the owners of C's elements; returns 0 when there is no memory. Frees it.
int gv_ownership_begin(void);
void gv_ownership_end(void);

// Keeps the blocks that touch elements of arrays in global memory; or does not.
void gv_watch_ownership(int on);

// Says that the running block touches these elements of an array in global memory.
void gv_own_elements(uint32_t array, uint64_t first, uint64_t last, int write);

// To be called before anything that only comes out right when all blocks run in this process, one after another:
// always; where an address is in no shared array; of a write to memory that is not watched.
void gv_needs_one_process(void);
void gv_global_needs_one_process(uintptr_t at);
void gv_unwatched_write(uintptr_t at);
