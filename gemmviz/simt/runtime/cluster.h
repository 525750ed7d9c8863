// The blocks of a cluster run one after another, and each has its own shared arrays. For scheduler.c, and for copies
// that arrive after the thread that issued them has stopped running.
#pragma once
#include "running.h"

// Allocates memory for the shared arrays of each block of a cluster; returns 0 without memory. For record.c.
int gv_cluster_begin(void);
void gv_cluster_end(void);

// Fills all shared arrays with NaNs, so that a read of uninitialised memory shows.
void gv_cluster_clear(void);

// Makes a block of the cluster the running one.
void gv_switch_block(uint32_t rank);

// Calls a function on behalf of another thread in the cluster of the running block.
void gv_in_name_of(uint32_t rank, uint32_t thread, void (*what)(void *), void *with);
