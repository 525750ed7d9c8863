// From each operand, 8 rows of 16 bytes are read at a time. Together they access every bank once.
#include "wgmma_rows.h"
#include "access.h"
#include "block_memory.h"
#include "last_access.h"
#include "postponed.h"
#include "stop.h"
#include "watched.h"

enum { OPERANDS = 2 * GV_MOST_PRODUCTS, MOST_PIECES = 2 * COLUMNS, PIECE = GV_PIECE_BYTES };
enum { AT_ONCE = 8 /* rows that are kept in one step */, SWIZZLED = 128 /* bytes in which pieces change places */ };
enum { MOST_ROWS = GV_MOST_PRODUCTS * (1 + MOST_PIECES / GV_WARPGROUP), ALIKE = 16 /* threads with as many pieces */ };

// The pieces of an operand, in the order of the threads that read them.
typedef struct {
    uintptr_t pc, base;
    uint32_t count, lowest, highest, aligned;
    gv_last_access how; // valid if its key is that of the instruction
    uint32_t at[MOST_PIECES]; // bytes from the base on
} operand;
static operand operands[OPERANDS];

// What the rows of some threads have in common.
static struct {
    uint32_t rows, words, from, end, alike;
    int known;
    uint16_t site[MOST_ROWS + AT_ONCE];
    uint8_t which[MOST_ROWS + AT_ONCE];
} pattern;

static inline __attribute__((always_inline)) void work_out(
    operand *to, gv_operand o, int across, uint32_t size, uint32_t count)
{
    uint32_t in_piece = PIECE / size, lowest = UINT32_MAX, highest = 0, all = 0;
    uint64_t too_far = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tile = i / 8, within = i % 8;
        uint64_t at = (across ? gv_operand_place(o, 1, size, tile / 2 * 8, tile % 2 * 8 + within)
                              : gv_operand_place(o, 0, size, tile / 2 * 8 + within, tile % 2 * in_piece)) -
                      to->base;
        too_far |= at >> 32;
        to->at[i] = (uint32_t)at;
        all |= (uint32_t)at;
        lowest = (uint32_t)at < lowest ? (uint32_t)at : lowest;
        highest = (uint32_t)at > highest ? (uint32_t)at : highest;
    }
    if (too_far) gv_stop(GV_AGAIN);
    to->lowest = lowest;
    to->highest = highest;
    to->aligned = !((all | (uint32_t)to->base) & (PIECE - 1));
}

static void operand_is(uint32_t number, const gv_operand *o, int across, uint32_t size, uint32_t rows, uintptr_t pc)
{
    operand *to = &operands[number];
    to->pc = pc;
    to->count = rows * 2;
    to->base = o->at / SWIZZLED * SWIZZLED;
    if (across) work_out(to, *o, 1, size, rows * 2);
    else work_out(to, *o, 0, size, rows * 2);
}

void gv_rows_of_product(uint32_t product, const gv_wgmma_product *p, uintptr_t pc)
{
    uint32_t size = gv_operand_itemsize(p->type_a);
    operands[2 * product].count = 0;
    if (!p->registers) operand_is(2 * product, &p->a, p->a_across, size, GV_WGMMA_ROWS, pc);
    operand_is(2 * product + 1, &p->b, p->b_across, size, p->n, pc - 1);
    pattern.known = 0;
}

int gv_operands_written(uint32_t from, uint32_t end, uint64_t first)
{
    const gv_run *r = gv_now.run;
    if (r->count_only) return 0;
    for (uint64_t row = first; row < r->count; row++) {
        if (!r->write[row]) continue;
        const gv_watched *a = &gv_known[r->which[row]];
        uintptr_t at = a->start + (uintptr_t)r->element[row] * a->itemsize;
        for (const operand *o = &operands[2 * from]; o < &operands[2 * end]; o++)
            if (o->count && at < o->base + o->highest + PIECE && at + r->bytes[row] > o->base + o->lowest) return 1;
    }
    return 0;
}

// Whether all pieces of an operand are in the array that its instruction accessed last.
static int is_plain(operand *o)
{
    for (int look = 0; look < 2; look++) {
        const gv_last_access *l = &o->how;
        uintptr_t from = o->base - l->start;
        if (l->key == gv_key_of(o->pc) && l->bytes == PIECE && l->plain && from + o->lowest <= l->last &&
            from + o->highest <= l->last)
            return o->aligned;
        o->how = *gv_last_of(o->pc);
    }
    return 0;
}

static int all_plain(uint32_t from, uint32_t end)
{
    for (operand *o = &operands[2 * from]; o < &operands[2 * end]; o++)
        if (o->count && !is_plain(o)) return 0;
    return 1;
}

