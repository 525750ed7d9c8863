// The blocks of a cluster run in turn, and each has its own shared arrays. For scheduler.c, and for copies that arrive
// later than the thread runs that asked for it.
#pragma once
#include "running.h"

// Makes room for the shared arrays of each block of a cluster; returns 0 when there is no memory. For record.c.
int gv_cluster_begin(void);
void gv_cluster_end(void);

// Fills all shared arrays with NaNs, so that a read of uninitialised memory shows.
void gv_cluster_clear(void);

// Lets a block of the cluster be the running one.
void gv_switch_block(uint32_t rank);

// Does something in the name of another thread, of the running block's cluster.
void gv_in_name_of(uint32_t rank, uint32_t thread, void (*what)(void *), void *with);
