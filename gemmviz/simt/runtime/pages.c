#define _GNU_SOURCE
#include "pages.h"
#include "stop.h"
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

// A column's first bytes have small pages: a huge one may stay empty for the most part. It takes as long as 80 small
// ones. sandbox/result_memory.py places columns so that a huge page begins behind these bytes.
enum { HUGE = 2 << 20, FIRST_BYTES = 512 << 10 };
// The small pages in place of a huge one take about SMALL_NS. A huge page may take longer once in a while; no more are
// asked for when they have taken this much longer in all: then Linux has to move other pages to make one.
enum { SMALL_NS = 1000 * 1000, MOST_LOST_NS = 10 * 1000 * 1000 };

static const struct {
    size_t place;
    uint32_t bytes;
} columns[] = {{offsetof(gv_run, site), 2}, {offsetof(gv_run, which), 1}, {offsetof(gv_run, write), 1},
    {offsetof(gv_run, bytes), 1}, {offsetof(gv_run, element), 4}, {offsetof(gv_run, value), 4},
    {offsetof(gv_run, block_of), 4}, {offsetof(gv_run, thread_of), 2}, {offsetof(gv_run, phase_of), 2},
    {offsetof(gv_run, turn_of), 2}, {offsetof(gv_run, more), 4}};
enum { COLUMNS = sizeof columns / sizeof *columns, MORE = COLUMNS - 1 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

uint64_t gv_prepare_pages(char *begin, uint32_t bytes, uint64_t first, uint64_t end, uint64_t capacity)
{
    if (gv_now.lost_ns > MOST_LOST_NS) return capacity;
    uintptr_t column = (uintptr_t)begin, from = column + first * bytes, to = column + end * bytes;
    uintptr_t huge = (column + FIRST_BYTES + HUGE - 1) / HUGE * HUGE;
    if (huge < from) huge = (from + HUGE - 1) / HUGE * HUGE;
    if (huge + HUGE > column + capacity * bytes) return capacity;
    if (huge < to) {
        int64_t began = now_ns();
        if (!madvise((void *)huge, HUGE, MADV_HUGEPAGE)) *(volatile char *)huge = 0;
        gv_now.lost_ns += now_ns() - began - SMALL_NS;
        if (gv_now.lost_ns > MOST_LOST_NS) return capacity;
        huge += HUGE;
    }
    return (huge - column) / bytes;
}

void gv_next_pages(uint32_t more)
{
    gv_run *r = gv_now.run;
    if (r->count == r->capacity || r->more_count + more > r->more_capacity) gv_stop(GV_FULL);
    uint64_t rows = r->capacity, words = r->more_capacity;
    int huge = r->huge_pages && !r->count_only;
    for (uint32_t i = 0; i < COLUMNS && huge; i++) {
        char *begin = *(char **)((char *)r + columns[i].place);
        uint64_t first = i == MORE ? r->more_count : r->count, *room = i == MORE ? &words : &rows;
        uint64_t end = first + (i == MORE ? more : 1), capacity = i == MORE ? r->more_capacity : r->capacity;
        uint64_t next = gv_prepare_pages(begin, columns[i].bytes, first, end, capacity);
        if (next < *room) *room = next;
    }
    gv_now.rows_room = rows;
    gv_now.more_room = words;
}
