// The cluster barriers that order accesses to the shared memory of other blocks. For scheduler.c.
#pragma once
#include "running.h"

void gv_remote_reset(void);

// All threads of the cluster have met in this phase.
void gv_cluster_met(int relaxed);

// Reports the meetings of the blocks that have ended, if one of them accessed another one's shared memory.
void gv_remote_report(void);
