// Boxes in flight, for the files in later layers; the calls for kernels are in kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Removes the boxes of the last block, and reports those that never arrived. For scheduler.c.
void gv_boxes_reset(void);

// Completes the boxes that an mbarrier waits for; completes the boxes that any mbarrier waits for. For mbarriers.c.
void gv_boxes_arrive(uint32_t mbarrier);
void gv_all_boxes_arrive(void);

// The running thread has left the kernel: executes its stores. For record.c.
void gv_boxes_left(void);

// The number of reported boxes; removes those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_boxes_reported(void);
void gv_boxes_take_back(uint64_t count);
