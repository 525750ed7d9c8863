#define _GNU_SOURCE
#include "pages.h"
#include "stop.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// A column's first bytes have small pages, as a huge one may stay empty for the most part: it takes as long as 120
// small ones. Then one takes their place; earlier where a column is expected to have so many bytes (SURE_BYTES) that
// this is worth it. sandbox/result_memory.py places columns at the beginning of a huge page.
enum { HUGE = GV_HUGE, FIRST_BYTES = 512 << 10, SURE_BYTES = 1280 << 10 };
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

char *gv_huge_memory(size_t bytes)
{
    char *room = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return NULL;
    char *at = room + -(uintptr_t)room % HUGE;
    if (at > room) munmap(room, at - room);
    munmap(at + bytes, room + HUGE - at);
    madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

static void use_huge_page(char *at)
{
    int64_t began = now_ns();
    if (!madvise(at, HUGE, MADV_HUGEPAGE)) *(volatile char *)at = 0;
    gv_now.lost_ns += now_ns() - began - SMALL_NS;
}

// Puts a huge page in the place of small ones, the first of which are in use. Without memory all stays as it is.
static void replace(char *at, size_t used)
{
    int64_t began = now_ns();
    char *made = gv_huge_memory(HUGE);
    if (!made) return;
    memcpy(made, at, used);
    mremap(made, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    gv_now.lost_ns += now_ns() - began - SMALL_NS;
}

// `placed`: whether the first bytes have a huge page.
static uint64_t next_pages(char *begin, uint32_t bytes, uint64_t first, uint64_t end, uint64_t capacity, int placed)
{
    if (gv_now.lost_ns > MOST_LOST_NS) return capacity;
    uintptr_t column = (uintptr_t)begin, from = column + first * bytes, to = column + end * bytes;
    uintptr_t small_end = column + FIRST_BYTES, huge = column;
    if (column % HUGE || from > small_end || placed) {
        huge = from > small_end ? from : small_end;
        huge = (huge + HUGE - 1) / HUGE * HUGE;
        small_end = huge;
    }
    if (huge + HUGE > column + capacity * bytes) return capacity;
    if (to <= small_end) return (small_end - column) / bytes;
    if (huge == column) replace(begin, from - column);
    else use_huge_page((char *)huge);
    return gv_now.lost_ns > MOST_LOST_NS ? capacity : (huge + HUGE - column) / bytes;
}

uint64_t gv_prepare_pages(char *begin, uint32_t bytes, uint64_t first, uint64_t end, uint64_t capacity)
{
    return next_pages(begin, bytes, first, end, capacity, 0);
}

// Whether a column is expected to have so many bytes that its first ones have a huge page.
static int is_sure(uint32_t column)
{
    uint64_t expected = column == MORE ? gv_now.more_expected : gv_now.rows_expected;
    return expected * columns[column].bytes >= SURE_BYTES;
}

void gv_expect_rows(uint64_t rows, uint64_t more)
{
    gv_run *r = gv_now.run;
    if (!r->huge_pages || r->count_only) return;
    gv_now.rows_expected = rows;
    gv_now.more_expected = more;
    gv_now.rows_room = gv_now.more_room = 0;
    for (uint32_t i = 0; i < COLUMNS && gv_now.lost_ns <= MOST_LOST_NS; i++) {
        char *begin = *(char **)((char *)r + columns[i].place);
        size_t used = (i == MORE ? r->more_count : r->count) * columns[i].bytes;
        size_t all = (i == MORE ? r->more_capacity : r->capacity) * columns[i].bytes;
        if (is_sure(i) && used <= FIRST_BYTES && all >= HUGE && !((uintptr_t)begin % HUGE)) replace(begin, used);
    }
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
        uint64_t next = next_pages(begin, columns[i].bytes, first, end, capacity, is_sure(i));
        if (next < *room) *room = next;
    }
    gv_now.rows_room = rows;
    gv_now.more_room = words;
}
