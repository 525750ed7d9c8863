// The order in which threads run. For workers.c and record.c.
#pragma once
#include "running.h"

// Runs one block, or those of one cluster, to the end.
void gv_run_block(uint32_t block);
