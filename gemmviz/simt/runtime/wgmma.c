// wgmma: products of a warpgroup from shared memory. Rules: PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions". The operands are read where the product is issued. The kernel may use the sums only after its wait:
// until then they hold NaNs (sums of whole numbers an improbable value), and the operands must not be overwritten.
#include "wgmma.h"
#include "access.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "kernel_calls/wmma.h"
#include "notes.h"
#include "pages.h"
#include "postponed.h"
#include "stop.h"
#include "wgmma_products.h"
#include <string.h>

enum { ROWS = GV_WGMMA_ROWS, DEPTH_BYTES = GV_WGMMA_DEPTH_BYTES };
enum { SWIZZLED = 1024 /* bytes, after which the places of swizzled pieces repeat */ };
enum { KEPT = 4, MOST_SPANS = 512, MOST_PRODUCTS = 8 /* that a thread postpones */ };
enum { MOST_THREADS = GV_MAX_CLUSTER * GV_MAX_THREADS };

// A product that is postponed until its thread waits for it, or does anything that other threads may notice: see
// postponed.h. Nobody may use the sums before.
typedef struct {
    gv_wgmma_work it;
    gv_wgmma_product of;
    uint32_t registers[4];
    uintptr_t pc;
} kept_product;

typedef struct {
    uint32_t used, groups, products;
    sums kept[KEPT];
    kept_product product[MOST_PRODUCTS];
} thread_products;
static thread_products *of;

// Shared memory that products in flight read.
typedef struct {
    uintptr_t at, end, pc;
    uint32_t rank, thread, group; // thread: the first of its warpgroup
} span;
static span spans[MOST_SPANS];
static uint32_t under_way;

void gv_wgmma_reset(void)
{
    const gv_run *r = gv_now.run;
    uint32_t threads = r->block[0] * r->block[1] * r->block[2];
    for (uint32_t i = 0; of && i < r->cluster * threads; i++) {
        uint32_t thread = i / threads * GV_MAX_THREADS + i % threads;
        of[thread].used = of[thread].groups = of[thread].products = 0;
    }
    under_way = 0;
    gv_wgmma_products_begin();
}

static sums *sums_at(uint32_t *d, uint32_t *const *apart, uint32_t count, int type)
{
    uint32_t used = of[gv_thread_slot()].used, i = 0;
    while (i < used && of[gv_thread_slot()].kept[i].d != d) i++;
    if (i == KEPT) gv_stop(GV_TOO_MANY_COPIES);
    sums *s = &of[gv_thread_slot()].kept[i];
    if (i == used) {
        of[gv_thread_slot()].used++;
        take(s, d, apart, count, type);
    }
    s->group = of[gv_thread_slot()].groups;
    return s;
}

static void note_span(uintptr_t at, uint64_t bytes, uintptr_t pc)
{
    if (under_way == MOST_SPANS) return; // only a finding is lost
    uint32_t thread = gv_now.thread / GV_WARPGROUP * GV_WARPGROUP;
    spans[under_way++] = (span){at, at + bytes, pc, gv_now.rank, thread, of[gv_thread_slot()].groups};
}

// From each operand, 8 rows of 16 bytes are read at a time. Together they access every bank once. What further threads
// read is asked for: mostly it is not in the nearest cache.
static void read_pieces(const gv_operand *operand, int across, uint32_t size, uint32_t rows, uintptr_t pc)
{
    // Word by word: they were just written, and a wider load would wait for the stores.
    gv_operand o = {operand->at, operand->next_bytes, operand->row_bytes, operand->group_bytes};
    uint32_t in_piece = 16u >> __builtin_ctz(size), in_group = gv_now.thread % GV_WARPGROUP, count = 0;
    uint32_t tile = in_group / 8, within = in_group % 8;
    uintptr_t at[2 * COLUMNS / GV_WARPGROUP];
    uintptr_t further = (uintptr_t)GV_WARPGROUP / 16 * o.group_bytes;
    if (!across && o.row_bytes > 16 && further % SWIZZLED == 0) { // all pieces of a thread are swizzled alike
        uintptr_t first = gv_operand_place(o, 0, size, tile / 2 * 8 + within, tile % 2 * in_piece);
        for (uint32_t i = in_group; i < rows * 2; i += GV_WARPGROUP) at[count] = first + further * count, count++;
    } else {
        for (uint32_t i = in_group; i < rows * 2; i += GV_WARPGROUP, tile += GV_WARPGROUP / 8)
            at[count++] = across ? gv_operand_place(o, 1, size, tile / 2 * 8, tile % 2 * 8 + within)
                                 : gv_operand_place(o, 0, size, tile / 2 * 8 + within, tile % 2 * in_piece);
    }
    for (uint32_t i = 0; i < count; i++) __builtin_prefetch((void *)(at[i] + o.group_bytes));
    if (gv_access_pieces(at, count, NULL, pc)) return;
    for (uint32_t i = 0; i < count; i++) gv_access_ahead((void *)at[i], 16, 0, pc);
}

