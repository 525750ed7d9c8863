// Shared memory that a kernel declares as bytes is watched as the tiles of its boxes. These are known when the first
// block (or cluster) has ended: then its rows become rows of the tiles.
#pragma once
#include "running.h"

// The first block or cluster has ended: calls Python, which finds the tiles and calls gv_tiles_found.
void gv_first_ended(void);
