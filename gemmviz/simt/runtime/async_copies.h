// cp.async for the files in later layers; the calls for kernels are in kernel_calls/async_copies.h.
#pragma once
#include "running.h"

// The number of copies that have arrived; removes those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_copies_reported(void);
void gv_copies_take_back(uint64_t count);

// Call them before the first row of blocks that run together, and when their rows have their places: see rows.h.
void gv_copies_block_begins(void);
void gv_copies_block_ended(void);

// The number of the running thread's next copy; completes the copies before a number. For mbarriers.c.
uint32_t gv_copies_end_now(void);
void gv_copies_arrive_up_to(uint32_t end);
