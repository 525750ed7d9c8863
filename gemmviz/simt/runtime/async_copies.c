// Asynchronous copies from global to shared memory (cp.async). Rules: PTX ISA, "Data Movement and Conversion
// Instructions: Asynchronous copy": a thread's groups complete in order, and only its own wait makes a copy visible to
// it. Here a copy arrives as late as allowed, at this wait: without the wait the thread reads the old value.
#define _GNU_SOURCE
#include "async_copies.h"
#include "access.h"
#include "kernel_calls/async_copies.h"
#include "pages.h"
#include "shared_memory.h"
#include "stop.h"
#include <string.h>
#include <sys/mman.h>

enum { MOST_THREADS = GV_MAX_THREADS * GV_MAX_CLUSTER, MOST_UNDER_WAY = 256, LARGEST = 16, MOST_INSTRUCTIONS = 1024 };

typedef struct {
    char *to;
    uintptr_t pc;
    uint32_t bytes, group, phase, reads;
    char data[LARGEST];
} copy;

typedef struct {
    uint32_t block, groups, first, end, order, run;
    copy under_way[MOST_UNDER_WAY]; // a ring: `first` up to `end`
} thread_copies;
static thread_copies of[MOST_THREADS]; // of the blocks that run together
static uint32_t run;

// Shared with processes that are forked later, if there are several; each of them adds to it.
static struct {
    uint64_t count, instructions;
    uintptr_t pc[MOST_INSTRUCTIONS];
    gv_copy log[];
} *reported;
static uint64_t room, with_pages; // with_pages: records whose pages were asked for; all, if several processes write

int gv_copies_begin(uint64_t capacity, uint32_t processes)
{
    size_t bytes = sizeof *reported + capacity * sizeof(gv_copy);
    run++;
    room = capacity;
    int kind = processes > 1 ? MAP_SHARED : MAP_PRIVATE; // new shared pages take longer
    reported = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    with_pages = processes > 1 ? UINT64_MAX : 0;
    return reported != MAP_FAILED;
}

void gv_copies_end(void) { munmap(reported, sizeof *reported + room * sizeof(gv_copy)); }

uint64_t gv_copies(const gv_copy **log, const uintptr_t **pc, uint64_t *instructions)
{
    *log = reported->log;
    *pc = reported->pc;
    *instructions = reported->instructions;
    return reported->count;
}

uint64_t gv_copies_reported(void) { return reported->count; }

void gv_copies_take_back(uint64_t count) { reported->count = count; }

static void tell_instruction(uintptr_t pc)
{
    uint64_t known = __atomic_load_n(&reported->instructions, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < known && i < MOST_INSTRUCTIONS; i++)
        if (reported->pc[i] == pc) return;
    // Two processes may both add it: a double entry does no harm.
    uint64_t at = __atomic_fetch_add(&reported->instructions, 1, __ATOMIC_ACQ_REL);
    if (at >= MOST_INSTRUCTIONS) gv_stop(GV_TOO_MANY_SITES);
    reported->pc[at] = pc;
}

// The running thread's copies; in a new run, or block, it has none.
static thread_copies *mine(void)
{
    thread_copies *t = &of[gv_thread_slot()];
    if (t->run != run || t->block != gv_now.block) {
        t->run = run;
        t->block = gv_now.block;
        t->groups = t->first = t->end = t->order = 0;
    }
    return t;
}

void gv_copy_async(void *shared, const void *global, uint32_t bytes, uint32_t source_bytes)
{
    uintptr_t pc = GV_PC;
    gv_catch_up();
    thread_copies *t = mine();
    gv_must_be_shared(shared, "cp.async", pc);
    if (t->end - t->first == MOST_UNDER_WAY) gv_stop(GV_TOO_MANY_COPIES);
    tell_instruction(pc);
    copy *c = &t->under_way[t->end++ % MOST_UNDER_WAY];
    if (source_bytes > bytes) source_bytes = bytes;
    *c = (copy){.to = shared, .pc = pc, .bytes = bytes, .group = t->groups, .phase = gv_now.phase};
    // The hardware requires both addresses to be multiples of the size, for any number of source bytes.
    if (source_bytes && (uintptr_t)global & (bytes - 1)) {
        gv_now.run->last_pc = pc;
        gv_stop_misaligned((uintptr_t)global, bytes, 0);
    }
    // The width of a read is a power of two.
    for (uint32_t done = 0, step; done < source_bytes; done += step) {
        step = bytes;
        while (step > source_bytes - done) step /= 2;
        c->reads += gv_access_made_row((char *)global + done, step, 0, pc - 1);
    }
    memcpy(c->data, global, source_bytes);
}

void gv_copy_commit(void) { mine()->groups++; }

static void arrive(copy *c)
{
    uint32_t writes = gv_access_made_row(c->to, c->bytes, GV_WRITE, c->pc);
    memcpy(c->to, c->data, c->bytes);
    uint64_t at = __atomic_fetch_add(&reported->count, 1, __ATOMIC_RELAXED);
    if (at >= room) gv_stop(GV_FULL); // a copy to no array makes no row, so the limit of rows does not stop it
    if (at >= with_pages)
        with_pages = gv_prepare_pages((char *)reported->log, sizeof(gv_copy), at, at + 1, room);
    reported->log[at] = (gv_copy){gv_now.block, mine()->order++, (uint16_t)gv_now.thread, (uint16_t)c->phase,
        (uint16_t)c->reads, (uint16_t)writes};
}

void gv_copy_wait(uint32_t left)
{
    gv_catch_up();
    thread_copies *t = mine();
    while (t->first != t->end) {
        copy *c = &t->under_way[t->first % MOST_UNDER_WAY];
        if (c->group + left >= t->groups) return;
        t->first++;
        arrive(c);
    }
}

uint32_t gv_copies_end_now(void) { return mine()->end; }

void gv_copies_arrive_up_to(uint32_t end)
{
    thread_copies *t = mine();
    while ((int32_t)(end - t->first) > 0) arrive(&t->under_way[t->first++ % MOST_UNDER_WAY]);
}

void gv_copy_wait_all(void)
{
    gv_copy_commit();
    gv_copy_wait(0);
}
