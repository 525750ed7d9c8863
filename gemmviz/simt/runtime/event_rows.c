// What Python needs to know of events and boxes when a run has ended: numbers in place of addresses, and the rows of
// the recording. This is done in their own memory, as they are many.
#include "events.h"
#include "rows.h"
#include <stdlib.h>
#include <string.h>

enum { STEP = 8 /* rows that are compared at once */ };

// The different values of a column, in the order of their first appearance.
typedef struct {
    uint64_t *value, count, last;
    uint32_t *slot, last_number; // slot: open-addressed: value -> number + 1
    uint64_t mask;
} different;

// The first rows of all threads.
typedef struct {
    const gv_first_row *rows;
    gv_first_row *own; // the same, or NULL if they are those of rows.c
    uint64_t count, at; // at: the one that was found last
} first_rows;

static different barriers, places;

static int begin(different *d, uint64_t most)
{
    uint64_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    *d = (different){.value = malloc(most * sizeof *d->value), .mask = slots - 1};
    d->slot = calloc(slots, sizeof *d->slot);
    return (d->value || !most) && d->slot;
}

static void end(different *d)
{
    free(d->value);
    free(d->slot);
    *d = (different){0};
}

static uint32_t number_of(different *d, uint64_t value)
{
    if (d->count && value == d->last) return d->last_number;
    uint64_t at = (value * 0x9e3779b97f4a7c15u) >> 32 & d->mask;
    while (d->slot[at] && d->value[d->slot[at] - 1] != value) at = (at + 1) & d->mask;
    if (!d->slot[at]) {
        d->value[d->count++] = value;
        d->slot[at] = (uint32_t)d->count;
    }
    d->last = value;
    return d->last_number = d->slot[at] - 1;
}

int gv_events_numbered(uint64_t count, gv_event *log, gv_event_addresses *found)
{
    int enough = begin(&barriers, count) & begin(&places, count);
    for (gv_event *e = log; enough && e < log + count; e++) {
        int of_barrier = e->kind < GV_EVENT_FENCE;
        e->barrier = of_barrier ? (int32_t)number_of(&barriers, gv_barrier_address(e->barrier)) : -1;
        e->line = (int32_t)number_of(&places, gv_line_address(e->line));
    }
    *found = (gv_event_addresses){barriers.value, places.value, barriers.count, places.count};
    return enough;
}

void gv_events_numbered_end(void)
{
    end(&barriers);
    end(&places);
}

static int find_first_rows(first_rows *f, const gv_run *r)
{
    const uint32_t *block = r->block_of;
    const uint16_t *thread = r->thread_of, *phase = r->phase_of;
    uint64_t known;
    const gv_first_row *kept = gv_first_rows(&known);
    if (kept && kept[known].row == r->count) {
        *f = (first_rows){kept, NULL, known, 0};
        return 1;
    }
    gv_first_row *rows = malloc((r->count + 2) * sizeof *rows); // the system takes a page only when it is used
    uint64_t count = 0;
    if (!rows) return 0;
    if (r->count) rows[count++] = (gv_first_row){0, gv_key_of_rows(block[0], phase[0], thread[0])};
    for (uint64_t i = 1; i < r->count;) {
        uint64_t last = i + STEP < r->count ? i + STEP : r->count;
        if (last == i + STEP) {
            uint32_t differs = 0;
            for (uint32_t n = 0; n < STEP; n++)
                differs |= (block[i + n] ^ block[i + n - 1]) | (uint32_t)(thread[i + n] ^ thread[i + n - 1]) |
                           (uint32_t)(phase[i + n] ^ phase[i + n - 1]);
            if (!differs) {
                i = last;
                continue;
            }
        }
        for (; i < last; i++) {
            rows[count] = (gv_first_row){(uint32_t)i, gv_key_of_rows(block[i], phase[i], thread[i])};
            count += block[i] != block[i - 1] || thread[i] != thread[i - 1] || phase[i] != phase[i - 1];
        }
    }
    rows[count] = (gv_first_row){(uint32_t)r->count, UINT64_MAX};
    *f = (first_rows){rows, rows, count, 0};
    return 1;
}

// Goes to the first of them whose key is not less. Mostly it is the one that was found last, or the next one.
static void go_to(first_rows *f, uint64_t key)
{
    const gv_first_row *rows = f->rows;
    if (rows[f->at].key < key && f->at < f->count) f->at++;
    if (key <= rows[f->at].key && (!f->at || rows[f->at - 1].key < key)) return;
    uint64_t from = 0, end = f->count;
    while (from < end) {
        uint64_t middle = (from + end) / 2;
        if (rows[middle].key < key) from = middle + 1;
        else end = middle;
    }
    f->at = from;
}

