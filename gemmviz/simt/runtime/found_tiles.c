#include "found_tiles.h"
#include "access.h"
#include "stop.h"
#include "values.h"

enum { MATRICES = 3, MOST_BYTES = 256 /* of an access */ };

void gv_first_ended(void)
{
    gv_run *r = gv_now.run;
    if (r->first_ended && !gv_unguarded(r->first_ended)) gv_stop(GV_NO_MEMORY);
}

static int is_in(uint32_t tile, uintptr_t at, uint32_t bytes)
{
    uint64_t from = at - gv_known[tile].start, all = gv_known[tile].bytes;
    return from < all && from + bytes <= all;
}

// Returns the first tile that contains an access, or the number of arrays.
static uint32_t tile_at(uintptr_t at, uint32_t bytes, uint32_t tiles)
{
    for (uint32_t i = MATRICES; i < MATRICES + tiles; i++)
        if (is_in(i, at, bytes)) return i;
    return GV_MAX_ARRAYS;
}

static uint32_t further_of(const gv_watched *a, uint32_t bytes)
{
    if (bytes <= a->itemsize) return 0;
    return (a->shift == GV_NO_SHIFT ? bytes / a->itemsize : bytes >> a->shift) - 1;
}

// Tells the values of 16 bytes, which are kept as bytes, as elements of a tile; returns 0 where the common way is
// needed.
static int tell_piece(uint32_t *value, uint32_t *to, const uint32_t *bytes, const gv_watched *tile)
{
    float first;
    memcpy(&first, value, sizeof first);
    uint32_t w[4] = {(uint32_t)(uint8_t)(int32_t)first | bytes[0] << 8, bytes[0] >> 24 | bytes[1] << 8,
        bytes[1] >> 24 | bytes[2] << 8, bytes[2] >> 24 | bytes[3] << 8}; // little-endian
    if (tile->number == GV_NUMBER_FLOAT) {
        *value = w[0];
        for (int i = 0; i < 3; i++) to[i] = w[i + 1];
    } else if (tile->number == GV_NUMBER_SMALL && tile->itemsize == 2) {
        *value = tile->floats[(uint16_t)w[0]];
        for (int i = 0; i < 3; i++) to[i] = w[i] >> 16 | w[i + 1] << 16;
        to[3] = w[3] >> 16;
    } else {
        return 0;
    }
    return 1;
}

// The value of an access to a part of an element is that of the bytes there, which are no longer known.
int gv_tiles_found(uint32_t tiles)
{
    gv_run *r = gv_now.run;
    gv_watched before[GV_MAX_ARRAYS];
    memcpy(before, gv_known, sizeof before);
    gv_watch_none();
    for (uint32_t i = 0; i < r->arrays; i++) gv_watch(i);
    gv_access_forget();
    uint64_t from = 0, to = 0; // in the further elements: a tile's access has never more words
    for (uint64_t row = 0; row < r->count; row++) {
        const gv_watched *a = &before[r->which[row]];
        uint32_t bytes = r->bytes[row], further = further_of(a, bytes), words = gv_words_of(a, further), now = words;
        const uint32_t *old = r->more + from;
        uintptr_t at = a->start + (uintptr_t)r->element[row] * a->itemsize;
        if (r->which[row] >= MATRICES) {
            uint32_t tile = tile_at(at, bytes, tiles);
            r->which[row] = (uint8_t)(tile < GV_MAX_ARRAYS ? tile : r->which[row] + tiles);
            const gv_watched *t = &gv_known[r->which[row]];
            r->element[row] =
                (uint32_t)(t->shift == GV_NO_SHIFT ? (at - t->start) / t->itemsize : (at - t->start) >> t->shift);
            if (bytes < t->itemsize && a->itemsize < t->itemsize) return 0;
            int same = t->number == a->number && t->itemsize == a->itemsize && t->floats == a->floats;
            if (!same && bytes == GV_PIECE_BYTES && a->itemsize == 1 &&
                tell_piece(&r->value[row], r->more + to, old, t)) {
                now = gv_words_of(t, further_of(t, bytes));
                old = r->more + to;
            } else if (!same) {
                // Of bytes, the first one is kept as a number, and the others are as in memory.
                float first;
                uint8_t all[MOST_BYTES] __attribute__((aligned(16)));
                memcpy(&first, &r->value[row], sizeof first);
                all[0] = (uint8_t)(int32_t)first;
                memcpy(all + 1, old, bytes - 1);
                now = gv_words_of(t, further_of(t, bytes));
                gv_keep_values(&r->value[row], r->more + to, t, (uintptr_t)all, further_of(t, bytes));
                old = r->more + to;
            }
        }
        if (old != r->more + to) memmove(r->more + to, old, now * sizeof *old);
        from += words;
        to += now;
    }
    r->more_count = to;
    return 1;
}
