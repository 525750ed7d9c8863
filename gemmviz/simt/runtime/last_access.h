// The array that an instruction accessed last, and how: usually it accesses the same array again in the same way. Then
// its row is kept here, in the function that the compiler calls, without a further call.
#pragma once
#include "access.h"
#include "stop.h"
#include "values.h"
#include <string.h>

// The last row is a write whose value is not yet in memory. `is` 2: a write for another block.
typedef struct {
    int is;
    uintptr_t address;
    uint64_t more;
    uint32_t further;
} gv_pending_write;
extern gv_pending_write gv_pending __attribute__((visibility("hidden")));

typedef struct {
    uintptr_t key;   // of the instruction; 0: none
    uintptr_t start; // of the array
    uint64_t last;   // the largest offset of an access of these bytes; valid if it is `plain`
    uint32_t bytes, further, words;
    uint16_t site;
    uint8_t array, shift, number, plain; // plain: nothing needs to be looked at but the place and the room
    uint8_t itemsize;                    // if it is `plain`
    const uint32_t *floats;              // GV_NUMBER_SMALL
} __attribute__((aligned(64))) gv_last_access;
// The same while accesses are only counted, and for shared memory of blocks that run together.
enum { GV_PLAIN = 1, GV_PLAIN_COUNTED, GV_PLAIN_BROUGHT };
enum { GV_RECENT_BITS = 12 };
extern gv_last_access gv_recent[1 << GV_RECENT_BITS] __attribute__((visibility("hidden")));
extern uint64_t gv_era __attribute__((visibility("hidden"))); // of the keys that are valid

static inline uintptr_t gv_key_of(uintptr_t pc) { return pc | gv_era; }

static inline gv_last_access *gv_last_of(uintptr_t pc)
{
    // The calls of a kernel are 8 bytes apart or more; an asynchronous copy also has the address before its own.
    return &gv_recent[(pc >> 3 ^ pc << (GV_RECENT_BITS - 1)) & ((1 << GV_RECENT_BITS) - 1)];
}

// Keeps the values of an access in the way of all types.
void gv_keep_other_values(uint64_t row, const gv_last_access *l, uintptr_t at, uint64_t more);

// Keeps the parts of a row that are known before the access.
static inline void gv_keep_row(gv_run *r, uint64_t row, const gv_last_access *how, uint64_t element, int write)
{
    r->site[row] = how->site;
    r->which[row] = how->array;
    r->write[row] = (uint8_t)write;
    r->bytes[row] = (uint8_t)how->bytes;
    r->element[row] = (uint32_t)element;
}

static inline void gv_wait_for_value(uintptr_t at, uint64_t more, uint32_t further)
{
    if (gv_now.lanes_ahead) gv_stop(GV_AGAIN); // they may have read the old value, which they should not have
    gv_pending.is = 1;
    gv_pending.address = at;
    gv_pending.more = more;
    gv_pending.further = further;
}

// Returns whether an access is like the last one of its instruction, and has room for its row.
static inline __attribute__((always_inline)) int gv_as_last(
    const gv_last_access *l, uintptr_t at, uint32_t bytes, int how, uintptr_t pc)
{
    const gv_run *r = gv_now.run;
    return l->key == gv_key_of(pc) && l->bytes == bytes && at - l->start <= l->last &&
           !(at & (bytes - 1) && !(how & GV_ANY_ALIGNMENT)) && r->count < gv_now.rows_room &&
           r->more_count + l->words <= gv_now.more_room;
}

// Keeps an access that is like the last one of its instruction. Where the compiler knows the bytes, little is left.
// GV_WRITTEN: the value of a write is in memory already.
enum { GV_WRITTEN = 4 };
static inline __attribute__((always_inline)) void gv_keep_as_last(
    const gv_last_access *l, uintptr_t at, uint32_t bytes, int how)
{
    gv_run *r = gv_now.run;
    uint64_t row = r->count, more = r->more_count;
    r->count = row + 1;
    r->more_count = more + l->words;
    gv_keep_row(r, row, l, (at - l->start) >> l->shift, how & GV_WRITE);
    const char *from = (const char *)at;
    if (how & GV_WRITE && !(how & GV_WRITTEN)) {
        gv_wait_for_value(at, more, l->further);
    } else if (bytes == 4 && l->number == GV_NUMBER_FLOAT) {
        memcpy(&r->value[row], from, 4);
    } else if (bytes == 16 && l->number == GV_NUMBER_FLOAT) {
        memcpy(&r->value[row], from, 4);
        memcpy(r->more + more, from + 4, 12);
    } else if (bytes == 16 && l->itemsize == 2 && l->number == GV_NUMBER_SMALL) {
        uint16_t half;
        uint32_t last;
        memcpy(&half, from, 2);
        memcpy(&last, from + 12, 4);
        r->value[row] = l->floats[half];
        memcpy(r->more + more, from + 2, 12);
        r->more[more + 3] = last >> 16; // the words are little-endian
    } else if (bytes == 2 && l->itemsize == 2 && l->number == GV_NUMBER_SMALL) {
        uint16_t half;
        memcpy(&half, from, 2);
        r->value[row] = l->floats[half];
    } else {
        gv_keep_other_values(row, l, at, more);
    }
}
