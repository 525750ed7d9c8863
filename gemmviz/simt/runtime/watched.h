// The watched arrays in the form that access.c needs for every access.
#pragma once
#include "running.h"

enum { GV_VALUE_1, GV_VALUE_2, GV_VALUE_4, GV_VALUE_DOUBLE, GV_VALUE_ODD };
enum { GV_NO_SHIFT = 64 };
typedef struct {
    uintptr_t start;
    uint64_t bytes;
    uint32_t itemsize, shift; // shift: of a power of two; else GV_NO_SHIFT
    uint8_t value;            // the way to read a value
    uint8_t owned;            // several processes run blocks, and each element belongs to one: see ownership.h
} gv_watched;
extern gv_watched gv_known[GV_MAX_ARRAYS] __attribute__((visibility("hidden")));

// Removes all arrays; adds array number i of the run.
void gv_watch_none(void);
void gv_watch(uint32_t i);
