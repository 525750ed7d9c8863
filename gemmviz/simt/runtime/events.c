#define _GNU_SOURCE
#include "events.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "pages.h"
#include "stop.h"
#include <sys/mman.h>

// Shared with processes that are forked later, if there are several.
static struct {
    uint64_t count;
    gv_event log[];
} *reported;
static uint64_t room, with_pages; // with_pages: records whose pages were asked for; all, if several processes write

int gv_events_begin(uint64_t capacity, uint32_t processes)
{
    room = capacity;
    size_t bytes = sizeof *reported + room * sizeof(gv_event);
    int kind = processes > 1 ? MAP_SHARED : MAP_PRIVATE; // new shared pages take longer
    reported = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    with_pages = processes > 1 ? UINT64_MAX : 0;
    return reported != MAP_FAILED;
}

void gv_events_end(void) { munmap(reported, sizeof *reported + room * sizeof(gv_event)); }

uint64_t gv_events(const gv_event **log)
{
    *log = reported->log;
    return reported->count;
}

uint64_t gv_events_reported(void) { return reported->count; }
void gv_events_take_back(uint64_t count) { reported->count = count; }

void gv_tell_event(gv_event event)
{
    if (gv_now.run->count_only) return;
    uint64_t at = __atomic_fetch_add(&reported->count, 1, __ATOMIC_RELAXED);
    if (at >= room) gv_stop(GV_FULL);
    if (at >= with_pages)
        with_pages = gv_prepare_pages((char *)reported->log, sizeof(gv_event), at, at + 1, room);
    event.made = gv_made();
    event.thread = (uint16_t)gv_now.thread;
    event.phase = (uint16_t)gv_now.phase;
    event.turn = (uint16_t)gv_now.turn;
    reported->log[at] = event;
}

void gv_tell(int kind, uint32_t number, uintptr_t pc)
{
    gv_catch_up();
    gv_tell_event((gv_event){.pc = pc, .block = gv_now.block, .number = number, .kind = (uint16_t)kind});
}

void gv_shared_written(void) { gv_tell(GV_EVENT_FENCE, 0, GV_PC); }
void gv_global_read(void) { gv_tell(GV_EVENT_GLOBAL_READ, 0, GV_PC); }
void gv_thread_fence(void) { gv_tell(GV_EVENT_THREAD_FENCE, 0, GV_PC); }
