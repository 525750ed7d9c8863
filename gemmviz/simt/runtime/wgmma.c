// wgmma: products of a warpgroup from shared memory. Rules: PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions". The operands are read where the product is issued. The kernel may use the sums only after its wait:
// until then they hold NaNs (sums of whole numbers an improbable value), and the operands must not be overwritten.
#include "wgmma.h"
#include "access.h"
#include "cluster.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "kernel_calls/wmma.h"
#include "notes.h"
#include "pages.h"
#include "postponed.h"
#include "stop.h"
#include "wgmma_products.h"
#include "wgmma_rows.h"
#include <string.h>

enum { ROWS = GV_WGMMA_ROWS, DEPTH_BYTES = GV_WGMMA_DEPTH_BYTES };
enum { KEPT = 4, MOST_SPANS = 512, MOST_PRODUCTS = GV_MOST_PRODUCTS };
enum { MOST_THREADS = GV_MAX_CLUSTER * GV_MAX_THREADS, MOST_GROUPS = MOST_THREADS / GV_WARPGROUP };

// What a thread has issued. Its products are postponed until it waits for them, or does anything that other threads may
// notice: see postponed.h. Nobody may use the sums before.
typedef struct {
    uint32_t used, groups, products, rows_of; // used: a bit for each of `kept`; rows_of: products that have their rows
    sums *of[MOST_PRODUCTS];
    sums kept[KEPT];
} thread_products;
static thread_products *of; // in the order of gv_number_now, so that they lie in few pages

// What few kernels need.
typedef struct {
    gv_wgmma_product own[MOST_PRODUCTS]; // of A in registers, or a product that is made at once
    uint32_t registers[MOST_PRODUCTS][4];
    intptr_t apart[KEPT][SUMS];
} thread_operands;
static thread_operands *operands_of;

// A product in few words, which are the same in all threads.
typedef struct {
    uintptr_t a, b, pc; // a: 0 if A is in registers
    uint64_t a_bytes, b_bytes, how, minus;
} words;

// The postponed products of a warpgroup. The first thread that issues one describes it for all.
typedef struct {
    uint32_t products;
    uint64_t rows_before;
    words in_words[MOST_PRODUCTS];
    gv_wgmma_product product[MOST_PRODUCTS];
} group_products;
static group_products of_groups[MOST_GROUPS];
static uint32_t groups_with_products;

// Shared memory that products in flight read.
typedef struct {
    uintptr_t at, end, pc;
    uint32_t rank, thread, group; // thread: the first of its warpgroup
} span;
static span spans[MOST_SPANS];
static uint32_t under_way;
static uint32_t ended[MOST_GROUPS]; // of a warpgroup: it has no spans of groups of products before this one

void gv_wgmma_reset(void)
{
    const gv_run *r = gv_now.run;
    uint32_t threads = r->block[0] * r->block[1] * r->block[2];
    for (uint32_t i = 0; of && i < r->cluster * threads; i++)
        of[i].used = of[i].groups = of[i].products = of[i].rows_of = 0;
    for (uint32_t i = 0; groups_with_products && i < MOST_GROUPS; i++) of_groups[i].products = 0;
    under_way = groups_with_products = 0;
    memset(ended, 0, sizeof ended);
    gv_now.keep_rows = NULL;
    gv_wgmma_products_begin();
}

static sums *sums_at(uint32_t *d, uint32_t *const *apart, uint32_t count, int type, int add)
{
    thread_products *mine = &of[gv_number_now()];
    uint32_t i = 0;
    while (i < KEPT && !(mine->used >> i & 1 && mine->kept[i].d == d)) i++;
    if (i == KEPT) {
        i = (uint32_t)__builtin_ctz(~mine->used);
        if (i >= KEPT) gv_stop(GV_TOO_MANY_COPIES);
        mine->used |= 1u << i;
        take(&mine->kept[i], d, apart, operands_of[gv_number_now()].apart[i], count, type, add);
    }
    mine->kept[i].group = mine->groups;
    return &mine->kept[i];
}

