#include "kept_mma.h"

gv_lane_mma gv_kept_common[GV_WARP][GV_COMMON_APART] __attribute__((aligned(64)));
gv_lane_a gv_kept_a[GV_WARP][GV_COMMON_APART] __attribute__((aligned(64)));

static void multiply_kept(void *posted[GV_WARP], int type)
{
    uint32_t number = (uint32_t)((gv_arguments(*)[GV_WARP])posted[0] - gv_kept);
    gv_multiply_common(&gv_kept_common[0][number], gv_kept_a[0], GV_COMMON_APART, type, gv_postponed_round + 1);
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
