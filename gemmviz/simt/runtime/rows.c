#define _GNU_SOURCE
#include "rows.h"
#include "pages.h"
#include "stop.h"
#include <string.h>
#include <sys/mman.h>

enum { STEP = 8 /* rows, or words, that are moved at once: most spans are short */, MANY = 128 };

// Successive rows of one thread.
typedef struct {
    uint32_t rows, more;
    uint16_t rank, thread, phase, turn;
} span;

// The span, and where its rows and further elements begin, from the first ones of the block.
typedef struct {
    uint32_t span, row, more;
} place;

// Adjacent rows, or further elements, from `at` on.
typedef struct {
    uint32_t at, number;
} part;

// Memory that is kept from block to block: the system needs longer to give new pages than the rows to move.
static struct {
    char *at;
    size_t bytes;
} room_to_sort;

static struct {
    span *spans;
    uint32_t used;
    uint64_t room;
    uint64_t first_row, first_more, marked_more, last_order;
    int unordered, asked, turned; // asked: for the place of a row; turned: a turn is not 0
    uint32_t *begin;      // where the rows of each span begin, when the block has ended
    uint32_t begin_room, first_of[GV_MAX_CLUSTER]; // first_of: where those of each block begin
} of;

// Reserves memory. The system takes a page only when it is used.
static void *pages(uint64_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) gv_stop(GV_NO_MEMORY);
    return p;
}

// Gives twice as much room for elements of `each` bytes.
static void *with_more_room(void *at, uint64_t *room, size_t each)
{
    uint64_t more = *room ? 2 * *room : 1 << 16;
    at = *room ? mremap(at, *room * each, more * each, MREMAP_MAYMOVE) : pages(more * each);
    if (at == MAP_FAILED) gv_stop(GV_NO_MEMORY);
    *room = more;
    return at;
}

static struct {
    gv_first_row *rows;
    uint64_t count, room, end; // end: the rows that are known
} firsts;

const gv_first_row *gv_first_rows(uint64_t *count)
{
    *count = firsts.count;
    if (firsts.count) firsts.rows[firsts.count] = (gv_first_row){(uint32_t)firsts.end, UINT64_MAX};
    return firsts.count ? firsts.rows : NULL;
}

// The memory is kept for the next run, but not much.
void gv_rows_forget(void)
{
    enum { MOST_KEPT = 1 << 16 };
    if (firsts.room > MOST_KEPT) {
        munmap(firsts.rows, firsts.room * sizeof *firsts.rows);
        firsts.room = 0;
    }
    firsts.count = firsts.end = 0;
}

// Keeps the first of the rows up to `end` of a thread. There is always room for one more, behind the last.
static inline void keep_first(uint64_t row, uint64_t end, uint64_t key)
{
    firsts.end = end;
    if (firsts.count && firsts.rows[firsts.count - 1].key == key) return;
    if (firsts.count + 1 >= firsts.room) firsts.rows = with_more_room(firsts.rows, &firsts.room, sizeof *firsts.rows);
    firsts.rows[firsts.count++] = (gv_first_row){(uint32_t)row, key};
}

void gv_rows_begin(void)
{
    const gv_run *r = gv_now.run;
    if (r->count_only) return;
    gv_pages_block_begins();
    of.used = 0;
    of.first_row = r->count;
    of.first_more = of.marked_more = r->more_count;
    of.last_order = 0;
    of.unordered = of.asked = of.turned = 0;
}

void gv_mark(void)
{
    const gv_run *r = gv_now.run;
    uint64_t from = gv_now.marked, end = r->count;
    gv_now.marked = end;
    if (from >= end || r->count_only) return;
    uint64_t order = (uint64_t)gv_now.rank << 32 | (uint64_t)gv_now.phase << 16 | gv_now.thread;
    of.unordered |= order < of.last_order;
    of.last_order = order;
    of.turned |= gv_now.turn != 0;
    if (of.used == of.room) of.spans = with_more_room(of.spans, &of.room, sizeof *of.spans);
    of.spans[of.used++] = (span){(uint32_t)(end - from), (uint32_t)(r->more_count - of.marked_more),
        (uint16_t)gv_now.rank, (uint16_t)gv_now.thread, (uint16_t)gv_now.phase, (uint16_t)gv_now.turn};
    of.marked_more = r->more_count;
}

gv_row_place gv_next_row(void)
{
    of.asked = 1;
    return (gv_row_place){of.used, (uint32_t)(gv_now.run->count - gv_now.marked)};
}

uint32_t gv_row_in_block(gv_row_place place, uint32_t rank)
{
    return of.begin[place.span] + place.row - of.first_of[rank];
}