static void note_span(uintptr_t at, uint64_t bytes, uintptr_t pc)
{
    if (under_way == MOST_SPANS) return; // only a finding is lost
    uint32_t thread = gv_now.thread / GV_WARPGROUP * GV_WARPGROUP, group = of[gv_number_now()].groups;
    uint32_t *gone = &ended[gv_thread_slot() / GV_WARPGROUP];
    if (*gone > group) *gone = group;
    spans[under_way++] = (span){at, at + bytes, pc, gv_now.rank, thread, group};
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

// Keeps the rows of a warpgroup's postponed products, of each thread in its name.
static void keep_rows(uint32_t group)
{
    const group_products *g = &of_groups[group];
    uint32_t rank = group * GV_WARPGROUP / GV_MAX_THREADS, first = group * GV_WARPGROUP % GV_MAX_THREADS;
    uint32_t before = gv_now.rank, thread = gv_now.thread, turn = gv_now.turn;
    gv_mark_made();
    gv_switch_block(rank);
    for (uint32_t i = 0; i < g->products; i++) gv_rows_of_product(i, &g->product[i], g->in_words[i].pc);
    // Otherwise a thread would have read another value than is there now.
    if (gv_operands_written(0, g->products, g->rows_before)) gv_stop(GV_AGAIN);
    for (gv_now.thread = first; gv_now.thread < first + GV_WARPGROUP; gv_now.thread++) {
        thread_products *its = &of[gv_number_now()];
        if (its->rows_of == its->products) continue;
        gv_now.turn = gv_cluster.turns[gv_number_now()];
        gv_keep_rows_of_products(its->rows_of, its->products);
        its->rows_of = its->products;
        gv_mark_made();
    }
    gv_switch_block(before);
    gv_now.thread = thread;
    gv_now.turn = turn;
}

static void keep_all_rows(void)
{
    for (uint32_t i = 0; i < MOST_GROUPS; i++)
        if (of_groups[i].products) keep_rows(i);
}

static void do_all(void *posted[GV_WARPGROUP])
{
    static gv_wgmma_work work[MOST_PRODUCTS][GV_WARPGROUP];
    static const gv_wgmma_work *all[MOST_PRODUCTS][GV_WARPGROUP];
    uint32_t group = gv_thread_slot() / GV_WARPGROUP;
    group_products *g = &of_groups[group];
    for (uint32_t t = 0; t < GV_WARPGROUP; t++)
        if (((thread_products *)posted[t])->products != g->products) gv_stop(GV_AGAIN);
    keep_rows(group);
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) {
        thread_products *its = posted[t];
        gv_wgmma_product *own = operands_of[its - of].own;
        for (uint32_t i = 0; i < g->products; i++) {
            work[i][t] = (gv_wgmma_work){its->of[i], g->product[i].registers ? &own[i] : &g->product[i]};
            all[i][t] = &work[i][t];
        }
        its->products = its->rows_of = 0;
    }
    done = g->products;
    g->products = 0;
    if (!--groups_with_products) gv_now.keep_rows = NULL;
    gv_multiply(all, done);
}

static void do_one(void *posted[GV_WARPGROUP]) { gv_multiply((const gv_wgmma_work *(*)[GV_WARPGROUP])posted, 1); }

