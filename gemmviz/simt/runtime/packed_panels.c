// Arrays that a kernel allocates while it runs: packed copies of parts of a matrix, with names. See gemmviz/panel.h.
#define _GNU_SOURCE
#include "packed_panels.h"
#include "kernel_calls/c_kernels.h"
#include "stop.h"
#include "watched.h"
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 1 << 16 };
static gv_panels made[GV_MAX_ARRAYS];
static struct {
    char *memory;
    size_t bytes;
    int in_use;
} held[GV_MAX_ARRAYS];
static uint32_t count;

uint32_t gv_panels_made(const gv_panels **all)
{
    *all = made;
    return count;
}

// The arrays of the last run are freed when the next run begins, so that their addresses stay valid until then.
void gv_panels_begin(void)
{
    for (uint32_t i = 0; i < count; i++) munmap(held[i].memory, held[i].bytes);
    memset(made, 0, sizeof made);
    memset(held, 0, sizeof held);
    count = 0;
}

float *gv_panels_new(const char *name, uint32_t number, uint32_t depth, uint32_t width)
{
    gv_run *r = gv_now.run;
    uint32_t shape[3] = {number, depth, width};
    size_t bytes = (size_t)number * depth * width * sizeof(float);
    uint32_t i = 0;
    // A kernel that allocates the same array again, block after block, has one array.
    for (; i < count; i++)
        if (!held[i].in_use && !memcmp(made[i].shape, shape, sizeof shape) && !strcmp(made[i].name, name)) break;
    if (i == count) {
        if (r->arrays == GV_MAX_ARRAYS) gv_stop(GV_NO_MEMORY);
        size_t room = (bytes + 63) / 64 * 64 + 2 * GUARD;
        char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) gv_stop(GV_NO_MEMORY);
        held[i].memory = memory;
        held[i].bytes = room;
        strncpy(made[i].name, name, GV_PANEL_NAME - 1);
        memcpy(made[i].shape, shape, sizeof shape);
        made[i].array = r->arrays;
        gv_array *a = &r->array[r->arrays];
        memset(a, 0, sizeof *a);
        a->start = (uintptr_t)memory + GUARD;
        a->bytes = bytes;
        a->guard = GUARD;
        a->itemsize = sizeof(float);
        a->shared = 1; // the block's own
        gv_watch(r->arrays++);
        count++;
    }
    held[i].in_use = 1;
    float *start = (float *)(held[i].memory + GUARD);
    memset(start, 0xff, bytes); // NaNs, so that a read of uninitialised memory shows
    return start;
}

void gv_panels_free(float *memory)
{
    for (uint32_t i = 0; i < count; i++)
        if (held[i].memory + GUARD == (char *)memory) held[i].in_use = 0;
}
