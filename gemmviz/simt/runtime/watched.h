// The watched arrays in the form that access.c needs for every access.
#pragma once
#include "running.h"

enum { GV_NO_SHIFT = 64 };
typedef struct {
    uintptr_t start;
    uint64_t bytes;
    uint32_t itemsize, shift; // shift: of a power of two; else GV_NO_SHIFT
    uint8_t number;           // gv_number_kind
    uint8_t owned;            // several processes run blocks, and each element belongs to one: see ownership.h
    uint8_t has_parts;        // an earlier array is inside of it: an access belongs to the first that contains it
    const uint32_t *floats;   // GV_NUMBER_SMALL
} gv_watched;
extern gv_watched gv_known[GV_MAX_ARRAYS] __attribute__((visibility("hidden")));

// Removes all arrays; adds array number i of the run, or removes it if it is used as a flag.
void gv_watch_none(void);
void gv_watch(uint32_t i);
