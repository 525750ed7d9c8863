// wgmma for the files in later layers; the calls for kernels are in kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Removes the products of the last block. For scheduler.c.
void gv_wgmma_reset(void);

// Reports a write to shared memory of a block of the cluster that a product in flight still reads. For tma_boxes.c.
void gv_wgmma_check_write(uintptr_t at, uint64_t bytes, uint32_t rank, uintptr_t pc);
