// Events of threads that are no accesses, in their order: mbarriers, fences, flags.
#pragma once
#include "running.h"

// Reports one event; its thread and phase are filled in. Nothing is reported while accesses are only counted.
void gv_tell_event(gv_event event);

// Reports an event of the running block without an mbarrier. `number` is the number of a signal.
void gv_tell(int kind, uint32_t number, uintptr_t pc);

// The number of reported events; removes those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_events_reported(void);
void gv_events_take_back(uint64_t count);
