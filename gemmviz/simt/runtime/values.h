// The values of elements: each is kept as a float, or as it is in memory.
#pragma once
#include "watched.h"
#include <string.h>

static inline uint32_t gv_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The element at an address, as the bits of a float.
static inline uint32_t gv_value_at(uintptr_t address, const gv_watched *array)
{
    uint32_t bits;
    uint16_t half;
    double wide;
    int64_t whole;
    switch (array->number) {
    case GV_NUMBER_FLOAT: memcpy(&bits, (void *)address, 4); return bits;
    case GV_NUMBER_SMALL:
        if (array->itemsize == 1) return array->floats[*(uint8_t *)address];
        memcpy(&half, (void *)address, 2);
        return array->floats[half];
    case GV_NUMBER_DOUBLE: memcpy(&wide, (void *)address, sizeof wide); return gv_bits_of((float)wide);
    case GV_NUMBER_INT: memcpy(&bits, (void *)address, 4); return gv_bits_of((float)(int32_t)bits);
    case GV_NUMBER_UNSIGNED: memcpy(&bits, (void *)address, 4); return gv_bits_of((float)bits);
    case GV_NUMBER_LONG: memcpy(&whole, (void *)address, sizeof whole); return gv_bits_of((float)whole);
    default: return 0x7fc00000; // NaN
    }
}

// The words of 4 bytes that keep the further elements of an access: small ones as they are, the others as floats.
static inline uint32_t gv_words_of(const gv_watched *a, uint32_t further)
{
    return a->itemsize > 2 ? further : (further * (uint32_t)a->itemsize + 3) / 4;
}

// Keeps the values of an access: that of the first element, and separately the others, as few accesses have any.
static inline void gv_keep_values(
    uint32_t *value, uint32_t *to, const gv_watched *a, uintptr_t at, uint32_t further)
{
    *value = gv_value_at(at, a);
    if (!further) return;
    const char *from = (const char *)at + a->itemsize;
    if (a->number == GV_NUMBER_FLOAT && further == 3) { // 16 bytes
        memcpy(to, from, 12);
    } else if (a->itemsize == 2 && further == 1) {
        *to = 0;
        memcpy(to, from, 2);
    } else if (a->itemsize == 2 && further == 7) {
        memcpy(to, from, 12);
        to[3] = 0;
        memcpy(&to[3], from + 12, 2);
    } else if (a->number == GV_NUMBER_FLOAT) {
        for (uint32_t i = 0; i < further; i++) memcpy(&to[i], from + 4 * i, 4);
    } else if (a->itemsize <= 2) {
        uint32_t bytes = further * (uint32_t)a->itemsize, last = bytes / 4;
        for (uint32_t i = 0; i < last; i++) memcpy(&to[i], from + 4 * i, 4);
        if (bytes % 4) {
            to[last] = 0;
            memcpy(&to[last], from + 4 * last, bytes % 4);
        }
    } else {
        for (uint32_t i = 0; i < further; i++) to[i] = gv_value_at((uintptr_t)from + (uintptr_t)i * a->itemsize, a);
    }
}

// The same for accesses of 16 bytes to one array, one after another in `value` and `to`. The data is `away` bytes from
// the addresses.
static inline void gv_keep_pieces(
    uint32_t *value, uint32_t *to, const gv_watched *a, const uintptr_t *at, intptr_t away, uint32_t count)
{
    uint32_t size = a->itemsize;
    if (a->number == GV_NUMBER_FLOAT) {
        for (uint32_t i = 0; i < count; i++, to += 3) {
            const char *from = (const char *)at[i] + away;
            memcpy(&value[i], from, 4);
            memcpy(to, from + 4, 12);
        }
    } else if (a->number == GV_NUMBER_SMALL) { // the words are little-endian
        const uint32_t *floats = a->floats;
        for (uint32_t i = 0; i < count; i++, to += 4) {
            const char *from = (const char *)at[i] + away;
            uint32_t first, last;
            memcpy(&first, from, 4);
            memcpy(&last, from + 12, 4);
            value[i] = floats[size == 1 ? (uint8_t)first : (uint16_t)first];
            memcpy(to, from + size, 12);
            to[3] = last >> 8 * size;
        }
    } else {
        uint32_t further = size < GV_PIECE_BYTES ? GV_PIECE_BYTES / size - 1 : 0;
        for (uint32_t i = 0; i < count; i++, to += gv_words_of(a, further))
            gv_keep_values(&value[i], to, a, at[i] + away, further);
    }
}
