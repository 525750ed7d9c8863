// The blocks of a cluster run one after another. For scheduler.c, and for copies
// that arrive after the thread that issued them has stopped running.
#pragma once
#include "running.h"

// Makes a block of the cluster the running one.
void gv_switch_block(uint32_t rank);

// Calls a function on behalf of another thread in the cluster of the running block.
void gv_in_name_of(uint32_t rank, uint32_t thread, void (*what)(void *), void *with);
