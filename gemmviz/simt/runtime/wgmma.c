// wgmma: products of a warpgroup from shared memory. Rules: PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions". The operands are read where the product is asked for. The sums are the kernel's only when it has
// waited: until then they hold NaNs, and the operands may not be overwritten.
#define _GNU_SOURCE
#include "wgmma.h"
#include "access.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "kernel_calls/wmma.h"
#include "notes.h"
#include "stop.h"
#include <string.h>
#include <sys/mman.h>

enum { ROWS = 64, DEPTH = 16, COLUMNS = 256, SUMS = COLUMNS / 2, KEPT = 4, MOST_SPANS = 512 };
enum { MOST_THREADS = GV_MAX_CLUSTER * GV_MAX_THREADS };

// The sums that a thread has after its wait.
typedef struct {
    float *d;
    uint32_t count, group;
    float value[SUMS];
} sums;
static struct {
    uint32_t used, groups;
    sums kept[KEPT];
} *of;

// Shared memory that products under way read.
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
        of[thread].used = of[thread].groups = 0;
    }
    under_way = 0;
}

typedef struct {
    sums *d;
    gv_operand a, b;
    uint32_t n;
    int type, across, add;
    uintptr_t pc;
} product;

// The first byte of elements r and r + 1, ... of one k; see along_k and across_k.
static uintptr_t place(gv_operand o, int across, uint32_t r, uint32_t k)
{
    uint32_t in_row = o.row_bytes / 2;
    if (!across) return gv_swizzled(o.at + r * o.row_bytes + k * 2, o.row_bytes);
    return gv_swizzled(o.at + r / in_row * (uintptr_t)o.next_bytes + k * o.row_bytes + r % in_row * 2, o.row_bytes);
}

static float element(gv_operand o, int across, int type, uint32_t r, uint32_t k)
{
    uintptr_t at = place(o, across, r, k);
    if (type == GV_HALF) {
        _Float16 half;
        memcpy(&half, (void *)at, sizeof half);
        return (float)half;
    }
    uint16_t high;
    memcpy(&high, (void *)at, sizeof high);
    uint32_t bits = (uint32_t)high << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Sums in double and rounds once, as wmma.c does.
static void multiply(void *posted[GV_WARPGROUP])
{
    static float a[ROWS][DEPTH], b[DEPTH][COLUMNS];
    const product *first = posted[0];
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t k = 0; k < DEPTH; k++) a[r][k] = element(first->a, 0, first->type, r, k);
    for (uint32_t k = 0; k < DEPTH; k++)
        for (uint32_t c = 0; c < first->n; c++) b[k][c] = element(first->b, first->across, first->type, c, k);
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) {
        const product *p = posted[t];
        for (uint32_t i = 0; i < p->n / 2; i++) {
            uint32_t row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
            double sum = p->add ? p->d->value[i] : 0;
            for (uint32_t k = 0; k < DEPTH; k++) sum += (double)a[row][k] * b[k][column];
            p->d->value[i] = (float)sum;
        }
    }
}

static sums *sums_at(float *d, uint32_t count)
{
    if (!of)
        of = mmap(NULL, MOST_THREADS * sizeof *of, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1, 0);
    if (of == MAP_FAILED) gv_stop(GV_NO_MEMORY);
    uint32_t used = of[gv_thread_slot()].used, i = 0;
    while (i < used && of[gv_thread_slot()].kept[i].d != d) i++;
    if (i == KEPT) gv_stop(GV_TOO_MANY_COPIES);
    sums *s = &of[gv_thread_slot()].kept[i];
    if (i == used) {
        of[gv_thread_slot()].used++;
        s->d = d;
        s->count = count;
        memcpy(s->value, d, count * sizeof *d);
        memset(d, 0xff, count * sizeof *d);
    }
    s->group = of[gv_thread_slot()].groups;
    return s;
}

static void note_span(uintptr_t at, uint64_t bytes, uintptr_t pc)
{
    if (under_way == MOST_SPANS) return; // nothing but a finding is lost
    uint32_t thread = gv_now.thread / GV_WARPGROUP * GV_WARPGROUP;
    spans[under_way++] = (span){at, at + bytes, pc, gv_now.rank, thread, of[gv_thread_slot()].groups};
}

// Of each operand, 8 rows of 16 bytes are read at a time, which together touch every bank once.
static void read_pieces(gv_operand o, int across, uint32_t rows, uintptr_t pc)
{
    uint32_t in_group = gv_now.thread % GV_WARPGROUP, total = across ? DEPTH * rows / 8 : rows * 2;
    for (uint32_t i = in_group; i < total; i += GV_WARPGROUP) {
        uint32_t tile = i / 8, within = i % 8;
        uintptr_t at = across ? place(o, 1, tile / 2 * 8, tile % 2 * 8 + within)
                              : place(o, 0, tile / 2 * 8 + within, tile % 2 * 8);
        gv_access((void *)at, 16, 0, pc);
    }
}

void gv_wgmma(float *d, uint32_t n, int type, gv_operand a, gv_operand b, int across, int add)
{
    uintptr_t pc = GV_PC;
    product mine = {sums_at(d, n / 2), a, b, n, type, across, add, pc};
    read_pieces(a, 0, ROWS, pc);
    read_pieces(b, across, n, pc - 1);
    gv_site_is(pc, GV_SITE_PRODUCT);
    gv_site_is(pc - 1, GV_SITE_PRODUCT);
    gv_work_together(GV_WARPGROUP);
    if (gv_now.thread % GV_WARPGROUP == 0) {
        note_span(a.at, (ROWS - 1) * 128 + 32, pc);
        if (!across) note_span(b.at, (n - 1) * 128 + 32, pc);
        for (uint32_t c = 0; across && c < n * 2 / b.row_bytes; c++)
            note_span(b.at + c * (uintptr_t)b.next_bytes, DEPTH * b.row_bytes, pc);
    }
    gv_warpgroup_instruction(&mine, multiply, pc);
}

void gv_wgmma_commit(void)
{
    if (of) of[gv_thread_slot()].groups++;
}

void gv_wgmma_wait(uint32_t left)
{
    if (!of) return;
    uint32_t groups = of[gv_thread_slot()].groups, kept = 0;
    gv_settle();
    for (uint32_t i = 0; i < of[gv_thread_slot()].used; i++) {
        sums *s = &of[gv_thread_slot()].kept[i];
        if (s->group + left < groups) memcpy(s->d, s->value, s->count * sizeof *s->d);
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
