// Asynchronous copies from global to shared memory (cp.async). Rules: PTX ISA, "Data Movement and Conversion
// Instructions: Asynchronous copy": a thread's groups complete in order, and only its own wait makes a copy visible to
// it. Here a copy arrives as late as allowed, at this wait: without the wait the thread reads the old value.
#define _GNU_SOURCE
#include "async_copies.h"
#include "access.h"
#include "fibres.h"
#include "kernel_calls/async_copies.h"
#include "last_access.h"
#include "pages.h"
#include "shared_memory.h"
#include "stop.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_THREADS = GV_MAX_THREADS * GV_MAX_CLUSTER, MOST_UNDER_WAY = 512, LARGEST = 16 };
enum { FEW_UNDER_WAY = 32, LINE = 64 /* of the cache */, AHEAD = 4 /* copies whose memory is asked for */ };

typedef struct {
    char *to;
    uintptr_t pc;
    uint32_t bytes, group, phase, reads;
    gv_row_place read;
    char data[LARGEST];
} __attribute__((aligned(LINE))) copy;

typedef struct {
    uint32_t block, groups, first, end, run;
    uint32_t size;                  // of the ring, a power of two: as small as it may be, as it stays in the cache then
    copy under_way[MOST_UNDER_WAY]; // a ring: `first` up to `end`
} thread_copies;
static thread_copies of[MOST_THREADS]; // of the blocks that run together
static uint32_t run;

// The copies of the blocks that run together, in the order of their arrival. Their rows get their numbers when these
// blocks have ended.
typedef struct {
    gv_row_place read, write;
    uint16_t rank, thread, phase, reads;
} arrival;
static struct {
    arrival *copies;
    uint64_t count, room;
} arrived;

// One that arrived: the rows of its write and (NO_ROW: none) of its first read, counted from its block's first row;
// phase: when it was issued. The copies of a block are together, sorted by thread.
enum { NO_ROW = UINT32_MAX };
typedef struct {
    uint32_t block, write, read, phase;
} reported_copy;

// Shared with processes that are forked later, if there are several; each of them adds to it.
static struct {
    uint64_t count;
    reported_copy log[];
} *reported;
static uint64_t room, with_pages; // with_pages: records whose pages were asked for; all, if several processes write

int gv_copies_begin(uint64_t capacity, uint32_t processes)
{
    size_t bytes = sizeof *reported + capacity * sizeof(reported_copy);
    run++;
    room = capacity;
    int kind = processes > 1 ? MAP_SHARED : MAP_PRIVATE; // new shared pages take longer
    reported = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    with_pages = processes > 1 ? UINT64_MAX : 0;
    return reported != MAP_FAILED;
}

void gv_copies_end(void) { munmap(reported, sizeof *reported + room * sizeof(reported_copy)); }

uint64_t gv_copies(void) { return reported->count; }

// The first row of a block.
static int64_t first_row(const gv_run *r, uint32_t block)
{
    uint64_t from = 0, end = r->count;
    while (from < end) {
        uint64_t middle = (from + end) / 2;
        if (r->block_of[middle] < block) from = middle + 1;
        else end = middle;
    }
    return (int64_t)from;
}

int gv_copies_found(const gv_run *r, int64_t *found)
{
    const reported_copy *c = reported->log, *end = c + reported->count;
    uint64_t *next = calloc(r->end_block - r->first_block + 1, sizeof *next); // of each block
    if (!next) return 0;
    for (const reported_copy *one = c; one < end; one++) next[one->block - r->first_block + 1]++;
    for (uint64_t i = r->first_block + 1; i < r->end_block; i++)
        next[i - r->first_block] += next[i - r->first_block - 1];
    while (c < end) {
        uint32_t block = c->block;
        uint64_t *its = &next[block - r->first_block];
        int64_t first = first_row(r, block), *to = found + 3 * *its;
        for (; c < end && c->block == block; c++, to += 3, ++*its) {
            to[0] = first + c->write;
            to[1] = c->read == NO_ROW ? -1 : first + c->read;
            to[2] = c->phase;
        }
    }
    free(next);
    return 1;
}

uint64_t gv_copies_reported(void) { return reported->count; }

void gv_copies_take_back(uint64_t count) { reported->count = count; }

void gv_copies_block_begins(void) { arrived.count = 0; }

