#define _GNU_SOURCE
#include "ownership.h"
#include "stop.h"
#include "watched.h"
#include <sys/mman.h>

enum { C_ARRAY = 2 };

static uint32_t *owner; // of each element of C: block + 1, or 0; this process and its workers share it
static size_t owner_bytes;

int gv_ownership_begin(void)
{
    const gv_array *c = &gv_now.run->array[C_ARRAY];
    owner_bytes = (c->bytes / c->itemsize + 1) * sizeof *owner;
    owner = mmap(NULL, owner_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (owner == MAP_FAILED) owner = NULL;
    return owner != NULL;
}

void gv_ownership_end(void)
{
    if (owner) munmap(owner, owner_bytes);
    owner = NULL;
}

void gv_watch_ownership(int on)
{
    for (uint32_t i = 0; i < gv_now.run->arrays; i++) gv_known[i].owned = on && !gv_now.run->array[i].shared;
}

void gv_needs_one_process(void)
{
    if (gv_now.sharing == GV_IN_WORKER) gv_stop(GV_ONE_PROCESS);
    if (gv_now.sharing == GV_FIRST_BLOCK) gv_watch_ownership(0);
    gv_now.sharing = GV_ONE_AFTER_ANOTHER;
}

void gv_unwatched_write(uintptr_t at)
{
    if (gv_now.sharing && !gv_on_stack(at)) gv_needs_one_process();
}

void gv_global_needs_one_process(uintptr_t at)
{
    if (!gv_now.sharing) return;
    for (uint32_t i = 0; i < gv_now.run->arrays; i++) {
        const gv_array *a = &gv_now.run->array[i];
        if (a->shared && at - a->start < a->bytes) return;
    }
    gv_needs_one_process();
}

// All blocks read A and B; an element of C belongs to the block that accesses it first.
void gv_own_elements(uint32_t array, uint64_t first, uint64_t last, int write)
{
    uint32_t mine = gv_now.block + 1;
    if (array != C_ARRAY) {
        if (write) gv_needs_one_process();
        return;
    }
    for (uint64_t e = first; e <= last; e++) {
        uint32_t now = __atomic_load_n(&owner[e], __ATOMIC_RELAXED);
        if (now == mine) continue;
        if (now || !__atomic_compare_exchange_n(&owner[e], &now, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            gv_needs_one_process();
            return;
        }
    }
}
