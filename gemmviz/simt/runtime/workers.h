// Blocks shared between processes. For record.c.
#pragma once
#include "running.h"

// Runs blocks from `first` on in several processes, where that pays and changes nothing; returns the first not run.
uint32_t gv_share_blocks(uint32_t first);

// Frees the memory of gv_share_blocks, and ends processes that it has left.
void gv_workers_end(void);