// The shared memory of an operand.
static void note_spans(const gv_operand *o, int across, uint32_t size, uint32_t rows, uintptr_t pc)
{
    if (o->row_bytes == 16) return; // its pieces are not adjacent: only a finding is lost
    if (!across) {
        note_span(o->at, (rows / 8 - 1) * (uint64_t)o->group_bytes + 7 * o->row_bytes + DEPTH_BYTES, pc);
        return;
    }
    for (uint32_t c = 0; c < rows * size / o->row_bytes; c++)
        note_span(o->at + c * (uintptr_t)o->next_bytes, o->group_bytes + 8 * (uint64_t)o->row_bytes, pc);
}

static uint32_t done; // products that were done together just now

static void do_all(void *posted[GV_WARPGROUP])
{
    thread_products *first = posted[0];
    uint32_t products = first->products;
    const gv_wgmma_work *all[MOST_PRODUCTS][GV_WARPGROUP];
    for (uint32_t t = 0; t < GV_WARPGROUP; t++)
        if (((thread_products *)posted[t])->products != products) gv_stop(GV_AGAIN);
    for (uint32_t i = 0; i < products; i++)
        for (uint32_t t = 0; t < GV_WARPGROUP; t++) {
            kept_product *kept = &((thread_products *)posted[t])->product[i];
            if (kept->pc != first->product[i].pc) gv_stop(GV_AGAIN);
            all[i][t] = &kept->it;
        }
    gv_multiply(all, products);
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) ((thread_products *)posted[t])->products = 0;
    done = products;
}

static void do_one(void *posted[GV_WARPGROUP]) { gv_multiply((const gv_wgmma_work *(*)[GV_WARPGROUP])posted, 1); }

// Registers are not concerned: those of a product's sums hold no sums yet.
static void catch_up(uintptr_t at, uint32_t bytes)
{
    (void)bytes;
    if (gv_on_stack(at)) return;
    thread_products *mine = &of[gv_thread_slot()];
    gv_now.catch_up = NULL;
    gv_warpgroup_instruction(mine, do_all, mine->product[0].pc);
    // Events have the order in which threads run. If each product were done at once, the last thread to arrive would
    // be the last one of the warp before for each further product, in the next turn of all warps.
    uint32_t further = done ? done - 1 : 0, thread = gv_now.thread, turns = 0;
    for (done = 0; further; further--) {
        if (thread % GV_WARPGROUP < GV_WARP) {
            thread += GV_WARPGROUP - GV_WARP;
        } else {
            thread -= GV_WARP;
            turns++;
        }
        thread |= GV_WARP - 1;
    }
    if (thread != gv_now.thread || turns) gv_hold_warpgroup(thread, turns);
}

// Returns memory for the running thread's next product, for which it catches up if it has to.
static kept_product *next_product(void)
{
    if (!of) of = (thread_products *)gv_huge_memory((MOST_THREADS * sizeof *of + GV_HUGE - 1) / GV_HUGE * GV_HUGE);
    if (!of) gv_stop(GV_NO_MEMORY);
    if (gv_now.catch_up && (gv_now.catch_up != catch_up || of[gv_thread_slot()].products == MOST_PRODUCTS))
        gv_catch_up();
    thread_products *mine = &of[gv_thread_slot()];
    return &mine->product[mine->products];
}

static void keep_registers(kept_product *kept, const uint32_t *registers)
{
    memcpy(kept->registers, registers, sizeof kept->registers);
    kept->of.registers = kept->registers;
}

static inline __attribute__((always_inline)) void multiply_at(
    kept_product *kept, void *d, void *const *apart, uintptr_t pc)
{
    const gv_wgmma_product *p = &kept->of;
    uint32_t size = gv_operand_itemsize(p->type_a), registers = p->type_d == GV_HALF ? p->n / 4 : p->n / 2;
    kept->it.d = sums_at(d, (uint32_t *const *)apart, registers, p->type_d);
    kept->it.of = p;
    kept->pc = pc;
    if (!p->registers) read_pieces(&p->a, p->a_across, size, ROWS, pc);
    read_pieces(&p->b, p->b_across, size, p->n, pc - 1);
    gv_site_is(pc, GV_SITE_PRODUCT);
    gv_site_is(pc - 1, GV_SITE_PRODUCT);
    gv_work_together(GV_WARPGROUP);
    if (gv_now.thread % GV_WARPGROUP == 0) {
        if (!p->registers) note_spans(&p->a, p->a_across, size, ROWS, pc);
        note_spans(&p->b, p->b_across, size, p->n, pc);
    }
    if (gv_now.run->at_once) {
        gv_warpgroup_instruction(&kept->it, do_one, pc);
        return;
    }
    gv_must_be_warpgroup(pc);
    of[gv_thread_slot()].products++;
    gv_now.catch_up = catch_up;
    gv_now.postpones = 1;
}