// The row after so many of a thread in a phase. If it has none, they are counted from the next thread's first row.
static uint32_t row_of(first_rows *f, uint64_t key, uint64_t made)
{
    go_to(f, key);
    return f->rows[f->at].row + (uint32_t)made;
}

typedef struct {
    first_rows first;
    const int64_t *barrier_of, *line_of;
} found;

static inline gv_event as_found(found *f, gv_event e)
{
    if (e.barrier >= 0) e.barrier = (int32_t)f->barrier_of[e.barrier];
    e.line = (int32_t)f->line_of[e.line];
    uint64_t key = gv_key_of_rows((uint32_t)e.block, (uint32_t)e.phase, (uint32_t)e.thread);
    e.row = (int32_t)row_of(&f->first, key, (uint32_t)e.row);
    return e;
}

// Sorts the events of each cluster by block, and keeps the order of those of a block: its blocks run in turns.
static int find_in_clusters(found *f, const gv_run *run, gv_event *events, uint64_t count)
{
    gv_event *kept = NULL;
    uint64_t room = 0;
    for (uint64_t first = 0, end; first < count; first = end) {
        int32_t block = events[first].block / (int32_t)run->cluster * (int32_t)run->cluster;
        uint64_t begin[GV_MAX_CLUSTER + 1] = {0};
        for (end = first; end < count && (uint32_t)(events[end].block - block) < run->cluster; end++)
            begin[events[end].block - block + 1]++;
        for (uint32_t rank = 0; rank < run->cluster; rank++) begin[rank + 1] += begin[rank];
        if (end - first > room) {
            free(kept);
            room = 2 * (end - first);
            if (!(kept = malloc(room * sizeof *kept))) return 0;
        }
        for (uint64_t i = first; i < end; i++) kept[begin[events[i].block - block]++] = events[i];
        for (uint64_t i = first; i < end; i++) events[i] = as_found(f, kept[i - first]);
    }
    free(kept);
    return 1;
}

int gv_rows_found(const gv_run *run, uint64_t event_count, gv_event *events, const int64_t *barrier_of,
    const int64_t *line_of, uint64_t box_count, gv_box *boxes)
{
    found f = {.barrier_of = barrier_of, .line_of = line_of};
    if (!event_count && !box_count) return 1;
    if (!find_first_rows(&f.first, run)) return 0;
    for (uint64_t i = 0; run->cluster == 1 && i < event_count; i++) events[i] = as_found(&f, events[i]);
    int done = run->cluster == 1 || find_in_clusters(&f, run, events, event_count);
    for (gv_box *b = boxes; done && b < boxes + box_count; b++) {
        uint32_t read = b->store ? b->arrived : b->issued;
        b->read_at = row_of(&f.first, gv_key_of_rows(b->block, read, b->thread), b->read_at);
        b->write_at = row_of(&f.first, gv_key_of_rows(b->to_block, b->arrived, b->thread), b->write_at);
    }
    free(f.first.own);
    return done;
}

// Whether each piece of a box is known to have its rows.
static int has_pieces(const gv_box *b)
{
    if (b->store != GV_BOX_LOAD || b->arrived == GV_NEVER || b->writes != b->rows * b->pieces) return 0;
    return !b->reads || b->reads == (b->end_row - b->first_row) * (b->end_piece - b->first_piece);
}

uint64_t gv_pieces_found(uint64_t box_count, const gv_box *boxes, int64_t *found)
{
    uint64_t count = 0;
    for (const gv_box *b = boxes; b < boxes + box_count; b++) {
        if (!has_pieces(b)) continue;
        int64_t *to = found ? found + 3 * count : NULL, read = b->read_at;
        count += b->writes;
        int whole = b->reads == b->writes;
        for (uint32_t i = 0; to && i < b->writes; i++) {
            to[3 * i] = b->write_at + (int64_t)i;
            to[3 * i + 1] = whole ? read + i : -1;
            to[3 * i + 2] = b->issued;
        }
        if (!to || whole || !b->reads) continue;
        for (uint32_t row = b->first_row; row < b->end_row; row++)
            for (uint32_t piece = b->first_piece; piece < b->end_piece; piece++)
                to[3 * (row * b->pieces + piece) + 1] = read++;
    }
    return count;
}
