// Which addresses are shared memory: the library's thread-local segment, in which all shared variables of a kernel are.
#pragma once
#include "running.h"

// The unused memory at both ends of the segment, see shared_zone.c: more than the guard of an array, see job.py.
enum { GV_ZONE_BYTES = 1 << 16 };

// Returns whether an address is there: no variable is.
int gv_in_shared_zone(uintptr_t at);

// Finds the segment of the thread that runs the kernel. For record.c.
void gv_shared_begin(void);

// The address behind which all shared memory is.
uintptr_t gv_shared_start(void);

// Ends the run unless an address is in shared memory, where alone the instruction works.
void gv_must_be_shared(const void *at, const char *instruction, uintptr_t pc);
