// Boxes in flight, for the files in later layers; the calls for kernels are in kernel_calls/hopper.h.
#pragma once
#include "kernel_calls/hopper.h"
#include "running.h"

// Requests a box for the blocks of a mask, or the store of one (`how`: gv_box_kind); pc: the instruction. For
// bulk_copies.c.
void gv_ask_to_load(
    void *shared, const gv_tensor_map *map, int32_t column, int32_t row, void *barrier, uint32_t blocks, uintptr_t pc);
void gv_ask_to_store(
    const gv_tensor_map *map, int32_t column, int32_t row, const void *shared, int how, uintptr_t pc);

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
