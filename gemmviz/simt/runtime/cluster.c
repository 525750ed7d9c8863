#include "cluster.h"
#include "fibres.h"
#include <stdlib.h>
#include <string.h>

static char *shared_of[GV_MAX_CLUSTER]; // contents of the shared arrays of blocks that do not run

int gv_cluster_begin(void)
{
    size_t bytes = 1;
    memset(shared_of, 0, sizeof shared_of);
    for (uint32_t i = 0; i < gv_now.run->arrays; i++)
        if (gv_now.run->array[i].shared) bytes += gv_now.run->array[i].bytes;
    for (uint32_t m = 0; gv_cluster.blocks > 1 && m < gv_cluster.blocks; m++)
        if (!(shared_of[m] = malloc(bytes))) return 0;
    return 1;
}

void gv_cluster_end(void)
{
    for (uint32_t m = 0; m < gv_cluster.blocks; m++) free(shared_of[m]);
}

void gv_cluster_clear(void)
{
    const gv_run *r = gv_now.run;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < r->arrays; i++) {
        if (!r->array[i].shared) continue;
        memset((void *)r->array[i].start, 0xff, r->array[i].bytes);
        if (!r->array[i].inside) kept += r->array[i].bytes;
    }
    for (uint32_t m = 0; gv_cluster.blocks > 1 && m < gv_cluster.blocks; m++) memset(shared_of[m], 0xff, kept);
}

// The kernel's shared arrays hold the data of the running block; the data of the other blocks is kept elsewhere.
void gv_switch_block(uint32_t rank)
{
    gv_run *r = gv_now.run;
    const uint32_t *s = r->grid;
    if (rank != gv_now.rank) {
        char *mine = shared_of[gv_now.rank], *theirs = shared_of[rank];
        for (uint32_t i = 0; i < r->arrays; i++) {
            const gv_array *a = &r->array[i];
            if (!a->shared || a->inside) continue;
            memcpy(mine, (void *)a->start, a->bytes);
            memcpy((void *)a->start, theirs, a->bytes);
            mine += a->bytes;
            theirs += a->bytes;
        }
    }
    uint32_t block = gv_now.block - gv_now.rank + rank;
    gv_now.rank = rank;
    gv_now.block = block;
    gv_cluster.block_index = (uint3){block % s[0], block / s[0] % s[1], block / (s[0] * s[1])};
}

void gv_in_name_of(uint32_t rank, uint32_t thread, void (*what)(void *), void *with)
{
    uint32_t before = gv_now.rank, me = gv_now.thread, turn = gv_now.turn;
    gv_mark_made();
    gv_switch_block(rank);
    gv_now.thread = thread;
    gv_now.turn = gv_running_fibre()->turn;
    what(with);
    gv_mark_made();
    gv_switch_block(before);
    gv_now.thread = me;
    gv_now.turn = turn;
}
