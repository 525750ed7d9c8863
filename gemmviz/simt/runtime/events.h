// What is told of threads beside their accesses, in the order in which it happens: mbarriers, fences, flags.
#pragma once
#include "running.h"

// Tells of one event; who makes it happen and when is filled in. Nothing is told while accesses are only counted.
void gv_tell_event(gv_event event);

// Tells of something of the running block that concerns no mbarrier. `number` is a signal's.
void gv_tell(int kind, uint32_t number, uintptr_t pc);

// How many were told; forgets those from `count` on, as their blocks will run again. For workers.c.
uint64_t gv_events_told(void);
void gv_events_take_back(uint64_t count);
