// wgmma for the files above it; a kernel's calls are in kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Forgets the products of the last block. For scheduler.c.
void gv_wgmma_reset(void);

// Notices a write to shared memory of a block of the cluster where a product under way still reads. For tma_boxes.c.
void gv_wgmma_check_write(uintptr_t at, uint64_t bytes, uint32_t rank, uintptr_t pc);
