#include "kept_mma.h"

gv_lane_mma gv_kept_common[GV_WARP][GV_COMMON_APART] __attribute__((aligned(64)));

static void take_operands(gv_lane_mma *p, int which)
{
    const void *at;
    if (which & GV_A_IN_PLACE) {
        memcpy(&at, p->a, sizeof at);
        memcpy(p->a, at, sizeof p->a);
    }
    if (which & GV_B_IN_PLACE) {
        memcpy(&at, p->b, sizeof at);
        memcpy(p->b, at, sizeof p->b);
    }
    p->sums = (float *)((uintptr_t)p->sums - (uintptr_t)which);
}

static void multiply_kept(void *posted[GV_WARP], int type)
{
    uint32_t number = (uint32_t)((gv_arguments(*)[GV_WARP])posted[0] - gv_kept);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        gv_lane_mma *p = &gv_kept_common[lane][number];
        int which = (uintptr_t)p->sums & (GV_A_IN_PLACE | GV_B_IN_PLACE);
        if (which) take_operands(p, which);
    }
    gv_multiply_common(&gv_kept_common[0][number], GV_COMMON_APART, type);
}

static void multiply_halves(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    multiply_kept(posted, GV_HALF);
}

static void multiply_bfloats(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    multiply_kept(posted, GV_BFLOAT16);
}

gv_warp_work *gv_work_of_common(int type) { return type == GV_HALF ? multiply_halves : multiply_bfloats; }

int gv_may_stay_in_place(const void *at, uint32_t bytes)
{
    if (!gv_changes((uintptr_t)at, bytes)) return 0;
    gv_will_change((uintptr_t)at, bytes); // a part of it may be written otherwise
    return 1;
}
