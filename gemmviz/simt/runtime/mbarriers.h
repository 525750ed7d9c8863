// Copies that mbarriers wait for, by cp.async and by the copy engine, for scheduler.c; a kernel's calls are in
// kernel_calls/hopper.h.
#pragma once
#include "running.h"

// Forgets the arrivals of the last block that wait for their thread's cp.async.
void gv_late_arrivals_reset(void);

// Lets the copies arrive that this barrier waits for; all copies that any barrier counts.
void gv_mbarrier_copies_arrive(uint32_t b);
void gv_mbarriers_all_copies_arrive(void);
