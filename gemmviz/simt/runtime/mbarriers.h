// Copies that mbarriers wait for, by cp.async and by the copy engine, for scheduler.c; the calls for kernels are in
// kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Removes the arrivals of the last block that wait for the cp.async of their thread.
void gv_late_arrivals_reset(void);

// Completes the copies that this barrier waits for; completes all copies that any barrier counts.
void gv_mbarrier_copies_arrive(uint32_t b);
void gv_mbarriers_all_copies_arrive(void);
