// Shared memory of blocks that run together. The shared arrays have one place in memory, and each piece of it holds the
// data of one block; that of the other blocks is kept elsewhere. A block's data is brought piece by piece, when its
// threads are about to use it: mostly a block uses a small part of its memory before another one runs.
#pragma once
#include "running.h"
#include <string.h>

// Allocates memory for each block of a cluster, returns 0 without memory; frees it. They set gv_now.brings.
int gv_block_memory_begin(void);
void gv_block_memory_end(void);

// Fills the shared arrays of all blocks with NaNs, so that a read of uninitialised memory shows.
void gv_block_memory_clear(void);

// Brings the running block's data in a range of addresses, any part of which may be in no shared array.
void gv_bring_memory(uintptr_t at, uint64_t bytes);

// Returns how far from a range of addresses the running block's data is, in bytes: 0 if it is there, otherwise the way
// to where it is kept. If some of it is there and some is not, all is brought.
intptr_t gv_away(uintptr_t at, uint64_t bytes);

static inline void gv_forget_brought(void) { memset(gv_now.brought, 0, sizeof gv_now.brought); }

// Whether the data is known to be there.
static inline int gv_is_brought(uintptr_t first, uint64_t bytes)
{
    return (first >= gv_now.brought[0].at && first + bytes <= gv_now.brought[0].end) ||
           (first >= gv_now.brought[1].at && first + bytes <= gv_now.brought[1].end);
}

// The same; call it before each use of memory that may be shared. The access of access.h does it.
static inline void gv_bring(const void *at, uint64_t bytes)
{
    if (gv_now.brings && !gv_is_brought((uintptr_t)at, bytes)) gv_bring_memory((uintptr_t)at, bytes);
}
