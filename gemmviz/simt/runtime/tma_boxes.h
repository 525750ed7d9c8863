// Boxes under way for the files above it; a kernel's calls are in kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Forgets the boxes of the last block, and reports those that never arrived. For scheduler.c.
void gv_boxes_reset(void);

// Lets the boxes arrive that an mbarrier waits for; those that any waits for. For mbarriers.c.
void gv_boxes_arrive(uint32_t mbarrier);
void gv_all_boxes_arrive(void);

// The running thread has left the kernel: its stores are carried out. For record.c.
void gv_boxes_left(void);

// The number of reported boxes; forgets those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_boxes_told(void);
void gv_boxes_take_back(uint64_t count);
