#include "watched.h"
#include <string.h>

gv_watched gv_known[GV_MAX_ARRAYS];

void gv_watch_none(void) { memset(gv_known, 0, sizeof gv_known); }

void gv_watch(uint32_t i)
{
    const gv_array *a = &gv_now.run->array[i];
    uint32_t size = a->itemsize, shift = size & (size - 1) ? GV_NO_SHIFT : (uint32_t)__builtin_ctz(size);
    uint64_t bytes = a->scratch == GV_SCRATCH_FLAGS ? 0 : a->bytes;
    gv_known[i] = (gv_watched){a->start, bytes, size, shift, (uint8_t)a->number, 0, 0, a->floats};
    for (uint32_t part = 0; part < i; part++)
        if (gv_now.run->array[part].inside && gv_now.run->array[part].start - a->start < a->bytes)
            gv_known[i].has_parts = 1;
}
