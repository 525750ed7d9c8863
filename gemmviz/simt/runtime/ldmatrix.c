// ldmatrix and stmatrix: a warp moves 1, 2 or 4 matrices of 8 x 8 halves between shared memory and registers. Rules:
// PTX ISA, "ldmatrix" and "stmatrix". A row of a matrix is 16 bytes. The lane that gives its address reads or writes
// it.
#include "kernel_calls/wmma.h"
#include "access.h"
#include "block_memory.h"
#include "foreseen.h"
#include "postponed.h"
#include "shared_memory.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROW_BYTES = 16, SIDE = 8, MOST = 4 /* matrices */ };

typedef struct {
    uint32_t *r;
    char *row; // in memory, or (for a store) a copy of the new data
    uint32_t count;
    int transposed;
    uintptr_t pc;
} matrices;

// In the present round: loads that the first lane to arrive has made for all lanes of its warp (`known` NULL: has not).
static struct {
    uint64_t round;
    const gv_known_rows *known;
    int transposed;
    uint32_t of_lane[GV_WARP][MOST];
} made[GV_MOST_POSTPONED];

// Lane l holds two adjacent elements of row l / 4, from 2 (l % 4) on: side by side, the registers of the lanes are the
// rows. Transposed, it holds those of column l / 4: so they are the rows of the transposed matrix.
#if defined(__x86_64__)
static inline void transpose(uint32_t *words)
{
    __m128i row[SIDE], two[SIDE], four[SIDE];
    for (int i = 0; i < SIDE; i++) row[i] = _mm_loadu_si128((const __m128i *)words + i);
    for (int i = 0; i < SIDE / 2; i++) {
        two[2 * i] = _mm_unpacklo_epi16(row[i], row[i + 4]);
        two[2 * i + 1] = _mm_unpackhi_epi16(row[i], row[i + 4]);
    }
    for (int i = 0; i < SIDE / 2; i++) {
        four[2 * i] = _mm_unpacklo_epi16(two[i], two[i + 4]);
        four[2 * i + 1] = _mm_unpackhi_epi16(two[i], two[i + 4]);
    }
    for (int i = 0; i < SIDE / 2; i++) {
        _mm_storeu_si128((__m128i *)words + 2 * i, _mm_unpacklo_epi16(four[i], four[i + 4]));
        _mm_storeu_si128((__m128i *)words + 2 * i + 1, _mm_unpackhi_epi16(four[i], four[i + 4]));
    }
}
#else
static inline void transpose(uint32_t *words)
{
    uint16_t element[SIDE][SIDE];
    memcpy(element, words, sizeof element);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        uint32_t row = 2 * (lane % 4), column = lane / 4;
        words[lane] = element[row][column] | (uint32_t)element[row + 1][column] << 16;
    }
}
#endif

// Gives each lane its word of each matrix.
static inline __attribute__((always_inline)) void deal(
    uint32_t of_lane[GV_WARP][MOST], uint32_t words[MOST][GV_WARP], uint32_t count)
{
#if defined(__x86_64__)
    for (uint32_t lane = 0; count == MOST && lane < GV_WARP; lane += MOST) {
        __m128 w[MOST];
        for (uint32_t i = 0; i < MOST; i++) w[i] = _mm_loadu_ps((const float *)&words[i][lane]);
        _MM_TRANSPOSE4_PS(w[0], w[1], w[2], w[3]);
        for (uint32_t i = 0; i < MOST; i++) _mm_storeu_ps((float *)of_lane[lane + i], w[i]);
    }
    if (count == MOST) return;
#endif
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t i = 0; i < count; i++) of_lane[lane][i] = words[i][lane];
}

// Of each lane the registers of its matrices.
static inline __attribute__((always_inline)) void gather(
    uint32_t of_lane[GV_WARP][MOST], char *const rows[GV_WARP], uint32_t count, int transposed)
{
    uint32_t words[MOST][GV_WARP];
    for (uint32_t lane = 0; lane < SIDE * count; lane++) {
        gv_bring(rows[lane], ROW_BYTES);
        memcpy((char *)words + lane * ROW_BYTES, rows[lane], ROW_BYTES);
    }
    for (uint32_t i = 0; i < count && transposed; i++) transpose(words[i]);
    deal(of_lane, words, count);
}

static void gather_rows(uint32_t of_lane[GV_WARP][MOST], char *const rows[GV_WARP], uint32_t count, int transposed)
{
    switch (count) { // the compiler knows each number
    case 1: gather(of_lane, rows, 1, transposed); break;
    case 2: gather(of_lane, rows, 2, transposed); break;
    default: gather(of_lane, rows, MOST, transposed);
    }
}

