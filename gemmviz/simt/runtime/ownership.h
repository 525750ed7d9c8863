// The block that accesses each element, while several processes run blocks. Blocks share only global memory, and they
// seldom access the same element there. If they do, the blocks must run one after another. workers.c switches this on;
// then each access to memory is checked.
#pragma once
#include "running.h"

// Allocates memory for the owners of C's elements, returns 0 without memory; frees it.
int gv_ownership_begin(void);
void gv_ownership_end(void);

// Switches on, or off, that owners of elements in global memory are kept.
void gv_watch_ownership(int on);

// The running block accesses these elements of an array in global memory.
void gv_own_elements(uint32_t array, uint64_t first, uint64_t last, int write);

// Called before an operation that is right only if all blocks run in this process, one after another: in any case; if
// the address is in no shared array; for a write to memory that is not watched.
void gv_needs_one_process(void);
void gv_global_needs_one_process(uintptr_t at);
void gv_unwatched_write(uintptr_t at);
