// cp.async for the files above it; a kernel's calls are in kernel_calls/async_copies.h.
#pragma once
#include "running.h"

// How many copies have arrived; forgets those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_copies_told(void);
void gv_copies_take_back(uint64_t count);

// The number of the running thread's next copy; lets those before such a number arrive. For mbarriers.c.
uint32_t gv_copies_end_now(void);
void gv_copies_arrive_up_to(uint32_t end);
