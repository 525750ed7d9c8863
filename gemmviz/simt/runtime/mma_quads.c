// mma.m8n8k4 of halves: four products of 8 x 8 x 4, product q by the lanes 4 q to 4 q + 3 and the same 16 lanes
// further. Rules: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type".
#include "kernel_calls/wmma.h"
#include "fibres.h"

enum { SIDE = 8, DEPTH = 4, QUADS = 4 };

typedef struct {
    void *d;
    const _Float16 *a, *b;
    const void *c;
    int d_type, c_type, a_by_columns, b_by_columns;
} product;

// For A by rows and B by columns, a lane holds 4 elements along K; else 4 elements along M (N) for one k.
static float element(const _Float16 *x, int by_k, uint32_t lane_in_quad, uint32_t upper, uint32_t i, uint32_t *at)
{
    at[0] = by_k ? lane_in_quad + 4 * upper : i + 4 * upper; // of M or N
    at[1] = by_k ? i : lane_in_quad;                         // of K
    return (float)x[i];
}

static void place(int type, uint32_t lane, uint32_t upper, uint32_t i, uint32_t *row, uint32_t *column)
{
    if (type == GV_HALF) {
        *row = lane % 4 + 4 * upper;
        *column = i;
    } else {
        *row = (lane & 1) + (i & 2) + 4 * upper;
        *column = (i & 4) + (lane & 2) + (i & 1);
    }
}

static void multiply(void *posted[GV_WARP], uint32_t mask)
{
    (void)mask;
    for (uint32_t quad = 0; quad < QUADS; quad++) {
        double a[SIDE][DEPTH], b[SIDE][DEPTH], sum[SIDE][SIDE];
        for (uint32_t upper = 0; upper < 2; upper++)
            for (uint32_t within = 0; within < 4; within++) {
                uint32_t lane = 4 * quad + within + 16 * upper, at[2], row, column;
                const product *p = posted[lane];
                for (uint32_t i = 0; i < DEPTH; i++) {
                    float value = element(p->a, !p->a_by_columns, within, upper, i, at);
                    a[at[0]][at[1]] = value;
                    value = element(p->b, p->b_by_columns, within, upper, i, at);
                    b[at[0]][at[1]] = value;
                }
                for (uint32_t i = 0; i < SIDE; i++) {
                    place(p->c_type, lane, upper, i, &row, &column);
                    sum[row][column] = p->c_type == GV_HALF ? (double)((const _Float16 *)p->c)[i]
                                                            : ((const float *)p->c)[i];
                }
            }
        for (uint32_t row = 0; row < SIDE; row++)
            for (uint32_t column = 0; column < SIDE; column++)
                for (uint32_t k = 0; k < DEPTH; k++) sum[row][column] += a[row][k] * b[column][k];
        for (uint32_t i = 0; i < 2 * 4 * SIDE; i++) {
            uint32_t upper = i / SIDE / 4, lane = 4 * quad + i / SIDE % 4 + 16 * upper, row, column;
            const product *p = posted[lane];
            place(p->d_type, lane, upper, i % SIDE, &row, &column);
            if (p->d_type == GV_HALF) ((_Float16 *)p->d)[i % SIDE] = (_Float16)(float)sum[row][column];
            else ((float *)p->d)[i % SIDE] = (float)sum[row][column];
        }
    }
}

void gv_mma_quads(
    void *d, int d_type, const void *a, const void *b, const void *c, int c_type, int a_by_columns, int b_by_columns)
{
    gv_catch_up();
    product mine = {d, a, b, c, d_type, c_type, a_by_columns, b_by_columns};
    if (gv_lanes() != ~0u) gv_no_warp(GV_PC);
    gv_work_together(GV_WARP);
    gv_warp_instruction(~0u, &mine, multiply, GV_PC);
}
