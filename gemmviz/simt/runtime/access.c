// Records every access to the watched arrays as one row.
#include "access.h"
#include "block_memory.h"
#include "last_access.h"
#include "notes.h"
#include "ownership.h"
#include "pages.h"
#include "shared_memory.h"
#include "stop.h"
#include "values.h"
#include <string.h>

gv_pending_write gv_pending;
gv_last_access gv_recent[1 << GV_RECENT_BITS];
uint64_t gv_era;
static uint16_t site_of[1 << 14]; // open-addressed: instruction address -> site + 1

enum { GV_NOWHERE = GV_MAX_ARRAYS };
enum { MAPPED = 2 };
enum { AT_ONCE = 8 /* rows that are kept in one step; mostly there are fewer */ };
enum { ERA_SHIFT = 48 /* an instruction's address has no bits from here on */ };

// Memory without watched arrays where an access was last; it is searched again if there are more arrays.
static struct {
    uintptr_t start;
    uint64_t bytes;
    uint32_t arrays;
} gap;

void gv_access_begin(void)
{
    memset(&gv_pending, 0, sizeof gv_pending);
    memset(site_of, 0, sizeof site_of);
    gv_access_forget();
}

void gv_access_forget(void)
{
    gv_era += (uint64_t)1 << ERA_SHIFT;
    if (!gv_era) { // the keys of the first era would be valid again
        memset(gv_recent, 0, sizeof gv_recent);
        gv_era = (uint64_t)1 << ERA_SHIFT;
    }
    gap.bytes = 0;
}

static inline void keep_values(uint64_t row, const gv_watched *a, uintptr_t at, uint64_t more, uint32_t further)
{
    gv_keep_values(&gv_now.run->value[row], gv_now.run->more + more, a, at, further);
}

// The value of a write is in memory when its thread makes its next access, reaches a barrier or returns.
void gv_settle(void)
{
    if (!gv_pending.is) return;
    int mapped = gv_pending.is == MAPPED;
    gv_pending.is = 0;
    if (mapped) {
        gv_now.mapped_written();
        return;
    }
    uint64_t row = gv_now.run->count - 1;
    keep_values(row, &gv_known[gv_now.run->which[row]], gv_pending.address, gv_pending.more, gv_pending.further);
}

// Returns the place of an instruction in site_of, where the site is or will be.
static uint32_t place_of_site(uintptr_t pc)
{
    uint32_t mask = sizeof site_of / sizeof *site_of - 1, at = (uint32_t)(pc * 2654435761u) >> 8 & mask;
    while (site_of[at] && gv_now.run->site_pc[site_of[at] - 1] != pc) at = (at + 1) & mask;
    return at;
}

static uint16_t site_at(uintptr_t pc)
{
    uint32_t at = place_of_site(pc);
    if (site_of[at]) return site_of[at] - 1;
    if (gv_now.run->sites == GV_MAX_SITES) gv_stop(GV_TOO_MANY_SITES);
    gv_now.run->site_pc[gv_now.run->sites++] = pc;
    site_of[at] = (uint16_t)gv_now.run->sites;
    return (uint16_t)(gv_now.run->sites - 1);
}

int gv_has_site(uintptr_t pc) { return gv_now.run->count_only || site_of[place_of_site(pc)]; }

static inline int inside(const gv_watched *a, uintptr_t at, uint32_t bytes)
{
    return at - a->start < a->bytes && at - a->start + bytes <= a->bytes;
}

// An access in the unused memory around all shared arrays means the nearest one.
static void notice_in_zone(uintptr_t at, uint32_t bytes, int write, uintptr_t pc)
{
    const gv_run *r = gv_now.run;
    uint64_t least = UINT64_MAX;
    uint32_t nearest = GV_NOWHERE;
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        uint64_t far = at < a->start ? a->start - at : at - a->start - a->bytes;
        if (!a->shared || a->inside || far >= least) continue;
        least = far;
        nearest = i;
    }
    if (nearest == GV_NOWHERE) return;
    int64_t offset = (int64_t)(at - r->array[nearest].start);
    gv_notice(GV_NOTE_OUT_OF_BOUNDS, (int)nearest, offset, pc, bytes, 0, write);
}

