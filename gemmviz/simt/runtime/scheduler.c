// Who runs when. The threads of a block, or of the blocks of a cluster, run in rounds: in a round each runs up to where it
// waits for others. A round is a phase of the recording, so that what a barrier puts in order lies in different phases;
// for that, a wait ends its thread's round even where it would let the thread pass at once.
#include "fibres.h"
#include <string.h>

#define g gv_all
static int flowing; // see release_round

// The shared arrays of the block that runs are where the kernel looks for them; those of the others are kept aside.
static void become(uint32_t member)
{
    gv_run *r = gv_now.run;
    const uint32_t *s = r->grid;
    if (member != gv_now.member) {
        char *mine = g.shared_of[gv_now.member], *theirs = g.shared_of[member];
        for (uint32_t i = 0; i < r->arrays; i++) {
            const gv_array *a = &r->array[i];
            if (!a->shared || a->inside) continue;
            memcpy(mine, (void *)a->start, a->bytes);
            memcpy((void *)a->start, theirs, a->bytes);
            mine += a->bytes;
            theirs += a->bytes;
        }
    }
    uint32_t block = gv_now.block - gv_now.member + member;
    gv_now.member = member;
    gv_now.block = block;
    g.block_index = (uint3){block % s[0], block / s[0] % s[1], block / (s[0] * s[1])};
}

void gv_in_name_of(uint32_t member, uint32_t thread, void (*what)(void *), void *with)
{
    uint32_t before = gv_now.member, me = gv_now.thread, turn = gv_now.turn;
    gv_mark_made();
    become(member);
    gv_now.thread = thread;
    gv_now.turn = gv_running_fibre()->turn;
    what(with);
    gv_mark_made();
    become(before);
    gv_now.thread = me;
    gv_now.turn = turn;
}

// Runs the lanes from `first` up to `end` of the running block until each waits for others than its warp, or has left.
static void run_warp(uint32_t first, uint32_t end)
{
    fibre *of = g.fibres + gv_now.member * g.threads;
    for (int again = 1; again;) {
        again = 0;
        for (uint32_t t = first; t < end; t++)
            if (of[t].state == READY) gv_resume(t);
        for (uint32_t t = first; t < end; t++) again |= of[t].state == READY;
    }
    for (uint32_t t = first; t < end; t++) // these may come later
        if (of[t].state != AT_WARP && of[t].state != AT_BARRIER && of[t].state != LEFT) return;
    for (uint32_t t = first; t < end; t++) {
        if (of[t].state != AT_WARP) continue;
        uint32_t missing = 0; // or at another instruction, when none is
        while (missing < end - first - 1 && (!(of[t].mask >> missing & 1) || of[first + missing].state == AT_WARP)) missing++;
        gv_now.thread = t;
        gv_now.run->last_pc = of[t].barrier_pc;
        gv_now.run->fault_other = first + missing;
        gv_stop(GV_WARP_WAITS);
    }
}

// Runs everybody who can go on, up to where each waits.
static void run_round(void)
{
    for (int again = 1; again;) {
        again = 0;
        for (uint32_t m = 0; m < g.members; m++) {
            become(m);
            for (uint32_t first = 0; first < g.threads; first += WARP)
                run_warp(first, first + WARP < g.threads ? first + WARP : g.threads);
        }
        for (uint32_t t = 0; t < g.members * g.threads; t++) again |= g.fibres[t].state == READY; // a warpgroup has met
    }
}

static uint32_t count(const fibre *of, uint32_t threads, int state)
{
    uint32_t found = 0;
    for (uint32_t t = 0; t < threads; t++) found += of[t].state == state;
    return found;
}

// __syncthreads lets go when all threads of the block are there, or have left.
static void release_barrier(fibre *of)
{
    uint32_t waiting = count(of, g.threads, AT_BARRIER);
    if (!waiting || waiting + count(of, g.threads, LEFT) < g.threads) return;
    if (waiting == g.threads) {
        for (uint32_t t = 1; t < g.threads; t++) {
            if (of[t].barrier_pc == of[0].barrier_pc) continue;
            gv_now.thread = t;
            gv_notice(GV_NOTE_BARRIERS_DIFFER, -1, 0, of[t].barrier_pc, 0, of[0].barrier_pc, 0);
        }
    } else {
        uint32_t in = 0, out = 0;
        while (of[in].state != AT_BARRIER) in++;
        while (of[out].state != LEFT) out++;
        gv_now.thread = in;
        gv_notice(GV_NOTE_BARRIER_LEFT, -1, 0, of[in].barrier_pc, out, 0, 0);
    }
    for (uint32_t t = 0; t < g.threads; t++)
        if (of[t].state == AT_BARRIER) of[t].state = READY;
}

