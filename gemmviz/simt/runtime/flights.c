#define _GNU_SOURCE
#include "flights.h"
#include "stop.h"
#include <string.h>
#include <sys/mman.h>

// From one buffer to the next one: not a power of two, as all would use the same part of a cache.
enum { BUFFER_BYTES = GV_LARGEST_FLIGHT + 37 * 64 };

gv_flight *gv_flights;
uint32_t gv_under_way;
// The places in gv_flights: first those of the flights under way, not a ring, because they end in any order; then the
// free ones.
uint16_t gv_flight_order[GV_MOST_FLIGHTS];
static char *memory;
static uint16_t users[GV_MOST_FLIGHTS]; // of each buffer: flights to several blocks have one together
static uint16_t unused[GV_MOST_FLIGHTS], unused_count;

static void *pages(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int gv_flights_begin(void)
{
    if (!memory) memory = pages((size_t)GV_MOST_FLIGHTS * BUFFER_BYTES);
    if (!gv_flights) gv_flights = pages(GV_MOST_FLIGHTS * sizeof *gv_flights);
    gv_under_way = 0;
    for (uint32_t i = 0; i < GV_MOST_FLIGHTS; i++) {
        gv_flight_order[i] = (uint16_t)i;
        unused[i] = (uint16_t)(GV_MOST_FLIGHTS - 1 - i);
    }
    unused_count = GV_MOST_FLIGHTS;
    return memory != MAP_FAILED && gv_flights != MAP_FAILED;
}

gv_flight *gv_new_flight(const gv_flight *same)
{
    if (gv_under_way == GV_MOST_FLIGHTS) gv_stop(GV_TOO_MANY_COPIES);
    gv_flight *f = gv_flight_at(gv_under_way++);
    f->buffer = same ? same->buffer : unused[--unused_count];
    f->data = memory + (size_t)f->buffer * BUFFER_BYTES;
    users[f->buffer] = same ? users[f->buffer] + 1 : 1;
    return f;
}

void gv_end_flight(uint32_t i)
{
    uint16_t place = gv_flight_order[i], *from = &gv_flight_order[i];
    uint32_t buffer = gv_flights[place].buffer;
    if (!--users[buffer]) unused[unused_count++] = (uint16_t)buffer;
    gv_under_way--;
    memmove(from, from + 1, (gv_under_way - i) * sizeof *from);
    gv_flight_order[gv_under_way] = place;
}
