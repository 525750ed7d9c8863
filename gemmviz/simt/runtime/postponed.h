// Instructions of a whole warp that are postponed. A lane at such an instruction would wait until the last lane of its
// warp arrives, and each wait is a switch of fibres. Instead its instruction is kept, and the lane goes on until it
// needs a result, or does what another lane may notice: then it catches up. It waits once, and the last lane does
// all kept instructions in their order.
//
// The recording must be the same as without this. Where that is not sure, and where a run ends with a fault, the run
// ends with GV_AGAIN: Python then runs the kernel once more, with each instruction at once.
// A recorder that GCC compiled does each at once always: it does not notice how GCC copies arguments passed by value.
#pragma once
#include "fibres.h"
#include "last_access.h"
#include "stop.h"
#include <string.h>

enum { GV_POSTPONED_BYTES = 128 /* the most bytes of an instruction's arguments */, GV_MOST_POSTPONED = 160 };

typedef struct {
    char of[GV_POSTPONED_BYTES] __attribute__((aligned(64)));
} gv_arguments;
extern gv_arguments gv_kept[GV_MOST_POSTPONED][GV_WARP] __attribute__((visibility("hidden")));

// For the running lane's first postponed instruction, and when it has no room for a further one.
void gv_begin_postponing(uintptr_t pc);
void gv_catch_up_postponed(uintptr_t at, uint32_t bytes);

// What the postponed instructions of a warp do, in their order, and their number so far: the first lane has set it.
extern gv_warp_work *gv_work_of[GV_MOST_POSTPONED] __attribute__((visibility("hidden")));
extern uint32_t gv_works __attribute__((visibility("hidden")));

// A number that changes when the postponed instructions of a warp have been done.
extern uint64_t gv_postponed_round __attribute__((visibility("hidden")));

void gv_parts_will_change(uintptr_t at, uint32_t bytes);
static inline __attribute__((always_inline)) void gv_will_change(uintptr_t at, uint32_t bytes)
{
    uintptr_t from = at / GV_PART * GV_PART, end = (at + bytes + GV_PART - 1) / GV_PART * GV_PART;
    if (from < gv_now.changing_from) gv_now.changing_from = from;
    if (end > gv_now.changing_end) gv_now.changing_end = end;
    if (at % GV_PART + bytes <= GV_PART) gv_now.changing[at / GV_PART % GV_CHANGING / 64] |= 1ull << at / GV_PART % 64;
    else gv_parts_will_change(at, bytes);
}

// Postpones an instruction of all 32 lanes, of which the caller tells what it changes. Returns memory for the lane's
// arguments, which `work` gets. Not for runs in which each instruction is done at once. Only if there is room.
static inline __attribute__((always_inline)) void *gv_postpone_further(gv_warp_work *work, uintptr_t pc)
{
    uint32_t number = gv_now.postponed++;
    if (number == gv_works) gv_work_of[gv_works++] = work;
    else if (gv_work_of[number] != work) gv_stop(GV_AGAIN); // the lanes have gone different ways
    gv_now.run->last_pc = pc;
    return &gv_kept[number][gv_lane_now()];
}

// Whether the running lane has postponed an instruction, and has room for a further one.
static inline int gv_has_room(void) { return gv_now.postponed - 1 < GV_MOST_POSTPONED - 1; }

// The same, with or without room.
static inline void *gv_postpone_work(gv_warp_work *work, uintptr_t pc)
{
    if (!gv_has_room()) gv_begin_postponing(pc);
    return gv_postpone_further(work, pc);
}

// The same; it changes `bytes` bytes of the running lane's registers at `to`.
static inline void *gv_postpone(gv_warp_work *work, const void *to, uint32_t bytes, uintptr_t pc)
{
    void *kept = gv_postpone_work(work, pc);
    gv_will_change((uintptr_t)to, bytes);
    return kept;
}

// Keeps an operand of a postponed instruction in `room`, as the lane may use its registers for other values. No
// postponed instruction changes it: else the lane has caught up.
static inline void gv_keep_operand(void *room, const void *at, uint32_t bytes)
{
    switch (bytes) { // the compiler knows each number
    case 8: memcpy(room, at, 8); break;
    case 16: memcpy(room, at, 16); break;
    case 32: memcpy(room, at, 32); break;
    default: memcpy(room, at, bytes);
    }
}

// Call it before an instruction of all lanes that records accesses ahead. If it is met for the first time, the lane
// catches up: other lanes may have yet to meet instructions before it, and sites have the order in which they are met.
static inline void gv_before_new_site(uintptr_t pc)
{
    if (gv_now.postponed && gv_last_of(pc)->key != gv_key_of(pc) && !gv_has_site(pc)) gv_catch_up();
}

// Records an access that the running lane may make before it catches up: no postponed instruction changes its value.
static inline void gv_access_ahead(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    const gv_last_access *l = gv_last_of(pc);
    uintptr_t at = (uintptr_t)address;
    if (!gv_pending.is && !gv_now.keep_rows && l->plain == GV_PLAIN && gv_as_last(l, at, bytes, how, pc)) {
        gv_now.run->last_pc = pc;
        gv_keep_as_last(l, at, bytes, how); // which concerns no postponed instruction
        return;
    }
    void (*catch_up)(uintptr_t, uint32_t) = gv_now.catch_up;
    if (catch_up && gv_now.keep_rows) gv_now.keep_rows(); // those of the thread come before this one
    gv_now.catch_up = NULL;
    gv_now.looks_ahead = catch_up != NULL;
    gv_access(address, bytes, how, pc);
    gv_now.looks_ahead = 0;
    gv_now.catch_up = catch_up;
}

// Forgets all of them, before a run and after it.
void gv_postponed_begin(void);
