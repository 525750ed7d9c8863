#define _GNU_SOURCE
#include "pages.h"
#include "stop.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// The columns' first bytes, up to FIRST_IN_ALL together, have small pages, as a huge one takes as long as 120 of them
// and may stay empty for the most part. Then the columns share huge pages, whose parts are moved to their ends: for as
// many rows as one page has room for, and after the first block for as many as are expected, up to MOST_SHARED pages.
// A column that is expected to fill a huge page at a multiple of HUGE has one of its own.
// sandbox/result_memory.py places columns at the beginning of a huge page.
// Any other array has small pages up to FIRST_BYTES; then a huge one takes their place.
enum { HUGE = GV_HUGE, SMALL = 4096, FIRST_BYTES = 512 << 10, FIRST_IN_ALL = 256 << 10 };
enum { UNIT = SMALL /* rows: a column of one byte has a page for them */, MOST_SHARED = 4 };
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
enum { COLUMNS = sizeof columns / sizeof *columns, MORE = COLUMNS - 1, TURNS = MORE - 1 };

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

// Moves pages to another place, whose own ones are lost. Linux may refuse it (vm.max_map_count) when it has removed
// those already: then there are new small ones.
static int moved(char *from, size_t bytes, char *to)
{
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) return 1;
    mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    gv_now.lost_ns = INT64_MAX;
    return 0;
}

// Puts a huge page in the place of small ones, the first of which are in use. Without memory all stays as it is.
static void replace(char *at, size_t used)
{
    int64_t began = now_ns();
    char *made = gv_huge_memory(HUGE);
    if (!made) return;
    memcpy(made, at, used);
    if (moved(made, HUGE, at)) {
        gv_now.lost_ns += now_ns() - began - SMALL_NS;
        return;
    }
    memcpy(at, made, used);
    munmap(made, HUGE);
}

