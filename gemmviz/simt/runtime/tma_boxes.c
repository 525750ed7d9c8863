// The copy engine (TMA): boxes of a matrix to shared memory and back. Rules: PTX ISA, "cp.async.bulk.tensor" and
// "Swizzling Modes". A box is read when it is requested and written as late as allowed: when a thread waits for its
// barrier and no other work is left, or when no thread can continue (see release_round). A store moves everything when
// its thread waits for it or leaves.
#define _GNU_SOURCE
#include "tma_boxes.h"
#include "access.h"
#include "cluster.h"
#include "events.h"
#include "fibres.h"
#include "flights.h"
#include "kernel_calls/hopper.h"
#include "mbarrier_state.h"
#include "ownership.h"
#include "stop.h"
#include "wgmma.h"
#include <string.h>
#include <sys/mman.h>

enum { PIECE = GV_PIECE_BYTES, MOST_PIECES = 64 /* at once */, ROWS_AHEAD = 4, CACHE_LINE = 64 };

static uint32_t issued;
static uint32_t groups[GV_MAX_CLUSTER * GV_MAX_THREADS]; // of stores, per thread
static int stored;

static struct {
    uint64_t count;
    gv_box log[];
} *reported;
static uint64_t room;

int gv_boxes_begin(uint64_t capacity, uint32_t processes)
{
    room = capacity / 8 + 64;
    int kind = processes > 1 ? MAP_SHARED : MAP_PRIVATE; // new shared pages take longer
    reported = mmap(NULL, sizeof *reported + room * sizeof(gv_box), PROT_READ | PROT_WRITE,
        kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reported != MAP_FAILED && gv_flights_begin();
}

void gv_boxes_end(void) { munmap(reported, sizeof *reported + room * sizeof(gv_box)); }

uint64_t gv_boxes(const gv_box **log)
{
    *log = reported->log;
    return reported->count;
}

uint64_t gv_boxes_reported(void) { return reported->count; }
void gv_boxes_take_back(uint64_t count) { reported->count = count; }

static void report(const gv_box *b)
{
    uint64_t at = __atomic_fetch_add(&reported->count, 1, __ATOMIC_RELAXED);
    if (at >= room) gv_stop(GV_FULL);
    reported->log[at] = *b;
}

static void end_flight(uint32_t i)
{
    report(&gv_flight_at(i)->box);
    gv_end_flight(i);
}

void gv_boxes_reset(void)
{
    while (gv_under_way) {
        gv_flight_at(0)->box.arrived = GV_NEVER;
        end_flight(0);
    }
    issued = 0;
    if (stored) memset(groups, 0, sizeof groups);
    stored = 0;
}

static uint32_t clipped(int64_t value, uint32_t most) { return value < 0 ? 0 : value > most ? most : (uint32_t)value; }

static void describe(
    gv_flight *f, const gv_tensor_map *map, int32_t column, int32_t row, uintptr_t shared, uintptr_t pc)
{
    uint32_t pitch = map->box_columns * map->itemsize;
    int64_t left = (int64_t)column * map->itemsize, right = ((int64_t)map->columns - column) * map->itemsize;
    f->rank = gv_now.rank;
    f->barrier = f->group = 0;
    f->bytes = pitch * map->box_rows;
    f->pitch = pitch;
    f->map = *map;
    f->box = (gv_box){
        .shared = shared,
        .pc = pc,
        .block = gv_now.block,
        .to_block = gv_now.block,
        .row = row,
        .column = column,
        .rows = map->box_rows,
        .pieces = pitch / PIECE,
        .first_row = clipped(-(int64_t)row, map->box_rows),
        .end_row = clipped((int64_t)map->rows - row, map->box_rows),
        .first_piece = clipped((-left + PIECE - 1) / PIECE, pitch / PIECE),
        .end_piece = clipped((right + PIECE - 1) / PIECE, pitch / PIECE),
        .thread = (uint16_t)gv_now.thread,
        .issued = (uint16_t)gv_now.phase,
        .matrix = (uint16_t)map->index,
        .swizzle = (uint16_t)map->swizzle,
        .order = issued++,
    };
    uint32_t multiple = map->swizzle == GV_NO_BOX ? 16 : 128;
    gv_now.run->last_pc = pc;
    if (shared % multiple) gv_stop_misaligned(shared, multiple, 1);
    // The engine takes any row, but only columns at multiples of 16 bytes; a GPU stops with "illegal instruction".
    if (map->swizzle != GV_NO_BOX && left % PIECE) {
        gv_now.run->fault_other = map->index;
        gv_now.run->fault_address = (uintptr_t)(intptr_t)column;
        gv_stop(GV_BOX_BETWEEN_UNITS);
    }
}

static uintptr_t in_matrix(const gv_flight *f, uint32_t i, uint32_t p)
{
    const gv_tensor_map *m = &f->map;
    int64_t row = (int64_t)f->box.row + i, byte = (int64_t)f->box.column * m->itemsize + (int64_t)p * PIECE;
    return m->matrix + (uintptr_t)(row * m->columns * m->itemsize + byte);
}

static uintptr_t in_shared(const gv_flight *f, uint32_t i, uint32_t p)
{
    return gv_swizzled(f->box.shared + (uintptr_t)i * f->pitch + (uintptr_t)p * PIECE, f->map.swizzle);
}

// The part of a piece that is inside the matrix: at the right edge it may have less than 16 bytes.
static uint32_t inside(const gv_flight *f, uint32_t p)
{
    int64_t left = ((int64_t)f->map.columns - f->box.column) * f->map.itemsize - (int64_t)p * PIECE;
    return left < PIECE ? (uint32_t)left : PIECE;
}

// Asks for the memory of a later row, which mostly is not in the nearest cache.
static void ask_for(const gv_flight *f, uint32_t i, uint32_t first, uint32_t end, int matrix)
{
    uintptr_t row = f->box.shared + (uintptr_t)i * f->pitch;
    for (uint32_t p = first; p < end; p += CACHE_LINE / PIECE)
        __builtin_prefetch((void *)(matrix ? in_matrix(f, i, p) : row + p * PIECE));
}

// Accesses the whole pieces of a row, in the matrix or in shared memory, and copies them; returns whether it could do
// them all at once.
static int pieces(const gv_flight *f, uint32_t i, uint32_t first, uint32_t end, int matrix, int write, uintptr_t pc)
{
    uint32_t count = end - first;
    uintptr_t at[MOST_PIECES];
    char *data = f->data + i * f->pitch + first * PIECE;
    if (count > MOST_PIECES || !count || (matrix && inside(f, end - 1) < PIECE)) return 0;
    ask_for(f, i + ROWS_AHEAD, first, end, matrix);
    for (uint32_t p = 0; p < count; p++) at[p] = matrix ? in_matrix(f, i, first + p) : in_shared(f, i, first + p);
    if (!gv_access_pieces(at, count, write ? data : NULL, pc)) return 0;
    for (uint32_t p = 0; !write && p < count; p++) memcpy(data + p * PIECE, (void *)at[p], PIECE);
    return 1;
}

static void read_matrix(gv_flight *f)
{
    const gv_box *b = &f->box;
    uint32_t rows = b->end_row - b->first_row, pieces_of_row = b->end_piece - b->first_piece;
    int whole = rows == b->rows && pieces_of_row == b->pieces && inside(f, b->pieces - 1) == PIECE;
    if (!whole) memset(f->data, 0, f->bytes);
    f->box.read_at = gv_made();
    for (uint32_t i = b->first_row; i < b->end_row; i++) {
        if (pieces(f, i, b->first_piece, b->end_piece, 1, 0, b->pc - 1)) {
            f->box.reads += b->end_piece - b->first_piece;
            continue;
        }
        for (uint32_t p = b->first_piece; p < b->end_piece; p++) {
            uintptr_t from = in_matrix(f, i, p);
            if (gv_access_made_row((void *)from, inside(f, p), from % PIECE ? GV_ANY_ALIGNMENT : 0, b->pc - 1))
                f->box.reads++;
            memcpy(f->data + i * f->pitch + p * PIECE, (void *)from, inside(f, p));
        }
    }
}

static void write_shared(void *what)
{
    gv_flight *f = what;
    f->box.write_at = gv_made();
    f->box.arrived = (uint16_t)gv_now.phase;
    for (uint32_t i = 0; i < f->box.rows; i++) {
        if (pieces(f, i, 0, f->box.pieces, 0, 1, f->box.pc)) {
            f->box.writes += f->box.pieces;
            continue;
        }
        for (uint32_t p = 0; p < f->box.pieces; p++) {
            uintptr_t to = in_shared(f, i, p);
            if (!gv_access_made_row((void *)to, PIECE, GV_WRITE, f->box.pc)) continue; // it misses every array
            f->box.writes++;
            memcpy((void *)to, f->data + i * f->pitch + p * PIECE, PIECE);
        }
    }
    gv_mbarrier_count_bytes(f->barrier, f->bytes, f->box.pc);
}

void gv_ask_to_load(
    void *shared, const gv_tensor_map *map, int32_t column, int32_t row, void *barrier, uint32_t blocks, uintptr_t pc)
{
    gv_catch_up();
    if (!blocks) blocks = 1u << gv_now.rank;
    gv_flight *first = NULL;
    for (uint32_t rank = 0; rank < gv_now.run->cluster; rank++) {
        if (!(blocks >> rank & 1)) continue;
        gv_flight *f = gv_new_flight(first);
        describe(f, map, column, row, (uintptr_t)shared, pc);
        f->barrier = gv_mbarrier_at(barrier, rank, pc);
        gv_mbarrier_used(f->barrier, pc);
        gv_wgmma_check_write((uintptr_t)shared, f->bytes, rank, pc);
        if (!first) {
            read_matrix(first = f);
        } else {
            f->box.read_at = first->box.read_at;
            f->box.reads = first->box.reads;
        }
        f->rank = rank;
        f->box.to_block = gv_now.block - gv_now.rank + rank;
        f->box.barrier = (uintptr_t)barrier;
    }
}

void gv_box_load(void *shared, const void *map, int32_t column, int32_t row, void *barrier, uint32_t blocks)
{
    gv_ask_to_load(shared, map, column, row, barrier, blocks, GV_PC);
}

static void arrive(uint32_t i)
{
    gv_flight *f = gv_flight_at(i);
    gv_in_name_of(f->rank, f->box.thread, write_shared, f);
    end_flight(i);
}

void gv_boxes_arrive(uint32_t barrier)
{
    for (uint32_t i = 0; i < gv_under_way && gv_mbarrier_lacks_copies(barrier);) {
        if (gv_flight_at(i)->box.store || gv_flight_at(i)->barrier != barrier) i++;
        else arrive(i);
    }
}

void gv_all_boxes_arrive(void)
{
    for (uint32_t i = 0; i < gv_under_way;) {
        if (gv_flight_at(i)->box.store) i++;
        else arrive(i);
    }
}

void gv_ask_to_store(
    const gv_tensor_map *map, int32_t column, int32_t row, const void *shared, int how, uintptr_t pc)
{
    gv_catch_up();
    gv_flight *f = gv_new_flight(NULL);
    describe(f, map, column, row, (uintptr_t)shared, pc);
    f->box.store = (uint16_t)how;
    stored = 1;
    f->group = groups[gv_thread_slot()];
    gv_tell(GV_EVENT_ASKED, 0, pc);
}

void gv_box_store(const void *map, int32_t column, int32_t row, const void *shared)
{
    gv_ask_to_store(map, column, row, shared, GV_BOX_STORE, GV_PC);
}

void gv_box_add(const void *map, int32_t column, int32_t row, const void *shared)
{
    const gv_tensor_map *to = map;
    if (to->itemsize != sizeof(float)) {
        gv_now.run->last_pc = GV_PC;
        gv_now.run->fault_other = to->index;
        gv_stop(GV_ADDS_NO_FLOATS);
    }
    gv_ask_to_store(to, column, row, shared, GV_BOX_ADD, GV_PC);
}

void gv_box_store_commit(void)
{
    groups[gv_thread_slot()]++;
    stored = 1;
}

// L2 adds: the old values are read just before the sums are written, with no other access between them.
static void add_matrix(gv_flight *f)
{
    const gv_box *b = &f->box;
    for (uint32_t i = b->first_row; i < b->end_row; i++)
        for (uint32_t p = b->first_piece; p < b->end_piece; p++) {
            uintptr_t from = in_matrix(f, i, p);
            float there[PIECE / sizeof(float)], *mine = (float *)(f->data + i * f->pitch + p * PIECE);
            gv_global_needs_one_process(from); // the order of the blocks decides the value
            if (!gv_access_made_row((void *)from, inside(f, p), from % PIECE ? GV_ANY_ALIGNMENT : 0, b->pc)) continue;
            memcpy(there, (void *)from, inside(f, p));
            for (uint32_t e = 0; e < inside(f, p) / sizeof(float); e++) mine[e] += there[e];
        }
    gv_site_is(b->pc, GV_SITE_ATOMIC);
}

static void store(gv_flight *f)
{
    const gv_box *b = &f->box;
    f->box.arrived = (uint16_t)gv_now.phase;
    f->box.read_at = gv_made();
    for (uint32_t i = b->first_row; i < b->end_row; i++) {
        if (pieces(f, i, b->first_piece, b->end_piece, 0, 0, b->pc - 1)) {
            f->box.reads += b->end_piece - b->first_piece;
            continue;
        }
        for (uint32_t p = b->first_piece; p < b->end_piece; p++) {
            uintptr_t from = in_shared(f, i, p);
            if (gv_access_made_row((void *)from, PIECE, 0, b->pc - 1)) f->box.reads++;
            memcpy(f->data + i * f->pitch + p * PIECE, (void *)from, PIECE);
        }
    }
    if (b->store == GV_BOX_ADD) add_matrix(f);
    f->box.write_at = gv_made();
    for (uint32_t i = b->first_row; i < b->end_row; i++) {
        if (pieces(f, i, b->first_piece, b->end_piece, 1, 1, b->pc)) {
            f->box.writes += b->end_piece - b->first_piece;
            continue;
        }
        for (uint32_t p = b->first_piece; p < b->end_piece; p++) {
            uintptr_t to = in_matrix(f, i, p);
            if (!gv_access_made_row((void *)to, inside(f, p), GV_WRITE | (to % PIECE ? GV_ANY_ALIGNMENT : 0), b->pc))
                continue;
            f->box.writes++;
            memcpy((void *)to, f->data + i * f->pitch + p * PIECE, inside(f, p));
        }
    }
}

static void stores_up_to(uint32_t end)
{
    for (uint32_t i = 0; i < gv_under_way;) {
        gv_flight *f = gv_flight_at(i);
        if (!f->box.store || f->rank != gv_now.rank || f->box.thread != gv_now.thread || f->group >= end) {
            i++;
            continue;
        }
        store(f);
        end_flight(i);
    }
}

void gv_box_store_wait(uint32_t left)
{
    gv_catch_up();
    uint32_t committed = groups[gv_thread_slot()];
    if (committed > left) stores_up_to(committed - left);
}

void gv_box_store_wait_written(void)
{
    gv_box_store_wait(0);
    gv_tell(GV_EVENT_WRITTEN, 0, GV_PC);
}

void gv_boxes_left(void)
{
    if (gv_under_way) stores_up_to(UINT32_MAX);
}
