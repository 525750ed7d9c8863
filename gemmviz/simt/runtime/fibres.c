// Runs the threads of a block or of a cluster as fibres, each from one wait to the next: see scheduler.c for their
// order. The lanes of a warp wait for each other at an instruction of the whole warp.
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "pages.h"
#include "stacks.h"
#include "stop.h"
#include <stdlib.h>
#include <string.h>

// A large stack has a guard page (stacks.c). Such stacks begin at different offsets in a page: otherwise the frames of
// all threads use the same lines of the cache. Smaller ones lie side by side without guard pages, in huge pages: new
// small pages for each stack take longer than all that the threads of some kernels do. Python gives such stacks, with
// an odd number of lines of the cache, if no function of the kernel has a large frame. A function that begins with less
// than LEAST_BYTES left ends the run with GV_AGAIN: these are for the recorder's own functions, or for one that calls
// no other. So does a fault, and a stack whose last word is in use.
enum { LEAST_BYTES = 3 << 10 };
enum { STAGGERS = 64, STAGGER_BYTES = 5 * 64, PAGE_BYTES = 4096 };

gv_together gv_cluster;

uint3 gv_thread_index(void) { return gv_cluster.thread_index; }
uint3 gv_block_index(void) { return gv_cluster.block_index; }
uint3 gv_block_shape(void)
{
    uint32_t *b = gv_now.run->block;
    return (uint3){b[0], b[1], b[2]};
}
uint3 gv_grid_shape(void)
{
    uint32_t *s = gv_now.run->grid;
    return (uint3){s[0], s[1], s[2]};
}

void gv_mark_made(void)
{
    gv_settle();
    gv_cluster.made[gv_number_now()] = gv_made();
    gv_mark();
}

static gv_fibre *to_run(uint32_t thread);

// The next lane of the warp that can run does so at once. The scheduler would choose the same one.
static void give_way(int state)
{
    gv_fibre *me = gv_running_fibre();
    uint32_t end = gv_now.thread / GV_WARP * GV_WARP + GV_WARP;
    if (end > gv_cluster.threads) end = gv_cluster.threads;
    gv_mark_made();
    *gv_state(me) = state;
    for (uint32_t t = gv_now.thread + 1; t < end; t++) {
        if (*gv_state(&me[t - gv_now.thread]) != GV_READY) continue;
        gv_context_switch(&me->context, &to_run(t)->context);
        return;
    }
    gv_context_switch(&me->context, &gv_cluster.scheduler);
}

void gv_pass_on(uint32_t thread)
{
    gv_fibre *me = gv_running_fibre();
    gv_mark_made();
    gv_context_switch(&me->context, &to_run(thread)->context);
}

void gv_barrier(void)
{
    gv_catch_up();
    gv_running_fibre()->barrier_pc = gv_now.run->last_pc = GV_PC;
    give_way(GV_AT_BARRIER);
}

uint32_t gv_lane(void) { return gv_now.thread % GV_WARP; }

void gv_no_warp(uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    gv_stop(GV_PART_OF_WARP);
}

void gv_assertion(void)
{
    gv_now.run->last_pc = GV_PC;
    gv_stop(GV_ASSERTION);
}

void gv_trap(void)
{
    gv_now.run->last_pc = GV_PC;
    gv_stop(GV_TRAP);
}

void gv_unknown_ptx(const char *instruction)
{
    gv_now.run->last_pc = GV_PC;
    strncpy(gv_now.run->instruction, instruction, GV_PTX_NAME - 1);
    gv_stop(GV_UNKNOWN_PTX);
}

void gv_warp_instruction(uint32_t mask, void *mine, gv_warp_work *work, uintptr_t pc)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre(), *warp = me - gv_now.thread % GV_WARP;
    gv_now.run->last_pc = me->barrier_pc = pc;
    me->posted = mine;
    me->warp_work = work;
    me->mask = mask &= gv_lanes();
    // Lanes mostly arrive in their order: the last one is looked for first.
    const gv_fibre *last = warp + (mask ? 31 - __builtin_clz(mask) : 0);
    if (mask && last != me && !(*gv_state(last) == GV_AT_WARP && last->mask == mask && last->warp_work == work)) {
        give_way(GV_AT_WARP);
        return;
    }
    static void *posted[GV_WARP];
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        gv_fibre *f = warp + lane;
        posted[lane] = NULL;
        if (!(mask >> lane & 1)) continue;
        if (f != me && !(*gv_state(f) == GV_AT_WARP && f->mask == mask && f->warp_work == work)) {
            give_way(GV_AT_WARP); // the last lane to arrive does the work, for this lane too
            return;
        }
        posted[lane] = f->posted;
    }
    gv_call_apart(work, posted, mask);
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        if (mask >> lane & 1) *gv_state(&warp[lane]) = GV_READY;
}