static void load(void *posted[GV_WARP], uint32_t mask)
{
    uint32_t of_lane[GV_WARP][MOST];
    char *rows[GV_WARP];
    const matrices *all = posted[0];
    (void)mask;
    for (uint32_t lane = 0; lane < GV_WARP; lane++) rows[lane] = ((const matrices *)posted[lane])->row;
    gather_rows(of_lane, rows, all->count, all->transposed);
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const matrices *its = posted[lane];
        for (uint32_t i = 0; i < its->count; i++) its->r[i] = of_lane[lane][i];
    }
    if (!gv_now.run->at_once) gv_learn_rows(rows, SIDE * all->count, all->pc);
}

// The same for a load that is postponed, unless the first lane has made it: then each lane has its registers.
static void load_postponed(void *posted[GV_WARP], uint32_t mask)
{
    uint32_t number = (uint32_t)((gv_arguments(*)[GV_WARP])posted[0] - gv_kept);
    if (made[number].round != gv_postponed_round || !made[number].known) load(posted, mask);
}

// Each row is a copy of the new data.
static void store(void *posted[GV_WARP], uint32_t mask)
{
    const matrices *all = posted[0];
    (void)mask;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t words[GV_WARP];
        for (uint32_t lane = 0; lane < GV_WARP; lane++) words[lane] = ((const matrices *)posted[lane])->r[i];
        if (all->transposed) transpose(words);
        for (uint32_t row = 0; row < SIDE; row++)
            memcpy(((const matrices *)posted[SIDE * i + row])->row, words + row * 4, ROW_BYTES);
    }
}

// Returns the new values of the running lane's registers before all lanes have arrived; NULL if they are not known.
static inline const uint32_t *foreseen(uint32_t number, char *row, uint32_t count, int transposed, uintptr_t pc)
{
    uint32_t lane = gv_lane_now();
    if (made[number].round != gv_postponed_round) {
        made[number].round = gv_postponed_round;
        int names_none = lane >= SIDE * count;
        made[number].known = names_none ? NULL : gv_find_rows(row, SIDE * count, pc);
        made[number].transposed = transposed;
        if (made[number].known) {
            char *rows[GV_WARP];
            gv_rows_from(rows, made[number].known, row);
            gather_rows(made[number].of_lane, rows, count, transposed);
        }
    }
    if (!made[number].known) return NULL;
    gv_must_be_foreseen(made[number].known, row, SIDE * count, pc);
    if (made[number].transposed != transposed) gv_not_foreseen();
    return made[number].of_lane[lane];
}

void gv_ldmatrix(uint32_t *r, const void *row, uint32_t count, int transposed)
{
    uintptr_t pc = GV_PC;
    if (gv_lanes() != ~0u) gv_no_warp(pc);
    if (gv_changes((uintptr_t)r, count * sizeof *r)) gv_catch_up(); // what a postponed instruction writes comes before
    gv_before_new_site(pc);
    if (gv_lane_now() < 8 * count) {
        gv_must_be_shared(row, "ldmatrix", pc);
        gv_access_ahead((void *)row, ROW_BYTES, 0, pc);
    }
    gv_work_together(GV_WARP);
    if (gv_now.run->at_once) {
        matrices mine = {r, (char *)row, count, transposed, pc};
        gv_warp_instruction(~0u, &mine, load, pc);
        return;
    }
    matrices *kept = gv_postpone_work(load_postponed, pc);
    const uint32_t *values = foreseen(gv_now.postponed - 1, (char *)row, count, transposed, pc);
    if (!values) { // then all lanes are met here
        *kept = (matrices){r, (char *)row, count, transposed, pc};
        gv_catch_up();
        return;
    }
    if (count == MOST) memcpy(r, values, MOST * sizeof *r);
    else memcpy(r, values, count * sizeof *r);
}

void gv_stmatrix(void *row, const uint32_t *r, uint32_t count, int transposed)
{
    uintptr_t pc = GV_PC;
    gv_catch_up();
    char data[ROW_BYTES];
    matrices mine = {(uint32_t *)r, data, count, transposed, pc};
    if (gv_lanes() != ~0u) gv_no_warp(pc);
    gv_work_together(GV_WARP);
    gv_warp_instruction(~0u, &mine, store, pc);
    if (gv_lane_now() >= 8 * count) return;
    gv_must_be_shared(row, "stmatrix", pc);
    gv_access(row, ROW_BYTES, GV_WRITE, pc);
    memcpy(row, data, ROW_BYTES);
}
