#include "block_memory.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE = 4096 };

// A shared array that is no part of another one. Its data begins at a multiple of PIECE in the memory of each block.
typedef struct {
    uintptr_t start;
    uint64_t bytes, first; // first: its first piece
} part;

static part parts[GV_MAX_ARRAYS];
static uint32_t part_count;
static uint64_t pieces;
static uint8_t *rank_of;             // the block whose data each piece holds
static char *kept[GV_MAX_CLUSTER];   // the data of the other blocks

int gv_block_memory_begin(void)
{
    const gv_run *r = gv_now.run;
    memset(kept, 0, sizeof kept);
    rank_of = NULL;
    part_count = 0;
    pieces = 0;
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (!a->shared || a->inside) continue;
        parts[part_count++] = (part){a->start, a->bytes, pieces};
        pieces += (a->bytes + PIECE - 1) / PIECE;
    }
    gv_now.brings = r->cluster > 1;
    if (!gv_now.brings) return 1;
    rank_of = malloc(pieces + 1);
    for (uint32_t m = 0; m < r->cluster; m++)
        if (!(kept[m] = malloc(pieces * PIECE + 1))) return 0;
    return rank_of != NULL;
}

void gv_block_memory_end(void)
{
    for (uint32_t m = 0; m < GV_MAX_CLUSTER; m++) free(kept[m]);
    free(rank_of);
}

void gv_block_memory_clear(void)
{
    for (uint32_t i = 0; i < part_count; i++) memset((void *)parts[i].start, 0xff, parts[i].bytes);
    if (!gv_now.brings) return;
    memset(rank_of, 0, pieces);
    gv_forget_brought();
    for (uint32_t m = 0; m < gv_now.run->cluster; m++) memset(kept[m], 0xff, pieces * PIECE);
}

static void exchange(const part *p, uint64_t piece)
{
    uint64_t from = (piece - p->first) * PIECE, left = p->bytes - from;
    char *here = (char *)p->start + from;
    size_t bytes = left < PIECE ? left : PIECE;
    memcpy(kept[rank_of[piece]] + piece * PIECE, here, bytes);
    memcpy(here, kept[gv_now.rank] + piece * PIECE, bytes);
    rank_of[piece] = (uint8_t)gv_now.rank;
}

void gv_bring_memory(uintptr_t at, uint64_t bytes)
{
    uintptr_t known = at, known_end = at + bytes;
    for (uint32_t i = 0; i < part_count; i++) {
        const part *p = &parts[i];
        uintptr_t first = at > p->start ? at : p->start, end = at + bytes;
        if (end > p->start + p->bytes) end = p->start + p->bytes;
        if (first >= end) continue;
        uint64_t from = (first - p->start) / PIECE, to = (end - 1 - p->start) / PIECE;
        for (uint64_t n = from; n <= to; n++)
            if (rank_of[p->first + n] != gv_now.rank) exchange(p, p->first + n);
        if (first > at || end < at + bytes) continue;
        known = p->start + from * PIECE;
        known_end = p->start + (to + 1) * PIECE;
        if (known_end > p->start + p->bytes) known_end = p->start + p->bytes;
    }
    gv_now.brought[1] = gv_now.brought[0];
    gv_now.brought[0].at = known;
    gv_now.brought[0].end = known_end;
}

intptr_t gv_away(uintptr_t at, uint64_t bytes)
{
    for (uint32_t i = 0; i < part_count; i++) {
        const part *p = &parts[i];
        if (at - p->start >= p->bytes || at + bytes > p->start + p->bytes) continue;
        uint64_t from = p->first + (at - p->start) / PIECE, to = p->first + (at + bytes - 1 - p->start) / PIECE;
        uint64_t away = 0;
        for (uint64_t n = from; n <= to; n++) away += rank_of[n] != gv_now.rank;
        if (away <= to - from) break;
        return (intptr_t)(kept[gv_now.rank] + p->first * PIECE) - (intptr_t)p->start;
    }
    gv_bring_memory(at, bytes);
    return 0;
}
