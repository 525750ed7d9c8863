#include "postponed.h"
#include "stop.h"
#include <string.h>

enum { MOST = 8 };

typedef struct {
    gv_warp_work *work;
    uintptr_t pc;
    char arguments[GV_POSTPONED_BYTES] __attribute__((aligned(16)));
} instruction;

static instruction kept[MOST][GV_WARP];
static uint32_t count[GV_WARP]; // of the lanes that wait for others
static const gv_fibre *warp;    // whose instructions are kept

void gv_postponed_begin(void)
{
    memset(gv_now.changing, 0, sizeof gv_now.changing);
    gv_now.postponed = gv_now.lanes_ahead = gv_now.looks_ahead = 0;
    gv_now.catch_up = NULL;
}

static inline void will_change(uintptr_t at, uint32_t bytes)
{
    for (uintptr_t part = at / GV_PART; part <= (at + bytes - 1) / GV_PART; part++)
        gv_now.changing[part % GV_CHANGING / 64] |= 1ull << part % 64;
}

static uint32_t done; // instructions that were done together just now

// The lanes have kept the same instructions, unless they went different ways.
static void do_all(void *posted[GV_WARP], uint32_t mask)
{
    for (uint32_t lane = 1; lane < GV_WARP; lane++)
        if (count[lane] != count[0]) gv_stop(GV_AGAIN);
    for (uint32_t i = 0; i < count[0]; i++) {
        for (uint32_t lane = 0; lane < GV_WARP; lane++) {
            if (kept[i][lane].work != kept[i][0].work) gv_stop(GV_AGAIN);
            posted[lane] = kept[i][lane].arguments;
        }
        kept[i][0].work(posted, mask);
    }
    gv_now.lanes_ahead = 0;
    done = count[0];
}

static void catch_up(uintptr_t at, uint32_t bytes)
{
    if (gv_on_stack(at) && !gv_changes(at, bytes)) return;
    uint32_t lane = gv_lane_now();
    count[lane] = gv_now.postponed;
    memset(gv_now.changing, 0, sizeof gv_now.changing);
    gv_now.postponed = 0;
    gv_now.catch_up = NULL;
    gv_now.lanes_ahead++;
    gv_warp_instruction(~0u, &count[lane], do_all, kept[0][lane].pc);
    // If each instruction were done at once, the lane before would be the last to arrive at each further one, and the
    // first to go on: so defects and instructions are met in the same order.
    uint32_t before = done ? (done - 1) % GV_WARP : 0;
    done = 0;
    if (before) gv_pass_on(gv_now.thread - lane + (lane + GV_WARP - before) % GV_WARP);
}

void *gv_postpone(gv_warp_work *work, const void *to, uint32_t bytes, uintptr_t pc)
{
    if (gv_now.postponed == MOST || gv_now.catch_up != catch_up) gv_catch_up();
    const gv_fibre *mine = gv_running_fibre() - gv_lane_now();
    if (gv_now.lanes_ahead && warp != mine) gv_stop(GV_AGAIN); // a lane of that warp waits for something else
    warp = mine;
    instruction *i = &kept[gv_now.postponed++][gv_lane_now()];
    i->work = work;
    i->pc = pc;
    gv_now.catch_up = catch_up;
    gv_now.postpones = 1;
    gv_now.run->last_pc = pc;
    will_change((uintptr_t)to, bytes);
    return i->arguments;
}

const void *gv_kept_operand(const void *at, uint32_t bytes, void *room)
{
    if (gv_changes((uintptr_t)at, bytes)) {
        will_change((uintptr_t)at, bytes); // a part of it may be written otherwise
        return at;
    }
    switch (bytes) { // the compiler knows each number
    case 8: memcpy(room, at, 8); break;
    case 16: memcpy(room, at, 16); break;
    case 32: memcpy(room, at, 32); break;
    default: memcpy(room, at, bytes);
    }
    return room;
}
