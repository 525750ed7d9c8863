#include "foreseen.h"
#include "last_access.h"
#include "stop.h"
#include <string.h>

enum { MOST_KNOWN = 1024, PLACE_BITS = 16 };
static gv_known_rows known[MOST_KNOWN]; // from 1 on
static uint32_t learned;
static uint16_t numbers[1 << PLACE_BITS]; // of each lane of each of them, at its place or beside it
static int was_wrong;                     // in this kernel the rows cannot be foreseen

void gv_foreseen_begin(void)
{
    if (learned) memset(numbers, 0, sizeof numbers);
    learned = 0;
}

static uint32_t place(uint32_t row, uint32_t lane, uintptr_t pc)
{
    uint64_t mixed = (row ^ (uint64_t)pc << 32 ^ (uint64_t)lane << 27) * 0x9e3779b97f4a7c15;
    return (uint32_t)(mixed >> (64 - PLACE_BITS));
}

const gv_known_rows *gv_find_rows(const char *at, uint32_t count, uintptr_t pc)
{
    uint32_t lane = gv_lane_now(), row = (uint32_t)(uintptr_t)at, first = place(row, lane, pc);
    if (was_wrong || gv_now.run->count_only) return NULL; // a count does not notice writes
    for (uint32_t i = 0; i < 2; i++) {
        uint16_t number = numbers[first ^ i];
        const gv_known_rows *k = &known[number];
        if (number && k->pc == pc && k->count == count && k->row[lane] == row) return k;
    }
    return NULL;
}

// A write to the rows must be noticed: they are in an array.
static int are_watched(char *const rows[GV_WARP], uint32_t count, uintptr_t pc)
{
    const gv_last_access *l = gv_last_of(pc);
    int all = l->key == gv_key_of(pc) && (l->plain == GV_PLAIN || l->plain == GV_PLAIN_BROUGHT);
    for (uint32_t lane = 0; lane < count; lane++) all &= (uintptr_t)rows[lane] - l->start <= l->last;
    return all;
}

void gv_learn_rows(char *const rows[GV_WARP], uint32_t count, uintptr_t pc)
{
    if (!are_watched(rows, count, pc)) return;
    uint32_t number = learned++ % (MOST_KNOWN - 1) + 1;
    gv_known_rows *k = &known[number];
    k->pc = pc;
    k->count = count;
    for (uint32_t lane = 0; lane < count; lane++) {
        k->row[lane] = (uint32_t)(uintptr_t)rows[lane];
        uint32_t at = place(k->row[lane], lane, pc);
        numbers[numbers[at] ? at ^ 1 : at] = (uint16_t)number;
    }
}

void gv_not_foreseen(void)
{
    was_wrong = 1;
    gv_stop(GV_AGAIN);
}
