#include "found_tiles.h"
#include "access.h"
#include "stop.h"
#include "values.h"
#include <string.h>

enum { MATRICES = 3, MOST_BYTES = 256 /* of an access */ };
enum { PIECE_WORDS = GV_PIECE_BYTES / 4, AT_ONCE = 8 /* rows */ };

void gv_first_ended(void)
{
    gv_run *r = gv_now.run;
    if (r->first_ended && !gv_unguarded(r->first_ended)) gv_stop(GV_NO_MEMORY);
}

static inline int is_in(uint32_t tile, uintptr_t at, uint32_t bytes)
{
    uint64_t from = at - gv_known[tile].start, all = gv_known[tile].bytes;
    return from < all && from + bytes <= all;
}

// Whether no two of the tiles have memory in common.
static int are_apart(uint32_t tiles)
{
    for (const gv_watched *a = gv_known + MATRICES; a < gv_known + MATRICES + tiles; a++)
        for (const gv_watched *b = gv_known + MATRICES; b < a; b++)
            if (a->start < b->start + b->bytes && b->start < a->start + a->bytes) return 0;
    return 1;
}

// Returns the first tile that contains an access, or the number of arrays. Mostly it is `last`, that of the one before.
static inline uint32_t tile_at(uintptr_t at, uint32_t bytes, uint32_t tiles, int apart, uint32_t last)
{
    if (apart && last < GV_MAX_ARRAYS && is_in(last, at, bytes)) return last;
    for (uint32_t i = MATRICES; i < MATRICES + tiles; i++)
        if (is_in(i, at, bytes)) return i;
    return GV_MAX_ARRAYS;
}

// The first byte of an access to an array of bytes, which is kept as a number.
static inline uint8_t first_byte(uint32_t value)
{
    float first;
    memcpy(&first, &value, sizeof first);
    return (uint8_t)(int32_t)first;
}

static uint32_t further_of(const gv_watched *a, uint32_t bytes)
{
    if (bytes <= a->itemsize) return 0;
    return (a->shift == GV_NO_SHIFT ? bytes / a->itemsize : bytes >> a->shift) - 1;
}

static inline int are_alike(const gv_watched *a, const gv_watched *b)
{
    return a->number == b->number && a->itemsize == b->itemsize && a->floats == b->floats;
}

// Tells the values of an access to `words` words of an array of bytes as elements of a tile; returns the number of its
// further words, or UINT32_MAX where the common way is needed. `to` may be `kept`, or before.
static inline uint32_t told(uint32_t *value, uint32_t *to, const uint32_t *kept, uint32_t words,
    const gv_watched *array, const gv_watched *tile)
{
    uint32_t w[PIECE_WORDS] = {kept[0], words > 1 ? kept[1] : 0}; // little-endian
    if (words == PIECE_WORDS) memcpy(w, kept, sizeof w);
    if (tile->number == GV_NUMBER_FLOAT) {
        *value = first_byte(*value) | w[0] << 8;
        if (words > 1) to[0] = w[0] >> 24 | w[1] << 8;
        if (words == PIECE_WORDS) to[1] = w[1] >> 24 | w[2] << 8;
        if (words == PIECE_WORDS) to[2] = w[2] >> 24 | w[3] << 8;
        return words - 1;
    }
    if (words < PIECE_WORDS || tile->number != GV_NUMBER_SMALL) return UINT32_MAX;
    if (tile->itemsize == 1) {
        if (!are_alike(array, tile)) *value = tile->floats[first_byte(*value)];
        memcpy(to, w, sizeof w);
        return PIECE_WORDS;
    }
    *value = tile->floats[(uint16_t)(first_byte(*value) | w[0] << 8)];
    for (int i = 0; i < 3; i++) to[i] = w[i] >> 8 | w[i + 1] << 24;
    to[3] = w[3] >> 8;
    return PIECE_WORDS;
}

// Whether so many rows have the same number.
static inline int are_same(const uint8_t *numbers)
{
    uint64_t all;
    memcpy(&all, numbers, sizeof all);
    return all == numbers[0] * 0x0101010101010101u;
}

// Whether accesses to so many elements of an array of bytes are in a tile, which is a part of this array.
static inline int are_in(uint32_t tile, const gv_watched *array, const uint32_t *elements)
{
    if (tile >= GV_MAX_ARRAYS) return 0;
    const gv_watched *t = &gv_known[tile];
    if (t->shift == GV_NO_SHIFT || t->bytes < GV_PIECE_BYTES) return 0;
    uint32_t first = (uint32_t)(t->start - array->start), last = (uint32_t)(t->bytes - GV_PIECE_BYTES), most = 0;
    for (uint32_t i = 0; i < AT_ONCE; i++) most = elements[i] - first > most ? elements[i] - first : most;
    return most <= last;
}

