// Products of the common form that a lane has postponed: see mma_tiles.h and postponed.h.
#pragma once
#include "mma_tiles.h"
#include "postponed.h"

// A lane keeps its own products side by side; those of the next lane are in another set of the cache. Registers of A
// that are those of the product before are not kept again.
enum { GV_COMMON_APART = GV_MOST_POSTPONED + 4 };
extern gv_lane_mma gv_kept_common[GV_WARP][GV_COMMON_APART] __attribute__((visibility("hidden")));
extern gv_lane_a gv_kept_a[GV_WARP][GV_COMMON_APART] __attribute__((visibility("hidden")));

// Returns what multiplies operands of this type.
gv_warp_work *gv_work_of_common(int type);

// Whether no postponed instruction of the running lane changes the operands of a product.
static inline int gv_keeps_common(const void *a, const void *b)
{
    enum { BYTES_A = 16, BYTES_B = 8 };
    return !gv_changes((uintptr_t)a, BYTES_A) && !gv_changes((uintptr_t)b, BYTES_B);
}

// Postpones a product of the running lane, which has room for it (gv_has_room), with operands that are as they will be.
static inline __attribute__((always_inline)) void gv_keep_common(
    float *d, const uint32_t *a, const uint32_t *b, gv_warp_work *work, uintptr_t pc)
{
    enum { BYTES_D = 16 };
    gv_postpone_further(work, pc);
    gv_will_change((uintptr_t)d, BYTES_D);
    uint32_t lane = gv_lane_now(), number = gv_now.kept_as;
    gv_lane_mma *p = &gv_kept_common[lane][gv_now.postponed - 1];
    gv_lane_a *all = gv_kept_a[lane];
    if (!number || memcmp(&all[number - 1], a, sizeof *all)) {
        memcpy(&all[number], a, sizeof *all);
        gv_now.kept_as = ++number;
    }
    // Word by word: mostly they were just written, and a wider load would wait for the stores.
    p->b[0] = ((const volatile uint32_t *)b)[0];
    p->b[1] = ((const volatile uint32_t *)b)[1];
    p->sums = (uintptr_t)d | (uint64_t)(number - 1) << GV_NUMBER_SHIFT;
}
