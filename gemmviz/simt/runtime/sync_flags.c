// Flags by which the blocks of a grid wait for each other: unwatched memory (a variable of the device), read and
// written as volatile, or by an atomic operation. The reports are the write that sets a flag, the reads that see it,
// and the fences around them. Python derives the happens-before order of accesses from them
// (trace/hazards/flag_synchronisation.py).
#include "sync_flags.h"
#include "access.h"
#include "events.h"
#include "stop.h"
#include "watched.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 12, MOST_IN_VAIN = 100 * 1000 };

typedef struct {
    uintptr_t at;
    uint32_t number, block;                             // of the latest signal (from 1; 0: none), and its block
    uint32_t reported_block, reported_thread, reported; // the thread that was reported as its reader
    uint32_t reader_block, reader_thread;               // the thread that reads it repeatedly and does nothing else
    uint64_t reader_count, in_vain;
    uint64_t before; // its value at load time, if it was set: the number of its bytes
    uint32_t bytes;
    uint32_t left;  // whether the run before has left another value in it: `start`
    uint64_t start;
    uintptr_t writer_pc, reader_pc; // see gv_changed
    uint32_t moved;                 // whether it had another value than at load time before a write
} flag;

static flag flags[MOST]; // open-addressed, by address
static uint32_t used, signals;

// If there is no memory at an address, the access itself is the fault to report. An aligned flag is in one page.
static int there(uintptr_t at, uint32_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return !msync((void *)(at & ~(page - 1)), page, MS_ASYNC) && at % page + bytes <= page;
}

// Memory that is read-only has not changed.
static int has_changed(const flag *f)
{
    return f->bytes && there(f->at, f->bytes) && memcmp((void *)f->at, &f->before, f->bytes);
}

// A run begins with the flags as they were loaded: a run that ended early, or ran a part of the grid, may leave some
// flags set.
void gv_flags_begin(int keep)
{
    signals = 0;
    for (uint32_t i = 0; used && i < MOST; i++) {
        flag *f = &flags[i];
        int left = has_changed(f);
        if (left && !keep) memcpy((void *)f->at, &f->before, f->bytes);
        if (!keep) continue;
        flag next = {.at = f->at, .before = f->before, .bytes = f->bytes, .left = (uint32_t)left};
        if (left) memcpy(&next.start, (void *)f->at, f->bytes);
        *f = next;
    }
    if (keep) return;
    if (used) memset(flags, 0, sizeof flags);
    used = 0;
}

uint32_t gv_flags_changed(gv_changed *all, uint32_t most)
{
    uint32_t found = 0;
    for (uint32_t i = 0; used && i < MOST; i++) {
        const flag *f = &flags[i];
        if (!(f->moved || has_changed(f)) || found++ >= most) continue;
        gv_changed *c = &all[found - 1];
        *c = (gv_changed){f->at, 0, f->before, f->writer_pc, f->reader_pc, f->bytes, f->reported > 0};
        memcpy(&c->value, (void *)f->at, f->bytes);
    }
    return found;
}

static flag *flag_at(uintptr_t at, uint32_t bytes)
{
    uint32_t i = (uint32_t)(at >> 2) * 2654435761u % MOST;
    while (flags[i].at && flags[i].at != at) i = (i + 1) % MOST;
    if (flags[i].at) return &flags[i];
    if (used == MOST / 2 || !there(at, bytes)) return NULL; // only an order of blocks is lost
    used++;
    flags[i].at = at;
    return &flags[i];
}

static int hidden(uintptr_t at)
{
    gv_run *r = gv_now.run;
    for (uint32_t i = 0; i < r->arrays; i++) {
        gv_array *a = &r->array[i];
        if (at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (!a->scratch) return 0;
        if (a->scratch == GV_SCRATCH_FLAGS) continue;
        a->scratch = GV_SCRATCH_FLAGS;
        gv_watch(i); // no more
        gv_access_forget();
    }
    return !gv_on_stack(at);
}

// In a second launch: whether a flag has a value that the first one has left. Who reads it cannot know whether another
// block has written that value again.
static int tells_nothing(const flag *f) { return f->left && !memcmp((void *)f->at, &f->start, f->bytes); }

// A thread that only reads a flag keeps this process busy: no other thread can then set the flag.
static void read_in_vain(flag *f, uintptr_t pc)
{
    if (f->reader_block != gv_now.block || f->reader_thread != gv_now.thread || f->reader_count != gv_now.run->count)
        f->in_vain = 0;
    f->reader_block = gv_now.block;
    f->reader_thread = gv_now.thread;
    f->reader_count = gv_now.run->count;
    if (++f->in_vain < MOST_IN_VAIN) return;
    gv_now.run->last_pc = pc;
    gv_stop(GV_FLAG_NEVER_SET);
}

void gv_flag_read(uintptr_t at, uintptr_t pc)
{
    flag *f = hidden(at) ? flag_at(at, 1) : NULL;
    if (!f) return;
    read_in_vain(f, pc);
    if (!f->number || f->block == gv_now.block) return;
    if (tells_nothing(f)) {
        f->reader_pc = pc;
        return;
    }
    if (f->reported == f->number && f->reported_block == gv_now.block && f->reported_thread == gv_now.thread) return;
    f->reported = f->number;
    f->reported_block = gv_now.block;
    f->reported_thread = gv_now.thread;
    gv_tell(GV_EVENT_FLAG_SEEN, f->number, pc);
}

void gv_flag_written(uintptr_t at, uint32_t bytes, uintptr_t pc)
{
    flag *f = hidden(at) ? flag_at(at, bytes) : NULL;
    if (!f) return;
    if (!f->bytes && bytes <= sizeof f->before) {
        f->bytes = bytes;
        memcpy(&f->before, (void *)at, bytes);
    }
    f->moved |= (uint32_t)has_changed(f);
    f->number = ++signals;
    f->block = gv_now.block;
    f->writer_pc = pc;
    f->in_vain = 0;
    gv_tell(GV_EVENT_FLAG_SET, f->number, pc);
}
