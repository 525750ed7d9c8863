// Events of threads that are no accesses, in their order: mbarriers, fences, flags.
#pragma once
#include "shared_memory.h"
#include <stdint.h>

// The place of an instruction in the kernel's library (0: none), that of an mbarrier in shared memory, and their
// addresses.
static inline int32_t gv_event_line(uintptr_t pc) { return pc ? (int32_t)(pc - (uintptr_t)gv_events_begin) : 0; }
static inline uintptr_t gv_line_address(int32_t line)
{
    return line ? (uintptr_t)gv_events_begin + (uintptr_t)(intptr_t)line : 0;
}
static inline int32_t gv_event_barrier(uintptr_t at) { return (int32_t)(at - gv_shared_start()); }
static inline uintptr_t gv_barrier_address(int32_t place) { return gv_shared_start() + (uintptr_t)(intptr_t)place; }

// Reports one event; its thread and phase are filled in. Nothing is reported while accesses are only counted.
void gv_tell_event(gv_event event);

// Reports an event of the running block without an mbarrier. `number` is the number of a signal.
void gv_tell(int kind, uint32_t number, uintptr_t pc);

// The number of reported events; removes those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_events_reported(void);
void gv_events_take_back(uint64_t count);
