#include "cluster.h"
#include "block_memory.h"
#include "fibres.h"

// The data of its shared arrays is brought when it is used: see block_memory.h.
void gv_switch_block(uint32_t rank)
{
    const uint32_t *s = gv_now.run->grid;
    uint32_t block = gv_now.block - gv_now.rank + rank;
    if (rank != gv_now.rank) gv_forget_brought();
    gv_now.rank = rank;
    gv_now.block = block;
    gv_cluster.block_index = (uint3){block % s[0], block / s[0] % s[1], block / (s[0] * s[1])};
}

void gv_in_name_of(uint32_t rank, uint32_t thread, void (*what)(void *), void *with)
{
    uint32_t before = gv_now.rank, me = gv_now.thread, turn = gv_now.turn;
    if (gv_now.keep_rows) gv_now.keep_rows();
    gv_mark_made();
    gv_switch_block(rank);
    gv_now.thread = thread;
    gv_now.turn = gv_cluster.turns[gv_number_now()];
    what(with);
    gv_mark_made();
    gv_switch_block(before);
    gv_now.thread = me;
    gv_now.turn = turn;
}