// Adds a copy that has made a row.
static void note_arrival(const arrival *one)
{
    if (arrived.count == arrived.room) {
        uint64_t more = arrived.room ? 2 * arrived.room : 1 << 12;
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        arrival *copies = arrived.room ? mremap(arrived.copies, arrived.room * sizeof *one, more * sizeof *one,
                                             MREMAP_MAYMOVE)
                                       : mmap(NULL, more * sizeof *one, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (copies == MAP_FAILED) gv_stop(GV_NO_MEMORY);
        arrived.copies = copies;
        arrived.room = more;
    }
    arrived.copies[arrived.count++] = *one;
}

// Reports them sorted by block and thread; those of a thread keep their order.
void gv_copies_block_ended(void)
{
    static uint32_t next[MOST_THREADS + 1];
    if (!arrived.count) return;
    uint32_t threads = gv_cluster.threads, all = gv_cluster.blocks * threads;
    uint64_t begin = __atomic_fetch_add(&reported->count, arrived.count, __ATOMIC_RELAXED);
    uint64_t end = begin + arrived.count;
    if (end > room) gv_stop(GV_FULL);
    while (with_pages < end)
        with_pages = gv_prepare_pages((char *)reported->log, sizeof(reported_copy), with_pages, end, room);
    memset(next, 0, (all + 1) * sizeof *next);
    const arrival *first = arrived.copies, *last = first + arrived.count;
    for (const arrival *c = first; c < last; c++) next[c->rank * threads + c->thread + 1]++;
    for (uint32_t t = 0; t < all; t++) next[t + 1] += next[t];
    for (const arrival *c = first; c < last; c++)
        reported->log[begin + next[c->rank * threads + c->thread]++] =
            (reported_copy){gv_now.block - gv_now.rank + c->rank, gv_row_in_block(c->write, c->rank),
                c->reads ? gv_row_in_block(c->read, c->rank) : NO_ROW, c->phase};
}

// The running thread's copies; in a new run, or block, it has none.
static thread_copies *mine(void)
{
    thread_copies *t = &of[gv_thread_slot()];
    if (t->run != run) t->size = FEW_UNDER_WAY;
    if (t->run != run || t->block != gv_now.block) {
        t->run = run;
        t->block = gv_now.block;
        t->groups = t->first = t->end = 0;
    }
    return t;
}

// Gives the ring twice as many places.
static void more_under_way(thread_copies *t)
{
    if (t->size == MOST_UNDER_WAY) gv_stop(GV_TOO_MANY_COPIES);
    for (uint32_t i = t->first; i != t->end; i++)
        if (i % t->size != i % (2 * t->size)) t->under_way[i % (2 * t->size)] = t->under_way[i % t->size];
    t->size *= 2;
}

// Whether an access is like the last one of its instruction, and concerns nothing that is postponed.
static inline __attribute__((always_inline)) int is_like_last(
    const void *address, uint32_t bytes, int how, uintptr_t pc)
{
    const gv_last_access *l = gv_last_of(pc);
    return !gv_now.catch_up && l->plain == GV_PLAIN && gv_as_last(l, (uintptr_t)address, bytes, how, pc);
}

static inline __attribute__((always_inline)) void keep_like_last(
    const void *address, uint32_t bytes, int how, uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    if (bytes == LARGEST) gv_keep_as_last(gv_last_of(pc), (uintptr_t)address, LARGEST, how); // the compiler knows it
    else gv_keep_as_last(gv_last_of(pc), (uintptr_t)address, bytes, how);
}

// Records an access, in few steps if that is possible; returns whether there is a row for it.
static inline uint32_t made_row(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    if (gv_pending.is || !is_like_last(address, bytes, how, pc)) return gv_access_made_row(address, bytes, how, pc);
    keep_like_last(address, bytes, how, pc);
    return 1;
}

static inline copy *at(thread_copies *t, uint32_t number) { return &t->under_way[number & (t->size - 1)]; }

void gv_copy_async(void *shared, const void *global, uint32_t bytes, uint32_t source_bytes)
{
    uintptr_t pc = GV_PC;
    gv_catch_up();
    thread_copies *t = mine();
    gv_must_be_shared(shared, "cp.async", pc);
    if (t->end - t->first == t->size) more_under_way(t);
    copy *c = at(t, t->end++);
    __builtin_prefetch((const char *)global + LINE); // where the next threads mostly copy from
    if (source_bytes > bytes) source_bytes = bytes;
    *c = (copy){.to = shared, .pc = pc, .bytes = bytes, .group = t->groups, .phase = gv_now.phase};
    // The hardware requires both addresses to be multiples of the size, for any number of source bytes.
    if (source_bytes && (uintptr_t)global & (bytes - 1)) {
        gv_now.run->last_pc = pc;
        gv_stop_misaligned((uintptr_t)global, bytes, 0);
    }
    c->read = gv_next_row();
    // The width of a read is a power of two.
    for (uint32_t done = 0, step; done < source_bytes; done += step) {
        step = bytes;
        while (step > source_bytes - done) step /= 2;
        c->reads += made_row((char *)global + done, step, 0, pc - 1);
    }
    if (source_bytes == LARGEST) memcpy(c->data, global, LARGEST); // no call
    else memcpy(c->data, global, source_bytes);
}

void gv_copy_commit(void) { mine()->groups++; }

static inline void put_data(const copy *c)
{
    if (c->bytes == LARGEST) memcpy(c->to, c->data, LARGEST); // no call
    else memcpy(c->to, c->data, c->bytes);
}

static void arrive(copy *c)
{
    gv_row_place write = gv_next_row();
    uint32_t writes = 1;
    gv_settle();
    if (is_like_last(c->to, c->bytes, GV_WRITE, c->pc) && !gv_now.lanes_ahead) {
        put_data(c);
        keep_like_last(c->to, c->bytes, GV_WRITE | GV_WRITTEN, c->pc);
    } else {
        writes = gv_access_made_row(c->to, c->bytes, GV_WRITE, c->pc);
        put_data(c);
    }
    if (!writes || gv_now.run->count_only) return;
    arrival one = {c->read, write, (uint16_t)gv_now.rank, (uint16_t)gv_now.thread, (uint16_t)c->phase,
        (uint16_t)c->reads};
    note_arrival(&one);
}

void gv_copy_wait(uint32_t left)
{
    gv_catch_up();
    thread_copies *t = mine();
    for (uint32_t i = 0; i < AHEAD; i++) __builtin_prefetch(at(t, t->first + i));
    while (t->first != t->end) {
        copy *c = at(t, t->first);
        if (c->group + left >= t->groups) return;
        __builtin_prefetch(at(t, t->first + AHEAD));
        t->first++;
        arrive(c);
    }
}

uint32_t gv_copies_end_now(void) { return mine()->end; }

void gv_copies_arrive_up_to(uint32_t end)
{
    thread_copies *t = mine();
    while ((int32_t)(end - t->first) > 0) arrive(at(t, t->first++));
}

void gv_copy_wait_all(void)
{
    gv_copy_commit();
    gv_copy_wait(0);
}