// Remembers the memory around an address up to the next arrays and their guards.
static void keep_gap(uintptr_t at)
{
    const gv_run *r = gv_now.run;
    uintptr_t start = 0, end = UINTPTR_MAX;
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        uintptr_t first = a->start - a->guard, last = a->start + a->bytes + a->guard;
        if (first > at && first < end) end = first;
        if (last <= at && last > start) start = last;
        if (first <= at && last > at) return;
    }
    gap.start = start;
    gap.bytes = end - start;
    gap.arrays = r->arrays;
}

// Returns the array of an access; GV_NOWHERE if the address is in no watched array, or only in the guard of one.
static uint32_t array_at(uintptr_t at, uint32_t bytes, int write, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    int search = at - gap.start >= gap.bytes || gap.arrays != r->arrays;
    // Exact ranges first: the arrays of a structure are adjacent, and each is in the guard of the others.
    for (uint32_t i = 0; search && i < r->arrays; i++)
        if (inside(&gv_known[i], at, bytes)) return i;
    for (uint32_t i = 0; search && i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (a->scratch || at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (write && !a->shared) gv_needs_one_process(); // another block may read the value
        gv_notice(GV_NOTE_OUT_OF_BOUNDS, (int)i, (int64_t)at - (int64_t)a->start, pc, bytes, 0, write);
        return GV_NOWHERE;
    }
    if (search) keep_gap(at);
    if (gv_is_mapped(at)) {
        gv_now.on_mapped(at, bytes, write, pc);
        if (write) gv_pending.is = MAPPED;
        return GV_NOWHERE;
    }
    if (gv_in_shared_zone(at)) notice_in_zone(at, bytes, write, pc);
    else if (write) gv_unwatched_write(at);
    return GV_NOWHERE;
}

static inline uint64_t element_at(const gv_watched *a, uint64_t offset)
{
    return a->shift == GV_NO_SHIFT ? offset / a->itemsize : offset >> a->shift;
}

static __attribute__((noinline)) void access_anew(uintptr_t at, uint32_t bytes, int how, uintptr_t pc);

void gv_keep_other_values(uint64_t row, const gv_last_access *l, uintptr_t at, uint64_t more)
{
    keep_values(row, &gv_known[l->array], at, more, l->further);
}

static inline __attribute__((always_inline)) void access_now(uintptr_t at, uint32_t bytes, int how, uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    if (gv_on_stack(at)) return; // a local variable: tensor cores' registers are accessed more often than arrays
    const gv_last_access *l = gv_last_of(pc);
    int plain = l->plain == GV_PLAIN || (l->plain == GV_PLAIN_BROUGHT && gv_is_brought(at, bytes));
    if (plain && gv_as_last(l, at, bytes, how, pc)) gv_keep_as_last(l, at, bytes, how);
    else access_anew(at, bytes, how, pc);
}

// The same after what the thread has postponed, or written.
static __attribute__((noinline)) void access_after(uintptr_t at, uint32_t bytes, int how, uintptr_t pc)
{
    if (gv_now.catch_up) gv_now.catch_up(at, bytes);
    gv_settle();
    access_now(at, bytes, how, pc);
}

void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    if (gv_now.catch_up || gv_pending.is) access_after((uintptr_t)address, bytes, how, pc);
    else access_now((uintptr_t)address, bytes, how, pc);
}