static void release_meetings(fibre *of)
{
    for (uint32_t t = 0; t < g.threads; t++) {
        if (of[t].state != AT_MEETING) continue;
        uint32_t number = of[t].meeting, wanted = of[t].threads, there = 0;
        for (uint32_t u = t; u < g.threads; u++) there += of[u].state == AT_MEETING && of[u].meeting == number;
        for (uint32_t u = t; there >= wanted && u < g.threads; u++)
            if (of[u].state == AT_MEETING && of[u].meeting == number) of[u].state = READY;
    }
}

static int at_mbarrier(const fibre *f) { return f->state == AT_MBARRIER || f->state == AT_ARRIVAL; }

static void release_mbarriers(void)
{
    for (uint32_t t = 0; t < g.members * g.threads; t++) {
        fibre *f = &g.fibres[t];
        if (at_mbarrier(f) && gv_barrier_open(f->barrier, f->parity)) f->state = READY;
    }
}

// Lets those go on who have what they waited for; says whether anybody can.
//
// Copies to shared memory arrive as late as they may: when nobody can go on without them. Once that has come about, the
// copies that are under way are as many as the kernel can have, and from then on they arrive at the end of the round in
// which somebody waits for them: who issues copies and who uses them go on side by side.
static int release_round(void)
{
    uint32_t all = g.members * g.threads, together = count(g.fibres, all, AT_CLUSTER);
    for (uint32_t m = 0; m < g.members; m++) {
        become(m);
        release_barrier(g.fibres + m * g.threads);
        release_meetings(g.fibres + m * g.threads);
    }
    if (together && together + count(g.fibres, all, LEFT) >= all) {
        for (uint32_t t = 0; t < all; t++)
            if (g.fibres[t].state == AT_CLUSTER) g.fibres[t].state = READY;
        gv_barriers_cluster_met();
    }
    release_mbarriers();
    if (!flowing && count(g.fibres, all, READY)) return 1;
    for (uint32_t t = 0; t < all; t++) {
        fibre *f = &g.fibres[t];
        if (!at_mbarrier(f) || !gv_barrier_lacks_copies(f->barrier)) continue;
        flowing = 1;
        gv_copies_arrive(f->barrier);
    }
    release_mbarriers();
    if (count(g.fibres, all, READY)) return 1;
    // On a GPU copies arrive whoever else is missing: a barrier that nobody comes to must not seem to lack bytes too.
    gv_all_copies_arrive();
    release_mbarriers();
    return count(g.fibres, all, READY) > 0;
}

// Nobody can go on: says who waits for what, and leaves the blocks as they are.
static void notice_stuck(void)
{
    for (uint32_t t = 0; t < g.members * g.threads; t++) {
        fibre *f = &g.fibres[t];
        f->started = 0;
        if (f->state == LEFT || f->state == AT_BARRIER || f->state == AT_WARP) continue;
        become(t / g.threads);
        gv_now.thread = t % g.threads;
        gv_now.run->last_pc = f->barrier_pc;
        if (f->state == AT_GROUP) gv_stop(GV_GROUP_WAITS);
        if (f->state == AT_ARRIVAL) gv_barrier_too_often(f->barrier);
        if (f->state == AT_MBARRIER) gv_barrier_stuck(f->barrier, f->parity, f->barrier_pc);
        else gv_notice(GV_NOTE_MEETING, -1, 0, f->barrier_pc, f->state == AT_MEETING ? f->threads : 0, 0, 0); // `other`: how many
    }
}

void gv_run_block(uint32_t block)
{
    gv_run *r = gv_now.run;
    uint32_t all = g.members * g.threads;
    gv_now.member = 0;
    gv_now.block = block;
    flowing = 0;
    gv_barriers_reset();
    gv_boxes_reset();
    gv_products_reset();
    // Shared memory starts as NaNs, so that reading what nobody wrote shows.
    uint64_t kept = 0;
    for (uint32_t i = 0; i < r->arrays; i++) {
        if (!r->array[i].shared) continue;
        memset((void *)r->array[i].start, 0xff, r->array[i].bytes);
        if (!r->array[i].inside) kept += r->array[i].bytes;
    }
    for (uint32_t m = 0; g.members > 1 && m < g.members; m++) memset(g.shared_of[m], 0xff, kept);
    for (uint32_t t = 0; t < all; t++) g.fibres[t].state = READY;
    for (gv_now.phase = 0;; gv_now.phase++) {
        if (gv_now.phase > UINT16_MAX) gv_stop(GV_TOO_MANY_PHASES); // the column holds no more
        for (uint32_t t = 0; t < all; t++) g.fibres[t].turn = g.fibres[t].made = 0;
        run_round();
        if (count(g.fibres, all, LEFT) == all) {
            gv_barriers_left();
            break;
        }
        if (release_round()) continue;
        notice_stuck();
        break;
    }
    become(0);
    gv_boxes_reset(); // tells of those that never arrived
}