uint64_t gv_prepare_pages(char *begin, uint32_t bytes, uint64_t first, uint64_t end, uint64_t capacity)
{
    if (gv_now.lost_ns > MOST_LOST_NS) return capacity;
    uintptr_t column = (uintptr_t)begin, from = column + first * bytes, to = column + end * bytes;
    uintptr_t small_end = column + FIRST_BYTES, huge = column;
    if (column % HUGE || from > small_end) {
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

static uint64_t prepared[COLUMNS]; // bytes of each column that have pages, or will have small ones
static struct {
    uint64_t rows, words, blocks; // before the running block
} before;

void gv_pages_begin(void)
{
    memset(prepared, 0, sizeof prepared);
    memset(&before, 0, sizeof before);
}

void gv_pages_block_begins(void)
{
    before.rows = gv_now.run->count;
    before.words = gv_now.run->more_count;
    before.blocks = gv_now.block - gv_now.run->first_block;
}

static char *begin_of(uint32_t column) { return *(char **)((char *)gv_now.run + columns[column].place); }

static uint64_t used(uint32_t column)
{
    return (column == MORE ? gv_now.run->more_count : gv_now.run->count) * columns[column].bytes;
}

static uint64_t bytes_of(uint32_t column)
{
    return (column == MORE ? gv_now.run->more_capacity : gv_now.run->capacity) * columns[column].bytes;
}

static int is_unused(uint32_t column) { return column == TURNS && gv_now.run->no_turns; }

void gv_pages_of_turns(void)
{
    gv_run *r = gv_now.run;
    r->no_turns = 0;
    prepared[TURNS] = (used(TURNS) + SMALL - 1) / SMALL * SMALL; // up to here it has zeros, and gets small pages
    gv_now.rows_room = 0; // the pages behind are prepared before the next row
}

// All bytes of a column, if each block makes as many rows as the blocks before; 0 in the first block.
static uint64_t expected(uint32_t column)
{
    uint64_t made = (column == MORE ? before.words : before.rows) * columns[column].bytes;
    return before.blocks ? made * (gv_now.run->end_block - gv_now.run->first_block) / before.blocks : 0;
}

// The bytes that one row takes in a column, on average.
static uint32_t weight(uint32_t column)
{
    uint64_t rows = gv_now.run->count + 1;
    return column == MORE ? (uint32_t)((used(MORE) + rows - 1) / rows) + 1 : columns[column].bytes;
}

// Whether a column should have a huge page of its own at its byte `at`.
static int fills_page(uint32_t column, uint64_t at)
{
    return at && at % HUGE == 0 && at + HUGE <= bytes_of(column) &&
           (!before.blocks || expected(column) >= at + HUGE - GV_MUCH);
}

// The rows for which the columns should have pages now, of this number of bytes each.
static uint64_t rows_ahead(uint64_t row_bytes)
{
    uint64_t rows = gv_now.run->count, all = expected(0) / columns[0].bytes, one = (HUGE - COLUMNS * SMALL) / row_bytes;
    uint64_t ahead = all > rows ? (all - rows) + (all - rows) / 64 : 0, most = MOST_SHARED * one;
    return ahead > most ? most : before.blocks && ahead ? ahead : one;
}

// Moves parts of new huge pages to the ends of the columns. What has no part will have small pages.
static void share_huge_pages(void)
{
    int64_t began = now_ns();
    uint64_t row_bytes = 0, parts[COLUMNS] = {0}, sum = 0;
    for (uint32_t i = 0; i < COLUMNS; i++) row_bytes += is_unused(i) || fills_page(i, prepared[i]) ? 0 : weight(i);
    for (uint64_t i = 0, rows = rows_ahead(row_bytes); i < COLUMNS; i++) {
        uint64_t at = prepared[i], end = used(i) + rows * weight(i), page = (at / HUGE + 1) * HUGE;
        if (is_unused(i) || fills_page(i, at)) continue;
        if (end > page && fills_page(i, page)) end = page;
        end = end < bytes_of(i) ? (end + SMALL - 1) / SMALL * SMALL : bytes_of(i);
        parts[i] = end > at ? end - at : 0;
        sum += parts[i] / SMALL * SMALL; // the last page of a column is a small one
    }
    uint64_t pages = sum / HUGE + (sum % HUGE >= GV_MUCH);
    char *at = pages ? gv_huge_memory(pages * HUGE) : NULL, *end = at + pages * HUGE;
    if (pages && !at) {
        gv_now.lost_ns = INT64_MAX;
        return;
    }
    for (uint64_t i = 0; i < pages; i++) *(volatile char *)(at + i * HUGE) = 0;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        uint64_t bytes = parts[i] / SMALL * SMALL, left = (uint64_t)(end - at);
        if (bytes > left) bytes = left;
        if (bytes && !moved(at, bytes, begin_of(i) + prepared[i])) munmap(at, bytes);
        prepared[i] += parts[i];
        at += bytes;
    }
    if (at < end) munmap(at, end - at);
    if (gv_now.lost_ns < INT64_MAX) gv_now.lost_ns += now_ns() - began - (int64_t)pages * SMALL_NS;
}

// Gives a column its next bytes.
static void prepare(uint32_t column)
{
    uint64_t in_all = 0, all = bytes_of(column), *mine = &prepared[column];
    char *end = begin_of(column) + *mine;
    for (uint32_t i = 0; i < COLUMNS; i++) in_all += prepared[i];
    if (gv_now.lost_ns > MOST_LOST_NS || (uintptr_t)end % SMALL) {
        *mine = all;
    } else if (in_all < FIRST_IN_ALL) {
        *mine += (uint64_t)UNIT * columns[column].bytes;
    } else if (fills_page(column, *mine)) {
        use_huge_page(end);
        *mine += HUGE;
    } else {
        share_huge_pages();
    }
    if (*mine > all) *mine = all;
}

void gv_next_pages(uint32_t more)
{
    gv_run *r = gv_now.run;
    if (r->count == r->capacity || r->more_count + more > r->more_capacity) gv_stop(GV_FULL);
    uint64_t rows = r->capacity, words = r->more_capacity;
    int huge = r->huge_pages && !r->count_only;
    for (uint32_t i = 0; i < COLUMNS && huge; i++) {
        if (is_unused(i)) continue;
        uint32_t bytes = columns[i].bytes;
        uint64_t *room = i == MORE ? &words : &rows;
        while (prepared[i] < used(i) + (i == MORE ? more : 1) * bytes) prepare(i);
        if (prepared[i] / bytes < *room) *room = prepared[i] / bytes;
    }
    gv_now.rows_room = rows;
    gv_now.more_room = words;
}
