// Boxes of the copy engine that are under way: what has been read of each, and where it goes.
#pragma once
#include "kernel_calls/hopper.h"
#include "running.h"

enum { GV_LARGEST_FLIGHT = 256 << 10 /* bytes */, GV_MOST_FLIGHTS = 512 };

typedef struct {
    uint32_t rank, barrier, group, bytes, pitch, buffer;
    char *data;        // in its buffer
    gv_tensor_map map; // a copy, because the thread may have left when it is needed
    gv_box box;
} gv_flight;

extern gv_flight *gv_flights __attribute__((visibility("hidden")));
extern uint32_t gv_under_way __attribute__((visibility("hidden")));
extern uint16_t gv_flight_order[GV_MOST_FLIGHTS] __attribute__((visibility("hidden")));

// Makes room before a run, in which none is under way; returns 0 without memory.
int gv_flights_begin(void);

// The flights under way, in the order of their issue.
static inline gv_flight *gv_flight_at(uint32_t i) { return &gv_flights[gv_flight_order[i]]; }

// Returns a further flight, of which only the buffer is set: that of `same`, which has read the same data, or (NULL) a
// new one. Ends the run if too many are under way.
gv_flight *gv_new_flight(const gv_flight *same);

// The flight is under way no more: the later ones move up.
void gv_end_flight(uint32_t i);