// Registers are not concerned: those of a product's sums hold no sums yet.
static void catch_up(uintptr_t at, uint32_t bytes)
{
    (void)bytes;
    if (gv_on_stack(at)) return;
    thread_products *mine = &of[gv_number_now()];
    gv_now.catch_up = NULL;
    gv_warpgroup_instruction(mine, do_all, of_groups[gv_thread_slot() / GV_WARPGROUP].in_words[0].pc);
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

static void *memory_for_threads(size_t each)
{
    void *memory = gv_huge_memory((MOST_THREADS * each + GV_HUGE - 1) / GV_HUGE * GV_HUGE);
    if (!memory) gv_stop(GV_NO_MEMORY);
    return memory;
}

// Returns what the running thread has issued, with room for its next product.
static thread_products *mine_now(void)
{
    if (!operands_of) operands_of = memory_for_threads(sizeof *operands_of);
    if (!of) of = memory_for_threads(sizeof *of);
    if (gv_now.catch_up && (gv_now.catch_up != catch_up || of[gv_number_now()].products == MOST_PRODUCTS))
        gv_catch_up();
    return &of[gv_number_now()];
}

static gv_wgmma_product described(const words *w)
{
    return (gv_wgmma_product){
        .a = {w->a, (uint32_t)w->a_bytes, (w->how >> GV_WGMMA_ROW_A & 15) * 16, (uint32_t)(w->a_bytes >> 32)},
        .b = {w->b, (uint32_t)w->b_bytes, (w->how >> GV_WGMMA_ROW_B & 15) * 16, (uint32_t)(w->b_bytes >> 32)},
        .n = w->how >> GV_WGMMA_N & 0x1ff,
        .type_d = w->how >> GV_WGMMA_TYPE_D & 15,
        .type_a = w->how >> GV_WGMMA_TYPE_A & 15,
        .type_b = w->how >> GV_WGMMA_TYPE_B & 15,
        .a_across = w->how >> GV_WGMMA_A_ACROSS & 1,
        .b_across = w->how >> GV_WGMMA_B_ACROSS & 1,
        .add = (int)(w->how >> GV_WGMMA_ADD),
        .minus = (int)w->minus,
    };
}

// Numbers the instructions in the order in which they read.
static void name_sites(const words *w, int in_registers)
{
    if (!in_registers) gv_site_is(w->pc, GV_SITE_PRODUCT);
    gv_site_is(w->pc - 1, GV_SITE_PRODUCT);
    gv_site_is(w->pc, GV_SITE_PRODUCT);
}

// The first thread of a warpgroup issues this product.
static void describe(group_products *g, const words *w, const uint32_t *registers)
{
    gv_must_be_warpgroup(w->pc);
    gv_work_together(GV_WARPGROUP);
    name_sites(w, registers != NULL);
    groups_with_products += !g->products;
    if (!g->products) g->rows_before = gv_now.run->count;
    g->in_words[g->products] = *w;
    g->product[g->products] = described(w);
    g->product[g->products++].registers = registers; // not NULL: each thread has its own
}

static void note_both(const gv_wgmma_product *p, uintptr_t pc)
{
    uint32_t size = gv_operand_itemsize(p->type_a);
    if (!p->registers) note_spans(&p->a, p->a_across, size, ROWS, pc);
    note_spans(&p->b, p->b_across, size, p->n, pc);
}

static void multiply_at_once(sums *d, const words *w, const uint32_t *registers)
{
    gv_wgmma_product *p = operands_of[gv_number_now()].own;
    gv_wgmma_work work = {d, p};
    *p = described(w);
    p->registers = registers;
    gv_read_pieces(p, w->pc);
    name_sites(w, registers != NULL);
    gv_work_together(GV_WARPGROUP);
    if (gv_now.thread % GV_WARPGROUP == 0) note_both(p, w->pc);
    gv_warpgroup_instruction(&work, do_one, w->pc);
}

static inline int differ(const words *v, const words *w)
{
    return v->a != w->a || v->b != w->b || v->pc != w->pc || v->a_bytes != w->a_bytes || v->b_bytes != w->b_bytes ||
           v->how != w->how || v->minus != w->minus;
}

static inline __attribute__((always_inline)) void multiply(
    void *d, void *const *apart, const words *w, const uint32_t *registers)
{
    thread_products *mine = mine_now();
    uint32_t n = w->how >> GV_WGMMA_N & 0x1ff, type = w->how >> GV_WGMMA_TYPE_D & 15, number = mine->products;
    int add = w->how >> GV_WGMMA_ADD != 0;
    sums *its = sums_at(d, (uint32_t *const *)apart, type == GV_HALF ? n / 4 : n / 2, type, add);
    thread_operands *operands = &operands_of[gv_number_now()];
    if (registers) {
        memcpy(operands->registers[number], registers, sizeof operands->registers[number]);
        registers = operands->registers[number];
    }
    if (gv_now.run->at_once) {
        multiply_at_once(its, w, registers);
        return;
    }
    group_products *g = &of_groups[gv_thread_slot() / GV_WARPGROUP];
    if (number == g->products) describe(g, w, registers);
    else if (differ(&g->in_words[number], w)) gv_stop(GV_AGAIN);
    if (registers) {
        operands->own[number] = g->product[number];
        operands->own[number].registers = registers;
    }
    gv_now.run->last_pc = w->pc;
    if (gv_now.thread % GV_WARPGROUP == 0) note_both(&g->product[number], w->pc);
    mine->of[number] = its;
    mine->products = number + 1;
    gv_now.catch_up = catch_up;
    gv_now.keep_rows = keep_all_rows;
    gv_now.postpones = 1;
}

static uint64_t bytes_of(const gv_operand *o) { return o->next_bytes | (uint64_t)o->group_bytes << 32; }

static words words_of(const gv_wgmma_product *p, uintptr_t pc)
{
    uint64_t rows = (uint64_t)p->a.row_bytes / 16 << GV_WGMMA_ROW_A | (uint64_t)p->b.row_bytes / 16 << GV_WGMMA_ROW_B;
    uint32_t types = (uint32_t)p->type_d << GV_WGMMA_TYPE_D | (uint32_t)p->type_a << GV_WGMMA_TYPE_A |
                     (uint32_t)p->type_b << GV_WGMMA_TYPE_B;
    uint32_t lies = (uint32_t)!!p->a_across << GV_WGMMA_A_ACROSS | (uint32_t)!!p->b_across << GV_WGMMA_B_ACROSS;
    uint64_t how = p->n << GV_WGMMA_N | types | lies | rows | (uint64_t)(uint32_t)p->add << GV_WGMMA_ADD;
    return (words){p->registers ? 0 : p->a.at, p->b.at, pc, bytes_of(&p->a), bytes_of(&p->b), how, p->minus != 0};
}

void gv_wgmma(void *d, const gv_wgmma_product *p)
{
    words w = words_of(p, GV_PC);
    multiply(d, NULL, &w, p->registers);
}

void gv_wgmma_apart(void *const *d, const gv_wgmma_product *p)
{
    words w = words_of(p, GV_PC);
    multiply(d[0], d, &w, p->registers);
}

void gv_wgmma_of(void *d, uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes, uint64_t how)
{
    int in_registers = how >> GV_WGMMA_REGISTERS & 1;
    words w = {in_registers ? 0 : a, b, GV_PC, a_bytes, b_bytes, how, 0};
    multiply(d, NULL, &w, in_registers ? (const uint32_t *)a : NULL);
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
    if (of) of[gv_number_now()].groups++;
}

void gv_wgmma_wait(uint32_t left)
{
    if (!of) return;
    gv_catch_up();
    thread_products *mine = &of[gv_number_now()];
    uint32_t groups = mine->groups;
    gv_settle();
    for (uint32_t i = 0; i < KEPT; i++) {
        if (!(mine->used >> i & 1) || mine->kept[i].group + left >= groups) continue;
        put_back(&mine->kept[i]);
        mine->used &= ~(1u << i);
    }
    uint32_t spans_left = 0, first = gv_now.thread / GV_WARPGROUP * GV_WARPGROUP;
    uint32_t *gone = &ended[gv_thread_slot() / GV_WARPGROUP], end = groups > left ? groups - left : 0;
    if (end <= *gone) return; // another thread of the warpgroup has waited for them
    *gone = end;
    for (uint32_t i = 0; i < under_way; i++) {
        const span *s = &spans[i];
        if (s->rank == gv_now.rank && s->thread == first && s->group < end) continue;
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