// Tells the values of as many pieces as elements of a tile, as `told` does for one; returns the number of their further
// words, or 0 if it does nothing.
static inline uint32_t pieces_told(
    uint32_t *values, uint32_t *to, const uint32_t *kept, const gv_watched *array, const gv_watched *tile)
{
    if (tile->number == GV_NUMBER_FLOAT) {
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            unsigned __int128 piece; // little-endian
            memcpy(&piece, kept + PIECE_WORDS * i, sizeof piece);
            piece = piece << 8 | first_byte(values[i]);
            values[i] = (uint32_t)piece;
            piece >>= 32;
            memcpy(to + (PIECE_WORDS - 1) * i, &piece, (PIECE_WORDS - 1) * sizeof *to);
        }
        return AT_ONCE * (PIECE_WORDS - 1);
    }
    if (tile->number != GV_NUMBER_SMALL) return 0;
    if (tile->itemsize == 1) {
        for (uint32_t i = 0; i < AT_ONCE && !are_alike(array, tile); i++)
            values[i] = tile->floats[first_byte(values[i])];
        memmove(to, kept, AT_ONCE * PIECE_WORDS * sizeof *to);
        return AT_ONCE * PIECE_WORDS;
    }
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        unsigned __int128 piece;
        memcpy(&piece, kept + PIECE_WORDS * i, sizeof piece);
        values[i] = tile->floats[(uint16_t)(first_byte(values[i]) | (uint32_t)piece << 8)];
        piece >>= 8;
        memcpy(to + PIECE_WORDS * i, &piece, sizeof piece);
    }
    return AT_ONCE * PIECE_WORDS;
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
    int apart = are_apart(tiles);
    uint32_t tile = GV_MAX_ARRAYS, before_it = GV_MAX_ARRAYS;
    uint8_t *whiches = r->which; // the compiler does not know that no row changes where the columns are
    const uint8_t *widths = r->bytes;
    uint32_t *elements = r->element, *values = r->value, *more_words = r->more;
    uint64_t count = r->count, from = 0, to = 0; // in the further elements: a tile's access has never more words
    for (uint64_t row = 0; row < count; row++) {
        const gv_watched *a = &before[whiches[row]];
        uint32_t bytes = widths[row], its_words = bytes / 4;
        if (apart && whiches[row] >= MATRICES && a->itemsize == 1 && bytes == GV_PIECE_BYTES &&
            row + AT_ONCE <= count && are_same(whiches + row) && are_same(widths + row)) {
            uint32_t now = are_in(tile, a, elements + row)        ? tile
                           : are_in(before_it, a, elements + row) ? before_it
                                                                  : GV_MAX_ARRAYS;
            const gv_watched *t = &gv_known[now < GV_MAX_ARRAYS ? now : MATRICES];
            uint32_t words = now < GV_MAX_ARRAYS ? pieces_told(values + row, more_words + to, more_words + from, a, t)
                                                 : 0;
            if (words) {
                if (now != tile) before_it = tile;
                tile = now;
                memset(whiches + row, (int)now, AT_ONCE);
                uint32_t first = (uint32_t)(t->start - a->start);
                for (uint32_t i = 0; i < AT_ONCE; i++) elements[row + i] = (elements[row + i] - first) >> t->shift;
                from += AT_ONCE * PIECE_WORDS;
                to += words;
                row += AT_ONCE - 1;
                continue;
            }
        }
        if (whiches[row] >= MATRICES && a->itemsize == 1 && its_words && its_words <= PIECE_WORDS) { // most of them
            uintptr_t at = a->start + elements[row];
            uint32_t last = tile, now = UINT32_MAX;
            if (apart && before_it < GV_MAX_ARRAYS && is_in(before_it, at, bytes)) tile = before_it;
            else tile = tile_at(at, bytes, tiles, apart, tile);
            if (tile != last) before_it = last;
            const gv_watched *t = &gv_known[tile < GV_MAX_ARRAYS ? tile : MATRICES];
            if (tile < GV_MAX_ARRAYS && t->itemsize <= 4)
                now = told(&values[row], more_words + to, more_words + from, its_words, a, t);
            if (now != UINT32_MAX) {
                whiches[row] = (uint8_t)tile;
                elements[row] = (uint32_t)((at - t->start) >> t->shift);
                from += its_words;
                to += now;
                continue;
            }
        }
        uint32_t further = further_of(a, bytes), words = gv_words_of(a, further), now = words;
        const uint32_t *old = more_words + from;
        uintptr_t at = a->start + (uintptr_t)elements[row] * a->itemsize;
        if (whiches[row] >= MATRICES) {
            tile = tile_at(at, bytes, tiles, apart, tile);
            whiches[row] = (uint8_t)(tile < GV_MAX_ARRAYS ? tile : whiches[row] + tiles);
            const gv_watched *t = &gv_known[whiches[row]];
            elements[row] =
                (uint32_t)(t->shift == GV_NO_SHIFT ? (at - t->start) / t->itemsize : (at - t->start) >> t->shift);
            if (bytes < t->itemsize && a->itemsize < t->itemsize) return 0;
            if (!are_alike(a, t)) {
                uint8_t all[MOST_BYTES] __attribute__((aligned(16)));
                all[0] = first_byte(values[row]); // the others are as in memory
                memcpy(all + 1, old, bytes - 1);
                now = gv_words_of(t, further_of(t, bytes));
                gv_keep_values(&values[row], more_words + to, t, (uintptr_t)all, further_of(t, bytes));
                old = more_words + to;
            }
        }
        if (old != more_words + to) // mostly a few words, so no call
            for (uint32_t i = 0; i < now; i++) more_words[to + i] = old[i];
        from += words;
        to += now;
    }
    r->more_count = to;
    return 1;
}
