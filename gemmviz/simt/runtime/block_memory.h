// Shared memory of blocks that run together. The shared arrays have one place in memory, and each piece of it holds the
// data of one block; that of the other blocks is kept elsewhere. A block's data is brought piece by piece, when its
// threads are about to use it: mostly a block uses a small part of its memory before another one runs.
#pragma once
#include "running.h"

// Allocates memory for each block of a cluster, returns 0 without memory; frees it. They set gv_now.brings.
int gv_block_memory_begin(void);
void gv_block_memory_end(void);

// Fills the shared arrays of all blocks with NaNs, so that a read of uninitialised memory shows.
void gv_block_memory_clear(void);

// Brings the running block's data in a range of addresses, any part of which may be in no shared array.
void gv_bring_memory(uintptr_t at, uint64_t bytes);

// The same; call it before each use of memory that may be shared. The access of access.h does it.
static inline void gv_bring(const void *at, uint64_t bytes)
{
    uintptr_t first = (uintptr_t)at;
    if (gv_now.brings && (first < gv_now.brought || first + bytes > gv_now.brought_end)) gv_bring_memory(first, bytes);
}