// Keeps where the rows of each span, and of each block, begin.
static void keep_begins(const place *order)
{
    if (of.begin_room < of.used) {
        if (of.begin_room) munmap(of.begin, of.begin_room * sizeof *of.begin);
        of.begin_room = of.room;
        of.begin = pages(of.room * sizeof *of.begin);
    }
    memset(of.first_of, 0xff, sizeof of.first_of);
    for (uint32_t i = 0, row = 0; i < of.used; i++) {
        uint32_t span = order ? order[i].span : i, rank = of.spans[span].rank;
        of.begin[span] = row;
        if (row < of.first_of[rank]) of.first_of[rank] = row;
        row += of.spans[span].rows;
    }
}

static void *sorting_room(size_t bytes)
{
    if (room_to_sort.bytes < bytes) {
        gv_rows_close();
        if (bytes >= GV_MUCH) bytes = (bytes + GV_HUGE - 1) / GV_HUGE * GV_HUGE;
        room_to_sort.at = bytes < GV_MUCH ? pages(bytes) : gv_huge_memory(bytes);
        if (!room_to_sort.at) gv_stop(GV_NO_MEMORY);
        room_to_sort.bytes = bytes;
    }
    return room_to_sort.at;
}

void gv_rows_close(void)
{
    if (room_to_sort.bytes) munmap(room_to_sort.at, room_to_sort.bytes);
    room_to_sort.bytes = 0;
}

// Puts the spans of each phase in the order of their threads, and keeps that of a thread. Phases are in order.
static void order_threads(place *to, uint32_t *begin)
{
    for (uint32_t first = 0, end, row = 0, further = 0; first < of.used; first = end) {
        const span *spans = of.spans;
        uint32_t threads = 0, sum = first;
        for (end = first; end < of.used && spans[end].phase == spans[first].phase; end++)
            if (spans[end].thread >= threads) threads = spans[end].thread + 1u;
        memset(begin, 0, threads * sizeof *begin);
        for (uint32_t i = first; i < end; i++) begin[spans[i].thread]++;
        for (uint32_t t = 0; t < threads; t++) {
            uint32_t its = begin[t];
            begin[t] = sum;
            sum += its;
        }
        for (uint32_t i = first; i < end; i++) {
            to[begin[spans[i].thread]++] = (place){i, row, further};
            row += spans[i].rows;
            further += spans[i].more;
        }
    }
}

// Puts the spans of each block together, and keeps their order.
static void order_blocks(place *to, const place *from)
{
    uint32_t begin[GV_MAX_CLUSTER + 1] = {0};
    for (uint32_t i = 0; i < of.used; i++) begin[of.spans[i].rank + 1]++;
    for (uint32_t rank = 0; rank < GV_MAX_CLUSTER; rank++) begin[rank + 1] += begin[rank];
    for (uint32_t i = 0; i < of.used; i++) to[begin[of.spans[from[i].span].rank]++] = from[i];
}

// Moves the rows (or further elements) of one column to their new order, in steps: the next span overwrites what is
// moved behind the end of one. Nothing behind the last row is read.
#define MOVE(column, type, first, parts, end_of_parts, count) \
    { \
        type *old = (column) + (first), *new = kept, *last = old + (count) - STEP; \
        for (const part *p = parts; p < end_of_parts; p++) { \
            const type *its = old + p->at, *end = its + p->number; \
            type *next = new; \
            __builtin_prefetch(old + p[8].at); \
            if (p->number >= MANY) { \
                memcpy(next, its, p->number * sizeof(type)); \
                its = end; \
            } \
            for (; its < end && its <= last; its += STEP, next += STEP) memcpy(next, its, STEP * sizeof(type)); \
            for (; its < end; its++) *next++ = *its; \
            new += p->number; \
        } \
        memcpy(old, kept, (count) * sizeof(type)); \
    }

// Adds adjacent rows, or further elements, to some parts: those behind the last ones become one part with them.
static inline part *with_part(const part *parts, part *end, uint32_t at, uint32_t number)
{
    if (!number) return end;
    if (end > parts && end[-1].at + end[-1].number == at) {
        end[-1].number += number;
        return end;
    }
    *end = (part){at, number};
    return end + 1;
}

