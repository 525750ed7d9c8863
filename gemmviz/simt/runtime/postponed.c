#include "postponed.h"
#include "stop.h"
#include <string.h>

gv_arguments gv_kept[GV_MOST_POSTPONED][GV_WARP];
gv_warp_work *gv_work_of[GV_MOST_POSTPONED];
uint32_t gv_works;
uint64_t gv_postponed_round;

// Of the lanes that wait for others: the number of their instructions, and the first one.
static uint32_t count[GV_WARP];
static uintptr_t first_pc[GV_WARP];
static const gv_fibre *warp; // whose instructions are kept

static void nothing_changes(void)
{
    memset(gv_now.changing, 0, sizeof gv_now.changing);
    gv_now.changing_from = UINTPTR_MAX;
    gv_now.changing_end = 0;
}

void gv_parts_will_change(uintptr_t at, uint32_t bytes)
{
    for (uintptr_t part = at / GV_PART; part <= (at + bytes - 1) / GV_PART; part++)
        gv_now.changing[part % GV_CHANGING / 64] |= 1ull << part % 64;
}

void gv_postponed_begin(void)
{
    nothing_changes();
    gv_works = 0;
    gv_postponed_round++;
    gv_now.postponed = gv_now.lanes_ahead = gv_now.looks_ahead = gv_now.kept_as = 0;
    gv_now.catch_up = NULL;
}

static uint32_t done; // instructions that were done together just now

// The lanes have kept the same instructions, unless they went different ways.
static void do_all(void *posted[GV_WARP], uint32_t mask)
{
    for (uint32_t lane = 1; lane < GV_WARP; lane++)
        if (count[lane] != count[0]) gv_stop(GV_AGAIN);
    for (uint32_t i = 0; i < count[0]; i++) {
        for (uint32_t lane = 0; lane < GV_WARP; lane++) posted[lane] = &gv_kept[i][lane];
        gv_work_of[i](posted, mask);
    }
    gv_works = 0;
    gv_postponed_round++;
    gv_now.lanes_ahead = 0;
    done = count[0];
}

void gv_catch_up_postponed(uintptr_t at, uint32_t bytes)
{
    if (gv_on_stack(at) && !gv_changes(at, bytes)) return;
    uint32_t lane = gv_lane_now();
    count[lane] = gv_now.postponed;
    nothing_changes();
    gv_now.postponed = gv_now.kept_as = 0;
    gv_now.catch_up = NULL;
    gv_now.lanes_ahead++;
    gv_warp_instruction(~0u, &count[lane], do_all, first_pc[lane]);
    // If each instruction were done at once, the lane before would be the last to arrive at each further one, and the
    // first to go on: so defects and instructions are met in the same order.
    uint32_t before = done ? (done - 1) % GV_WARP : 0;
    done = 0;
    if (before) gv_pass_on(gv_now.thread - lane + (lane + GV_WARP - before) % GV_WARP);
}

void gv_begin_postponing(uintptr_t pc)
{
    gv_catch_up();
    const gv_fibre *mine = gv_running_fibre() - gv_lane_now();
    if (gv_now.lanes_ahead && warp != mine) gv_stop(GV_AGAIN); // a lane of that warp waits for something else
    warp = mine;
    first_pc[gv_lane_now()] = pc;
    gv_now.catch_up = gv_catch_up_postponed;
    gv_now.postpones = 1;
}