void gv_warp_exchange(uint32_t mask, void *mine, gv_warp_work *work)
{
    gv_work_together(GV_WARP);
    gv_warp_instruction(mask, mine, work, GV_PC);
}

void gv_warp_vote(uint32_t mask, void *mine, gv_warp_work *work) { gv_warp_instruction(mask, mine, work, GV_PC); }

static void nothing(void *posted[GV_WARP], uint32_t mask)
{
    (void)posted;
    (void)mask;
}

// Unlike the other instructions of a warp, this one orders accesses to memory.
void gv_sync_warp(uint32_t mask)
{
    gv_warp_instruction(mask, NULL, nothing, GV_PC);
    gv_mark_made();
    gv_now.turn = ++gv_cluster.turns[gv_number_now()];
}

void gv_must_be_warpgroup(uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    if (gv_now.thread / GV_WARPGROUP * GV_WARPGROUP + GV_WARPGROUP > gv_cluster.threads) gv_stop(GV_PART_OF_GROUP);
}

static gv_warpgroup_work *work_of_group;
static void do_work_of_group(void **posted, uint32_t unused)
{
    (void)unused;
    work_of_group(posted);
}

void gv_warpgroup_instruction(void *mine, gv_warpgroup_work *work, uintptr_t pc)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre(), *group = me - gv_now.thread % GV_WARPGROUP;
    static void *posted[GV_WARPGROUP];
    gv_now.run->last_pc = me->barrier_pc = pc;
    gv_must_be_warpgroup(pc);
    me->posted = mine;
    me->warpgroup_work = work;
    const gv_fibre *last = group + GV_WARPGROUP - 1;
    if (last != me && !(*gv_state(last) == GV_AT_WARPGROUP && last->warpgroup_work == work && last->barrier_pc == pc)) {
        give_way(GV_AT_WARPGROUP);
        return;
    }
    for (uint32_t i = 0; i < GV_WARPGROUP; i++) {
        gv_fibre *f = group + i;
        if (f != me && !(*gv_state(f) == GV_AT_WARPGROUP && f->warpgroup_work == work && f->barrier_pc == pc)) {
            give_way(GV_AT_WARPGROUP); // the last thread to arrive does the work
            return;
        }
        posted[i] = f->posted;
    }
    work_of_group = work;
    gv_call_apart(do_work_of_group, posted, 0);
    for (uint32_t i = 0; i < GV_WARPGROUP; i++) *gv_state(&group[i]) = GV_READY;
}

void gv_hold_warpgroup(uint32_t thread, uint32_t turns)
{
    gv_fibre *me = gv_running_fibre(), *group = me - gv_now.thread % GV_WARPGROUP;
    gv_mark_made();
    for (uint32_t i = 0; i < GV_WARPGROUP; i++) *gv_state(&group[i]) = GV_HELD;
    gv_cluster.held[gv_cluster.helds].rank = gv_now.rank;
    gv_cluster.held[gv_cluster.helds].thread = thread;
    gv_cluster.held[gv_cluster.helds++].turns = turns;
    gv_context_switch(&me->context, &gv_cluster.scheduler);
}

void gv_wait_at_mbarrier(uint32_t mbarrier, uint32_t parity, int state, uintptr_t pc)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre();
    gv_now.run->last_pc = me->barrier_pc = pc;
    me->mbarrier = mbarrier;
    me->parity = parity;
    give_way(state);
}

void gv_named_barrier(int number, int threads)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre();
    me->barrier_pc = gv_now.run->last_pc = GV_PC;
    me->named = (uint32_t)number % GV_NAMED_BARRIERS;
    me->threads = (uint32_t)threads;
    give_way(GV_AT_NAMED_BARRIER);
}

unsigned gv_barrier_votes(int number, int threads, int yes)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre();
    me->barrier_pc = gv_now.run->last_pc = GV_PC;
    me->named = (uint32_t)number % GV_NAMED_BARRIERS;
    me->threads = (uint32_t)threads;
    me->votes = yes != 0;
    give_way(threads ? GV_AT_NAMED_BARRIER : GV_AT_BARRIER);
    uint32_t found = me->votes;
    me->votes = 0;
    return found;
}

// The barrier is checked when a thread waits there: see scheduler.c.
void gv_named_arrival(int number, int threads)
{
    (void)threads;
    gv_catch_up();
    gv_cluster.arrivals[gv_now.rank][(uint32_t)number % GV_NAMED_BARRIERS]++;
}