// Sorts the rows from `row` on, and the further elements from `further` on, which are those of the spans from `from`
// up to `to` in their new order. `parts` has room for two parts of each of these spans, `kept` for the largest column.
static void sort_spans(const place *from, const place *to, uint64_t row, uint64_t further, part *parts, void *kept)
{
    gv_run *r = gv_now.run;
    uint64_t rows = 0, more = 0;
    part *of_rows = parts, *of_more = parts + (to - from), *end_of_rows = of_rows, *end_of_more = of_more;
    for (const place *p = from; p < to; p++) {
        const span *s = &of.spans[p->span];
        end_of_rows = with_part(of_rows, end_of_rows, (uint32_t)(p->row - row), s->rows);
        end_of_more = with_part(of_more, end_of_more, (uint32_t)(p->more - further), s->more);
        rows += s->rows;
        more += s->more;
    }
    if (end_of_rows <= of_rows + 1) return; // they are in order
    row += of.first_row;
    further += of.first_more;
    MOVE(r->site, uint16_t, row, of_rows, end_of_rows, rows)
    MOVE(r->which, uint8_t, row, of_rows, end_of_rows, rows)
    MOVE(r->write, uint8_t, row, of_rows, end_of_rows, rows)
    MOVE(r->bytes, uint8_t, row, of_rows, end_of_rows, rows)
    MOVE(r->element, uint32_t, row, of_rows, end_of_rows, rows)
    MOVE(r->value, uint32_t, row, of_rows, end_of_rows, rows)
    MOVE(r->more, uint32_t, further, of_more, end_of_more, more)
}

// Sorts the rows of the block; returns the spans in their new order. Those of a block that runs alone are sorted a few
// phases at a time, as phases are in order: then what is kept stays in a cache.
static const place *sort(void)
{
    enum { MOST = UINT16_MAX + 1, FEW = 8192 /* rows */ };
    const gv_run *r = gv_now.run;
    int alone = r->cluster == 1;
    uint64_t rows = r->count - of.first_row, more = r->more_count - of.first_more, most = rows > more ? rows : more;
    size_t each = 2 * sizeof(place) + 2 * sizeof(part);
    size_t first_bytes = of.used * each + MOST * sizeof(uint32_t);
    place *from = sorting_room(first_bytes + (most + 2 * STEP) * sizeof(uint32_t)), *to = from + of.used;
    part *parts = (part *)(to + of.used);
    uint32_t *begin = (uint32_t *)(parts + 2 * of.used);
    void *kept = begin + MOST;
    order_threads(from, begin);
    if (!alone) {
        order_blocks(to, from);
        sort_spans(to, to + of.used, 0, 0, parts, kept);
        return to;
    }
    const place *last = from + of.used;
    uint64_t row = 0, further = 0;
    for (const place *p = from, *end; p < last; p = end) {
        uint64_t next_row = row, next_further = further;
        for (end = p; end < last; end++) {
            const span *s = &of.spans[end->span];
            if (next_row - row >= FEW && s->phase != of.spans[end[-1].span].phase) break;
            next_row += s->rows;
            next_further += s->more;
        }
        sort_spans(p, end, row, further, parts, kept);
        row = next_row;
        further = next_further;
    }
    return from;
}

void gv_rows_end(void)
{
    gv_run *r = gv_now.run;
    if (r->count_only || !of.used) return;
    const place *order = of.unordered ? sort() : NULL;
    if (of.asked) keep_begins(order);
    uint32_t first_block = gv_now.block - gv_now.rank;
    uint64_t row = of.first_row;
    int keeps_first = gv_now.tells && gv_now.sharing != GV_IN_WORKER && firsts.end == row;
    if (of.turned && r->no_turns) gv_pages_of_turns();
    for (uint32_t i = 0, next; i < of.used; i = next) {
        const span s = of.spans[order ? order[i].span : i];
        uint64_t end = row + s.rows, at = row;
        for (next = i + 1; next < of.used; next++) {
            const span *t = &of.spans[order ? order[next].span : next];
            if (t->thread != s.thread || t->phase != s.phase || t->turn != s.turn || t->rank != s.rank) break;
            end += t->rows;
        }
        uint32_t block = first_block + s.rank;
        if (keeps_first) keep_first(row, end, gv_key_of_rows(block, s.phase, s.thread));
        for (; at < end && at + STEP <= r->count; at += STEP) { // the next span overwrites what is behind its end
            for (int n = 0; n < STEP; n++) r->block_of[at + n] = block;
            for (int n = 0; n < STEP; n++) r->thread_of[at + n] = s.thread;
            for (int n = 0; n < STEP; n++) r->phase_of[at + n] = s.phase;
        }
        for (; at < end; at++) {
            r->block_of[at] = block;
            r->thread_of[at] = s.thread;
            r->phase_of[at] = s.phase;
        }
        for (at = r->no_turns ? end : row; at < end; at++) r->turn_of[at] = s.turn;
        row = end;
    }
    of.used = 0;
}
