#include "watched.h"
#include <string.h>

gv_watched gv_known[GV_MAX_ARRAYS];

void gv_watch_none(void) { memset(gv_known, 0, sizeof gv_known); }

void gv_watch(uint32_t i)
{
    const gv_array *a = &gv_now.run->array[i];
    uint32_t size = a->itemsize, shift = size & (size - 1) ? GV_NO_SHIFT : (uint32_t)__builtin_ctz(size);
    uint8_t value = a->doubles  ? GV_VALUE_DOUBLE
                    : size >= 4 ? GV_VALUE_4
                    : size == 2 ? GV_VALUE_2
                    : size == 1 ? GV_VALUE_1
                                : GV_VALUE_ODD;
    gv_known[i] = (gv_watched){a->start, a->bytes, size, shift, value, 0};
}