void gv_wait_at_cluster_barrier(uintptr_t pc)
{
    gv_running_fibre()->barrier_pc = gv_now.run->last_pc = pc;
    give_way(GV_AT_CLUSTER_BARRIER);
}

uint32_t gv_cluster_rank(void) { return gv_now.rank; }
uint32_t gv_cluster_blocks(void) { return gv_now.run->cluster; }

// A fibre runs the same thread number in one block after another.
static void fibre_main(void)
{
    for (;;) {
        gv_cluster.body();
        give_way(GV_LEFT);
    }
}

// Its stack still has the frames of the kernel: in the next block it begins anew.
void gv_end_fibre(void)
{
    gv_running_fibre()->started = 0;
    give_way(GV_LEFT);
    __builtin_unreachable();
}

static void start(gv_fibre *f)
{
    uint64_t bytes = gv_now.run->stack_bytes, thread = (uint64_t)(f - gv_cluster.fibres);
    uint64_t unused = gv_has_guards(gv_now.run->stack_bytes) ? thread % STAGGERS * STAGGER_BYTES : 0;
    f->started = 1;
    gv_context_begin(&f->context, gv_cluster.stacks + thread * bytes, bytes - unused, fibre_main);
}

// Returns a thread of the running block, which the caller continues.
static gv_fibre *to_run(uint32_t thread)
{
    gv_now.thread = thread;
    gv_fibre *f = gv_running_fibre();
    gv_now.turn = gv_cluster.turns[gv_number_now()];
    gv_cluster.thread_index = f->index;
    gv_now.stack_low = gv_cluster.first_low + gv_number_now() * gv_cluster.low_apart;
    *gv_state(f) = GV_READY;
    if (!f->started) {
        start(f);
        return f;
    }
    const gv_context *next = &f[thread + 1 < gv_cluster.threads].context;
    gv_context_expect(next);
    if (!gv_now.phase) gv_context_expect_call(next); // it begins the kernel
    return f;
}

uint32_t gv_resume(uint32_t thread)
{
    gv_context_switch(&gv_cluster.scheduler, &to_run(thread)->context);
    return gv_now.thread;
}

int gv_fibres_begin(void (*body)(void))
{
    const gv_run *r = gv_now.run;
    memset(&gv_cluster, 0, sizeof gv_cluster);
    gv_cluster.body = body;
    gv_cluster.threads = r->block[0] * r->block[1] * r->block[2];
    gv_cluster.blocks = r->cluster;
    uint32_t all = gv_cluster.blocks * gv_cluster.threads;
    gv_cluster.fibres = calloc(all, sizeof *gv_cluster.fibres);
    gv_cluster.states = calloc(all, 1);
    gv_cluster.turns = calloc(2 * all, sizeof *gv_cluster.turns);
    gv_cluster.made = gv_cluster.turns + all;
    uint64_t bytes = (uint64_t)all * r->stack_bytes, unit = bytes % GV_HUGE < GV_MUCH ? PAGE_BYTES : GV_HUGE;
    gv_now.stacks_bytes = (bytes + unit - 1) / unit * unit;
    gv_cluster.stacks = gv_new_stacks(gv_now.stacks_bytes, r->stack_bytes);
    if (!gv_cluster.fibres || !gv_cluster.states || !gv_cluster.turns || !gv_cluster.stacks) return 0;
    gv_now.stacks = (uintptr_t)gv_cluster.stacks;
    gv_now.stacks_apart = gv_stacks_apart();
    if (!gv_has_guards(gv_now.run->stack_bytes)) {
        gv_cluster.first_low = gv_now.stacks + LEAST_BYTES;
        gv_cluster.low_apart = r->stack_bytes;
    }
    const uint32_t *b = r->block;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t t = i % gv_cluster.threads;
        gv_cluster.fibres[i].index = (uint3){t % b[0], t / b[0] % b[1], t / (b[0] * b[1])};
    }
    return 1;
}

void gv_fibres_check(void)
{
    uint64_t all = gv_cluster.blocks * gv_cluster.threads, words = gv_now.run->stack_bytes / sizeof(uintptr_t);
    const uintptr_t *last = (const uintptr_t *)gv_cluster.stacks;
    for (uint64_t i = 0; i < all && !gv_has_guards(gv_now.run->stack_bytes); i++)
        if (last[i * words]) gv_stop(GV_AGAIN);
}

void gv_fibres_end(void)
{
    gv_end_stacks(gv_cluster.stacks, gv_now.stacks_bytes, gv_now.run->stack_bytes, gv_now.run->count_only);
    free(gv_cluster.fibres);
    free(gv_cluster.states);
    free(gv_cluster.turns);
}
