// Products of the common form that a lane has postponed: see mma_tiles.h and postponed.h.
#pragma once
#include "mma_tiles.h"
#include "postponed.h"

// Where another postponed instruction has yet to change an operand, its place is there, and the place of the sums has a
// mark. A lane keeps its own products side by side; those of the next lane are in another set of the cache.
enum { GV_A_IN_PLACE = 1, GV_B_IN_PLACE = 2, GV_COMMON_APART = GV_MOST_POSTPONED + 2 };
extern gv_lane_mma gv_kept_common[GV_WARP][GV_COMMON_APART] __attribute__((visibility("hidden")));

// Returns what multiplies operands of this type.
gv_warp_work *gv_work_of_common(int type);

int gv_may_stay_in_place(const void *at, uint32_t bytes);

// Whether a postponed instruction changes an operand, which is then used in its place, and is marked as a whole.
static inline int gv_stays_in_place(const void *at, uint32_t bytes)
{
    uintptr_t from = (uintptr_t)at;
    if (from >= gv_now.changing_end || from + bytes <= gv_now.changing_from) return 0;
    return gv_may_stay_in_place(at, bytes);
}

// Postpones a product of the running lane, which has room for it (gv_has_room).
static inline __attribute__((always_inline)) void gv_keep_common(
    float *d, const uint32_t *a, const uint32_t *b, gv_warp_work *work, uintptr_t pc)
{
    enum { BYTES_A = 16, BYTES_B = 8, BYTES_D = 16 };
    gv_postpone_further(work, pc);
    gv_will_change((uintptr_t)d, BYTES_D);
    gv_lane_mma *p = &gv_kept_common[gv_lane_now()][gv_now.postponed - 1];
    uintptr_t sums = (uintptr_t)d;
    if (__builtin_expect(gv_stays_in_place(a, BYTES_A), 0)) {
        memcpy(p->a, &a, sizeof a);
        sums |= GV_A_IN_PLACE;
    } else {
        memcpy(p->a, a, BYTES_A);
    }
    if (__builtin_expect(gv_stays_in_place(b, BYTES_B), 0)) {
        memcpy(p->b, &b, sizeof b);
        sums |= GV_B_IN_PLACE;
    } else { // word by word: mostly they were just written, and a wider load would wait for the stores
        p->b[0] = ((const volatile uint32_t *)b)[0];
        p->b[1] = ((const volatile uint32_t *)b)[1];
    }
    p->sums = (float *)sums;
}