// Finds what the rows of the threads of a warpgroup from `thread` on have in common.
static void find_pattern(uint32_t from, uint32_t end, uint32_t thread)
{
    pattern.rows = pattern.words = 0;
    pattern.from = from;
    pattern.end = end;
    pattern.alike = thread / ALIKE;
    pattern.known = all_plain(from, end);
    for (const operand *o = &operands[2 * from]; pattern.known && o < &operands[2 * end]; o++)
        for (uint32_t i = thread; i < o->count; i += GV_WARPGROUP) {
            pattern.site[pattern.rows] = o->how.site;
            pattern.which[pattern.rows++] = o->how.array;
            pattern.words += o->how.words;
        }
}

// Keeps the value of a piece, as gv_keep_values does; returns where the words of the next one are.
static inline uint32_t *keep_piece(uint32_t *value, uint32_t *to, const gv_last_access *l, const void *from)
{
    unsigned __int128 piece; // little-endian
    memcpy(&piece, from, PIECE);
    if (l->number == GV_NUMBER_FLOAT) {
        *value = (uint32_t)piece;
        piece >>= 32;
    } else if (l->number == GV_NUMBER_SMALL && l->itemsize == 2) {
        *value = l->floats[(uint16_t)piece];
        piece >>= 16;
    } else if (l->number == GV_NUMBER_SMALL) {
        *value = l->floats[(uint8_t)piece];
        piece >>= 8;
    } else {
        gv_keep_values(value, to, &gv_known[l->array], (uintptr_t)from, l->further);
        return to + l->words;
    }
    memcpy(to, &piece, PIECE);
    return to + l->words;
}

static void keep_by_pattern(uint32_t thread)
{
    gv_run *r = gv_now.run;
    uint64_t first = r->count;
    uint32_t *element = r->element + first, *value = r->value + first, *more = r->more + r->more_count;
    for (const operand *o = &operands[2 * pattern.from]; o < &operands[2 * pattern.end]; o++) {
        const gv_last_access *l = &o->how;
        for (uint32_t i = thread; i < o->count; i += GV_WARPGROUP) {
            uintptr_t at = o->base + o->at[i];
            *element++ = (uint32_t)((at - l->start) >> l->shift);
            more = keep_piece(value++, more, l, (const void *)at);
        }
    }
    for (uint32_t i = 0; i < pattern.rows; i += AT_ONCE) {
        memcpy(r->site + first + i, pattern.site + i, AT_ONCE * sizeof *pattern.site);
        memcpy(r->which + first + i, pattern.which + i, AT_ONCE);
        memset(r->write + first + i, 0, AT_ONCE);
        memset(r->bytes + first + i, PIECE, AT_ONCE);
    }
}

void gv_keep_rows_of_products(uint32_t from, uint32_t end)
{
    gv_run *r = gv_now.run;
    uint32_t thread = gv_now.thread % GV_WARPGROUP;
    if (!pattern.known || pattern.from != from || pattern.end != end || pattern.alike != thread / ALIKE) {
        for (const operand *o = &operands[2 * from]; o < &operands[2 * end]; o++)
            if (o->count) gv_bring((void *)(o->base + o->lowest), o->highest - o->lowest + PIECE);
        find_pattern(from, end, thread);
    }
    // A step may keep rows behind the last one, and a piece a word.
    if (pattern.known && r->count + pattern.rows + AT_ONCE <= gv_now.rows_room &&
        r->more_count + pattern.words + 1 <= gv_now.more_room) {
        if (!r->count_only) keep_by_pattern(thread);
        r->count += pattern.rows;
        r->more_count += pattern.words;
        return;
    }
    void (*catch_up)(uintptr_t, uint32_t) = gv_now.catch_up;
    gv_now.catch_up = NULL;
    gv_now.looks_ahead = 1; // a defect is told in the order in which threads run
    for (const operand *o = &operands[2 * from]; o < &operands[2 * end]; o++)
        for (uint32_t i = thread; i < o->count; i += GV_WARPGROUP)
            gv_access((void *)(o->base + o->at[i]), PIECE, 0, o->pc);
    gv_now.looks_ahead = 0;
    gv_now.catch_up = catch_up;
    pattern.known = 0;
}

static void read_operand(const gv_operand *o, int across, uint32_t size, uint32_t rows, uintptr_t pc)
{
    for (uint32_t i = gv_now.thread % GV_WARPGROUP; i < rows * 2; i += GV_WARPGROUP) {
        uint32_t tile = i / 8, within = i % 8;
        uintptr_t at = across ? gv_operand_place(*o, 1, size, tile / 2 * 8, tile % 2 * 8 + within)
                              : gv_operand_place(*o, 0, size, tile / 2 * 8 + within, tile % 2 * (PIECE / size));
        gv_access_ahead((void *)at, PIECE, 0, pc);
    }
}

void gv_read_pieces(const gv_wgmma_product *p, uintptr_t pc)
{
    uint32_t size = gv_operand_itemsize(p->type_a);
    if (!p->registers) read_operand(&p->a, p->a_across, size, GV_WGMMA_ROWS, pc);
    read_operand(&p->b, p->b_across, size, p->n, pc - 1);
}
