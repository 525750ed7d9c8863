// The sums of a warpgroup's products while nobody may use them.
#pragma once
#include "kernel_calls/wmma.h"
#include <stdint.h>
#include <string.h>

enum { COLUMNS = 256, SUMS = COLUMNS / 2 };
enum { NOT_A_NUMBER = 0xff, IMPROBABLE = 0xa5 }; // bytes of sums that have not been waited for

// The sums of a thread after its wait, in `count` registers: from `d` on, or (if `apart` is not NULL) at these
// distances from `d`, in bytes.
typedef struct {
    uint32_t *d;
    intptr_t *apart;
    uint32_t count, group;
    union {
        uint32_t bits[SUMS];
        float real[SUMS];
        int32_t whole[SUMS];
        _Float16 half[2 * SUMS];
    } value;
} sums;

static inline double old_sum(const sums *s, int type, uint32_t i)
{
    return type == GV_FLOAT ? s->value.real[i] : type == GV_HALF ? (double)s->value.half[i] : s->value.whole[i];
}

static inline void put_sum(sums *s, int type, uint32_t i, double sum)
{
    if (type == GV_FLOAT) s->value.real[i] = (float)sum;
    else if (type == GV_HALF) s->value.half[i] = (_Float16)(float)sum;
    else if (type == GV_S32_CLAMPED && (sum > INT32_MAX || sum < INT32_MIN))
        s->value.whole[i] = sum > 0 ? INT32_MAX : INT32_MIN;
    else s->value.whole[i] = (int32_t)(uint32_t)(int64_t)sum;
}

static inline uint32_t *register_of(const sums *s, uint32_t i) { return (uint32_t *)((char *)s->d + s->apart[i]); }

// Takes the values of the registers, unless the first product replaces them (`add` is 0), and leaves bytes there that
// are no result. `apart`: where each is, or NULL; then `distances` is not used.
static inline void take(
    sums *s, uint32_t *d, uint32_t *const *apart, intptr_t *distances, uint32_t count, int type, int add)
{
    int byte = type == GV_FLOAT || type == GV_HALF ? NOT_A_NUMBER : IMPROBABLE;
    s->d = d;
    s->count = count;
    s->apart = apart ? distances : NULL;
    if (!apart) {
        if (add) memcpy(s->value.bits, d, count * sizeof *d);
        memset(d, byte, count * sizeof *d);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->apart[i] = (char *)apart[i] - (char *)d;
        memcpy(&s->value.bits[i], apart[i], sizeof *d);
        memset(apart[i], byte, sizeof *d);
    }
}

// Writes the sums to their registers.
static inline void put_back(const sums *s)
{
    if (!s->apart) memcpy(s->d, s->value.bits, s->count * sizeof *s->d);
    else
        for (uint32_t i = 0; i < s->count; i++) memcpy(register_of(s, i), &s->value.bits[i], sizeof *s->d);
}
