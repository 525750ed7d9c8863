#include "events.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "pages.h"
#include "stop.h"

// Shared with processes that are forked later, if there are several.
static uint64_t *reported;
static gv_event *events;
static uint64_t room, with_pages; // with_pages: records whose pages were asked for; all, if several processes write

void gv_events_begin(uint64_t *count, gv_event *log, uint64_t capacity, uint32_t processes)
{
    reported = count;
    events = log;
    room = capacity;
    with_pages = processes > 1 ? UINT64_MAX : 0;
}

uint64_t gv_events_reported(void) { return *reported; }
void gv_events_take_back(uint64_t count) { *reported = count; }

void gv_tell_event(gv_event event)
{
    if (gv_now.run->count_only) return;
    uint64_t at = __atomic_fetch_add(reported, 1, __ATOMIC_RELAXED);
    if (at >= room) gv_stop(GV_FULL);
    if (at >= with_pages)
        with_pages = gv_prepare_pages((char *)events, sizeof(gv_event), at, at + 1, room);
    gv_now.tells = 1;
    event.row = (int32_t)gv_made();
    event.thread = (int32_t)gv_now.thread;
    event.phase = (int32_t)gv_now.phase;
    event.turn = (int32_t)gv_now.turn;
    events[at] = event;
}

void gv_tell(int kind, uint32_t number, uintptr_t pc)
{
    gv_catch_up();
    gv_tell_event((gv_event){.line = gv_event_line(pc),
        .block = (int32_t)gv_now.block,
        .number = (int32_t)number,
        .kind = kind});
}

void gv_shared_written(void) { gv_tell(GV_EVENT_FENCE, 0, GV_PC); }
void gv_global_read(void) { gv_tell(GV_EVENT_GLOBAL_READ, 0, GV_PC); }
void gv_thread_fence(void) { gv_tell(GV_EVENT_THREAD_FENCE, 0, GV_PC); }