static void multiply_product(void *d, void *const *apart, const gv_wgmma_product *p, uintptr_t pc)
{
    kept_product *kept = next_product();
    kept->of = *p;
    if (p->registers) keep_registers(kept, p->registers);
    multiply_at(kept, d, apart, pc);
}

void gv_wgmma(void *d, const gv_wgmma_product *p) { multiply_product(d, NULL, p, GV_PC); }
void gv_wgmma_apart(void *const *d, const gv_wgmma_product *p) { multiply_product(d[0], d, p, GV_PC); }

void gv_wgmma_of(void *d, uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes, uint64_t how)
{
    kept_product *kept = next_product();
    gv_wgmma_product *p = &kept->of;
    p->a.at = a;
    p->a.next_bytes = (uint32_t)a_bytes;
    p->a.group_bytes = (uint32_t)(a_bytes >> 32);
    p->a.row_bytes = (how >> GV_WGMMA_ROW_A & 15) * 16;
    p->b.at = b;
    p->b.next_bytes = (uint32_t)b_bytes;
    p->b.group_bytes = (uint32_t)(b_bytes >> 32);
    p->b.row_bytes = (how >> GV_WGMMA_ROW_B & 15) * 16;
    p->n = how >> GV_WGMMA_N & 0x1ff;
    p->type_d = how >> GV_WGMMA_TYPE_D & 15;
    p->type_a = how >> GV_WGMMA_TYPE_A & 15;
    p->type_b = how >> GV_WGMMA_TYPE_B & 15;
    p->a_across = how >> GV_WGMMA_A_ACROSS & 1;
    p->b_across = how >> GV_WGMMA_B_ACROSS & 1;
    p->add = (int)(how >> GV_WGMMA_ADD);
    p->minus = 0;
    p->registers = NULL;
    if (how >> GV_WGMMA_REGISTERS & 1) keep_registers(kept, (const uint32_t *)a);
    multiply_at(kept, d, NULL, GV_PC);
}

// Shared arrays are far apart, so several may have an address with these low bits: operands are in the largest array.
uintptr_t gv_shared_at(uintptr_t low, uint32_t bits)
{
    uintptr_t window = (uintptr_t)1 << bits, found = low;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < gv_now.run->arrays; i++) {
        const gv_array *a = &gv_now.run->array[i];
        if (!a->shared || a->inside) continue;
        uintptr_t at = a->start + ((low - a->start) & (window - 1));
        if (at - a->start >= a->bytes || a->bytes <= largest) continue;
        found = at;
        largest = a->bytes;
    }
    return found;
}

void gv_wgmma_commit(void)
{
    if (of) of[gv_thread_slot()].groups++;
}

void gv_wgmma_wait(uint32_t left)
{
    if (!of) return;
    gv_catch_up();
    uint32_t groups = of[gv_thread_slot()].groups, kept = 0;
    gv_settle();
    for (uint32_t i = 0; i < of[gv_thread_slot()].used; i++) {
        sums *s = &of[gv_thread_slot()].kept[i];
        if (s->group + left < groups) put_back(s);
        else if (kept++ != i) of[gv_thread_slot()].kept[kept - 1] = *s;
    }
    of[gv_thread_slot()].used = kept;
    uint32_t spans_left = 0, first = gv_now.thread / GV_WARPGROUP * GV_WARPGROUP;
    for (uint32_t i = 0; i < under_way; i++) {
        const span *s = &spans[i];
        if (s->rank == gv_now.rank && s->thread == first && s->group + left < groups) continue;
        spans[spans_left++] = *s;
    }
    under_way = spans_left;
}

void gv_wgmma_check_write(uintptr_t at, uint64_t bytes, uint32_t rank, uintptr_t pc)
{
    for (uint32_t i = 0; i < under_way; i++) {
        const span *s = &spans[i];
        if (s->rank != rank || s->end <= at || s->at >= at + bytes) continue;
        const gv_run *r = gv_now.run;
        for (uint32_t n = 0; n < r->arrays; n++)
            if (at - r->array[n].start < r->array[n].bytes) {
                gv_notice(GV_NOTE_OPERAND, (int)n, (int64_t)(at - r->array[n].start), pc, s->thread, s->pc, 1);
                break;
            }
        return;
    }
}