// The same for an access unlike the last one of its instruction.
static __attribute__((noinline)) void access_anew(uintptr_t at, uint32_t bytes, int how, uintptr_t pc)
{
    int write = how & GV_WRITE;
    gv_run *r = gv_now.run;
    gv_last_access *l = gv_last_of(pc);
    gv_bring((void *)at, bytes);
    if (l->plain == GV_PLAIN_BROUGHT && gv_as_last(l, at, bytes, how, pc)) {
        gv_keep_as_last(l, at, bytes, how);
        return;
    }
    if (l->plain == GV_PLAIN_COUNTED && gv_as_last(l, at, bytes, how, pc)) {
        r->count++;
        r->more_count += l->words;
        return;
    }
    uint32_t i = l->array;
    // Another instruction in the same slot may have accessed an array that contains the tile of this access.
    int known = l->key == gv_key_of(pc);
    if (!known || gv_known[i].has_parts || !inside(&gv_known[i], at, bytes)) {
        i = array_at(at, bytes, write, pc);
        if (i == GV_NOWHERE) return;
    }
    const gv_watched *a = &gv_known[i];
    // The width of an access is a power of two.
    if (!(how & GV_ANY_ALIGNMENT) && at & (bytes - 1)) gv_stop_misaligned(at, bytes, write);
    uint64_t first = element_at(a, at - a->start);
    uint32_t further = bytes > a->itemsize ? (uint32_t)element_at(a, bytes) - 1 : 0;
    if (a->owned) gv_own_elements(i, first, element_at(a, at - a->start + bytes - 1), write);
    uint32_t words = gv_words_of(a, further);
    if (r->count >= gv_now.rows_room || r->more_count + words > gv_now.more_room) gv_next_pages(words);
    uint64_t row = r->count++, more = r->more_count;
    r->more_count += words;
    uint16_t site = r->count_only ? 0 : known ? l->site : site_at(pc);
    int plain = !a->owned && !a->has_parts && a->shift != GV_NO_SHIFT && a->bytes >= bytes;
    int brought = gv_now.brings && r->array[i].shared;
    if (plain) plain = r->count_only ? GV_PLAIN_COUNTED : brought ? GV_PLAIN_BROUGHT : GV_PLAIN;
    *l = (gv_last_access){gv_key_of(pc), a->start, a->bytes - bytes, bytes, further, words, site, (uint8_t)i,
        (uint8_t)a->shift, a->number, (uint8_t)plain, (uint8_t)a->itemsize, a->floats};
    if (r->count_only) return;
    gv_keep_row(r, row, l, first, write);
    if (write) gv_wait_for_value(at, more, further);
    else keep_values(row, a, at, more, further);
}

// Keeps the rows of pieces, but for their values; up to AT_ONCE further rows become invalid.
static inline __attribute__((always_inline)) void keep_rows(
    const gv_run *r, const gv_last_access *l, const uintptr_t *at, uint32_t count, int write)
{
    uint64_t first = r->count;
    uint16_t *sites = r->site + first, site = l->site;
    uint8_t *whiches = r->which + first, *writes = r->write + first, *widths = r->bytes + first, which = l->array;
    uint32_t *elements = r->element + first, shift = l->shift;
    uintptr_t start = l->start;
    for (uint32_t i = 0; i < count; i += AT_ONCE) {
        for (uint32_t n = 0; n < AT_ONCE; n++) sites[i + n] = site;
        memset(whiches + i, which, AT_ONCE);
        memset(writes + i, write, AT_ONCE);
        memset(widths + i, GV_PIECE_BYTES, AT_ONCE);
    }
    for (uint32_t i = 0; i < count; i++) elements[i] = (uint32_t)((at[i] - start) >> shift);
}

int gv_access_pieces(const uintptr_t *at, uint32_t count, const void *data, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    const gv_last_access *l = gv_last_of(pc);
    if (l->key != gv_key_of(pc) || l->bytes != GV_PIECE_BYTES || !l->plain || gv_now.lanes_ahead) return 0;
    uintptr_t least = UINTPTR_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (at[i] - l->start > l->last || at[i] & (GV_PIECE_BYTES - 1)) return 0;
        if (at[i] < least) least = at[i];
        if (at[i] > most) most = at[i];
    }
    if (r->count + count + AT_ONCE > gv_now.rows_room ||
        r->more_count + (uint64_t)count * l->words > gv_now.more_room)
        return 0;
    if (gv_pending.is) gv_settle();
    r->last_pc = pc;
    uint64_t bytes = count ? most - least + GV_PIECE_BYTES : 0;
    intptr_t away = 0; // what is written need not be brought
    if (bytes && !data) gv_bring((void *)least, bytes);
    else if (bytes && gv_now.brings && !gv_is_brought(least, bytes)) away = gv_away(least, bytes);
    for (uint32_t i = 0; data && i < count; i++)
        memcpy((char *)at[i] + away, (const char *)data + (size_t)i * GV_PIECE_BYTES, GV_PIECE_BYTES);
    if (l->plain != GV_PLAIN_COUNTED) {
        keep_rows(r, l, at, count, data != NULL);
        gv_keep_pieces(r->value + r->count, r->more + r->more_count, &gv_known[l->array], at, away, count);
    }
    r->count += count;
    r->more_count += (uint64_t)count * l->words;
    return 1;
}

void gv_site_is(uintptr_t pc, int kind)
{
    if (gv_now.run->count_only) return;
    const gv_last_access *l = gv_last_of(pc);
    gv_now.run->site_kind[l->key == gv_key_of(pc) ? l->site : site_at(pc)] = (uint8_t)kind;
}
