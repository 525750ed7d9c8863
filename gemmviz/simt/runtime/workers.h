// Blocks shared between processes. For record.c.
#pragma once
#include "running.h"

// Runs blocks from `first` on in several processes if it is faster and safe; returns the first block that was not run.
uint32_t gv_share_blocks(uint32_t first);

// Frees the memory of gv_share_blocks, and ends its remaining processes.
void gv_workers_end(void);
