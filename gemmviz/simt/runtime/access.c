// Records every access to the watched arrays as one row.
#include "access.h"
#include "notes.h"
#include "ownership.h"
#include "pages.h"
#include "stop.h"
#include "watched.h"
#include <string.h>

static struct {
    int is; // the last row is a write whose value is not yet in memory
    uintptr_t address;
    uint64_t more;
    uint32_t further;
} pending;
static uint16_t site_of[1 << 14]; // open-addressed: instruction address -> site + 1

enum { GV_NOWHERE = GV_MAX_ARRAYS };

// The array that an instruction accessed last: usually it accesses the same array again.
static struct {
    uintptr_t pc;
    uint16_t site;
    uint16_t array;
} recent[1 << 10];

void gv_access_begin(void)
{
    memset(&pending, 0, sizeof pending);
    memset(site_of, 0, sizeof site_of);
    memset(recent, 0, sizeof recent);
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The element at an address, as the bits of a float.
static inline uint32_t value_at(uintptr_t address, const gv_watched *array)
{
    uint32_t bits;
    uint16_t half;
    double wide;
    switch (array->number) {
    case GV_NUMBER_FLOAT: memcpy(&bits, (void *)address, 4); return bits;
    case GV_NUMBER_SMALL:
        if (array->itemsize == 1) return array->floats[*(uint8_t *)address];
        memcpy(&half, (void *)address, 2);
        return array->floats[half];
    case GV_NUMBER_DOUBLE: memcpy(&wide, (void *)address, sizeof wide); return bits_of((float)wide);
    case GV_NUMBER_INT: memcpy(&bits, (void *)address, 4); return bits_of((float)(int32_t)bits);
    case GV_NUMBER_UNSIGNED: memcpy(&bits, (void *)address, 4); return bits_of((float)bits);
    default: return 0x7fc00000; // NaN
    }
}

// The words of 4 bytes that keep the further elements of an access: small ones as they are, the others as floats.
static inline uint32_t words_of(const gv_watched *a, uint32_t further)
{
    return a->itemsize > 2 ? further : (further * (uint32_t)a->itemsize + 3) / 4;
}

// Keeps the values of an access: that of the first element in its row, the others separately, as few accesses have any.
static inline void keep_values(uint64_t row, const gv_watched *a, uintptr_t at, uint64_t more, uint32_t further)
{
    gv_run *r = gv_now.run;
    r->value[row] = value_at(at, a);
    if (!further) return;
    uint32_t *to = r->more + more;
    const char *from = (const char *)at + a->itemsize;
    if (a->number == GV_NUMBER_FLOAT) {
        for (uint32_t i = 0; i < further; i++) memcpy(&to[i], from + 4 * i, 4);
    } else if (a->itemsize <= 2) {
        uint32_t bytes = further * (uint32_t)a->itemsize, last = bytes / 4;
        for (uint32_t i = 0; i < last; i++) memcpy(&to[i], from + 4 * i, 4);
        if (bytes % 4) {
            to[last] = 0;
            memcpy(&to[last], from + 4 * last, bytes % 4);
        }
    } else {
        for (uint32_t i = 0; i < further; i++) to[i] = value_at((uintptr_t)from + (uintptr_t)i * a->itemsize, a);
    }
}

// The value of a write is in memory when its thread makes its next access, reaches a barrier or returns.
void gv_settle(void)
{
    if (!pending.is) return;
    pending.is = 0;
    uint64_t row = gv_now.run->count - 1;
    keep_values(row, &gv_known[gv_now.run->which[row]], pending.address, pending.more, pending.further);
}

static uint16_t site_at(uintptr_t pc)
{
    uint32_t mask = sizeof site_of / sizeof *site_of - 1, at = (uint32_t)(pc * 2654435761u) >> 8 & mask;
    for (;; at = (at + 1) & mask) {
        uint16_t site = site_of[at];
        if (site && gv_now.run->site_pc[site - 1] == pc) return site - 1;
        if (!site) break;
    }
    if (gv_now.run->sites == GV_MAX_SITES) gv_stop(GV_TOO_MANY_SITES);
    gv_now.run->site_pc[gv_now.run->sites++] = pc;
    site_of[at] = (uint16_t)gv_now.run->sites;
    return (uint16_t)(gv_now.run->sites - 1);
}

static inline int inside(const gv_watched *a, uintptr_t at, uint32_t bytes)
{
    return at - a->start < a->bytes && at - a->start + bytes <= a->bytes;
}

// Returns the array of an access; GV_NOWHERE if the address is in no watched array, or only in the guard of one.
static uint32_t array_at(uintptr_t at, uint32_t bytes, int write, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    if (gv_on_stack(at)) return GV_NOWHERE; // a local variable: as written there are many
    // Exact ranges first: the arrays of a structure are adjacent, and each is in the guard of the others.
    for (uint32_t i = 0; i < r->arrays; i++)
        if (inside(&gv_known[i], at, bytes)) return i;
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (write && !a->shared) gv_needs_one_process(); // another block may read the value
        gv_notice(GV_NOTE_OUT_OF_BOUNDS, (int)i, (int64_t)at - (int64_t)a->start, pc, bytes, 0, write);
        return GV_NOWHERE;
    }
    if (write) gv_unwatched_write(at);
    return GV_NOWHERE;
}

static inline uint64_t element_at(const gv_watched *a, uint64_t offset)
{
    return a->shift == GV_NO_SHIFT ? offset / a->itemsize : offset >> a->shift;
}

void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    int write = how & GV_WRITE;
    gv_run *r = gv_now.run;
    uintptr_t at = (uintptr_t)address;
    if (gv_now.catch_up) gv_now.catch_up(at, bytes);
    r->last_pc = pc;
    if (pending.is) gv_settle();
    uint32_t slot = (uint32_t)(pc ^ pc >> 10) & (sizeof recent / sizeof *recent - 1), i = recent[slot].array;
    // Another instruction in the same slot may have accessed an array that contains the tile of this access.
    if (recent[slot].pc != pc || !inside(&gv_known[i], at, bytes)) {
        i = array_at(at, bytes, write, pc);
        if (i == GV_NOWHERE) return;
    }
    const gv_watched *a = &gv_known[i];
    // The width of an access is a power of two.
    if (!(how & GV_ANY_ALIGNMENT) && at & (bytes - 1)) gv_stop_misaligned(at, bytes, write);
    uint64_t first = element_at(a, at - a->start);
    uint32_t further = bytes > a->itemsize ? (uint32_t)element_at(a, bytes) - 1 : 0;
    if (a->owned) gv_own_elements(i, first, element_at(a, at - a->start + bytes - 1), write);
    uint32_t words = words_of(a, further);
    if (r->count >= gv_now.rows_room || r->more_count + words > gv_now.more_room) gv_next_pages(words);
    uint64_t row = r->count++, more = r->more_count;
    r->more_count += words;
    if (r->count_only) return;
    if (recent[slot].pc != pc) {
        recent[slot].site = site_at(pc);
        recent[slot].pc = pc;
    }
    recent[slot].array = (uint16_t)i;
    r->site[row] = recent[slot].site;
    r->which[row] = (uint8_t)i;
    r->write[row] = (uint8_t)write;
    r->bytes[row] = (uint8_t)bytes;
    r->element[row] = (uint32_t)first;
    if (write) {
        if (gv_now.lanes_ahead) gv_stop(GV_AGAIN); // they may have read the old value, which they should not have
        pending.is = 1;
        pending.address = at;
        pending.more = more;
        pending.further = further;
    } else {
        keep_values(row, a, at, more, further);
    }
}

int gv_access_several(const uintptr_t *at, uint32_t count, uint32_t bytes, const void *data, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    uint32_t slot = (uint32_t)(pc ^ pc >> 10) & (sizeof recent / sizeof *recent - 1), number = recent[slot].array;
    const gv_watched *a = &gv_known[number];
    if (recent[slot].pc != pc || a->owned || gv_now.lanes_ahead || r->count_only) return 0;
    for (uint32_t i = 0; i < count; i++)
        if (!inside(a, at[i], bytes) || at[i] & (bytes - 1)) return 0;
    uint32_t further = bytes > a->itemsize ? (uint32_t)element_at(a, bytes) - 1 : 0, words = words_of(a, further);
    if (r->count + count > gv_now.rows_room || r->more_count + (uint64_t)count * words > gv_now.more_room) return 0;
    if (pending.is) gv_settle();
    r->last_pc = pc;
    uint64_t row = r->count, more = r->more_count;
    for (uint32_t i = 0; i < count; i++) {
        r->site[row + i] = recent[slot].site;
        r->which[row + i] = (uint8_t)number;
        r->write[row + i] = data != NULL;
        r->bytes[row + i] = (uint8_t)bytes;
        r->element[row + i] = (uint32_t)element_at(a, at[i] - a->start);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (data) memcpy((void *)at[i], (const char *)data + (size_t)i * bytes, bytes);
        keep_values(row + i, a, at[i], more + (uint64_t)i * words, further);
    }
    r->count += count;
    r->more_count += (uint64_t)count * words;
    return 1;
}

void gv_site_is(uintptr_t pc, int kind)
{
    if (!gv_now.run->count_only) gv_now.run->site_kind[site_at(pc)] = (uint8_t)kind;
}
