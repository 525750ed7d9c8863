// The order of threads. The threads of a block or of a cluster run in rounds: in a round each one runs until it waits
// for others. A round is a phase of the recording, so that accesses ordered by a barrier are in different phases.
// Therefore a wait ends the round of its thread even if the thread could pass at once.
#include "scheduler.h"
#include "async_copies.h"
#include "block_memory.h"
#include "cluster.h"
#include "fibres.h"
#include "mbarrier_state.h"
#include "mbarriers.h"
#include "notes.h"
#include "remote.h"
#include "rows.h"
#include "stop.h"
#include "tma_boxes.h"
#include "wgmma.h"
#include <string.h>

static int flowing; // see release_round

// Continues the warpgroup that is held until the turn of this warp.
static void run_held(uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < gv_cluster.helds; i++) {
        uint32_t thread = gv_cluster.held[i].thread;
        if (gv_cluster.held[i].turns || gv_cluster.held[i].rank != gv_now.rank || thread < first || thread >= end)
            continue;
        gv_fibre *group = gv_cluster.fibres + gv_now.rank * gv_cluster.threads + thread / GV_WARPGROUP * GV_WARPGROUP;
        for (uint32_t t = 0; t < GV_WARPGROUP; t++) *gv_state(&group[t]) = GV_READY;
        gv_cluster.held[i] = gv_cluster.held[--gv_cluster.helds];
        gv_resume(thread);
        return;
    }
}

// Runs the lanes from `first` to `end` of the running block until each waits for more than its warp, or has left.
static void run_warp(uint32_t first, uint32_t end)
{
    gv_fibre *of = gv_cluster.fibres + gv_now.rank * gv_cluster.threads;
    const uint8_t *states = gv_state(of);
    run_held(first, end);
    for (const uint8_t *ready; (ready = memchr(states + first, GV_READY, end - first));)
        for (uint32_t t = (uint32_t)(ready - states); t < end; t++)
            if (states[t] == GV_READY) t = gv_resume(t);
    for (uint32_t t = first; t < end; t++) // these may arrive later
        if (states[t] != GV_AT_WARP && states[t] != GV_AT_BARRIER && states[t] != GV_LEFT) return;
    for (uint32_t t = first; t < end; t++) {
        if (states[t] != GV_AT_WARP) continue;
        uint32_t missing = 0; // or at another instruction, when none is
        while (missing < end - first - 1 && (!(of[t].mask >> missing & 1) || states[first + missing] == GV_AT_WARP))
            missing++;
        gv_now.thread = t;
        gv_now.run->last_pc = of[t].barrier_pc;
        gv_now.run->fault_other = first + missing;
        gv_stop(GV_WARP_WAITS);
    }
}

// Runs all threads that can continue, until each waits.
static void run_round(void)
{
    for (int again = 1; again;) {
        again = 0;
        for (uint32_t m = 0; m < gv_cluster.blocks; m++) {
            gv_switch_block(m);
            for (uint32_t first = 0; first < gv_cluster.threads; first += GV_WARP)
                run_warp(first, first + GV_WARP < gv_cluster.threads ? first + GV_WARP : gv_cluster.threads);
        }
        // A thread can run if a warpgroup is complete.
        again = memchr(gv_cluster.states, GV_READY, gv_cluster.blocks * gv_cluster.threads) || gv_cluster.helds;
        for (uint32_t i = 0; i < gv_cluster.helds; i++)
            if (gv_cluster.held[i].turns) gv_cluster.held[i].turns--;
    }
}

static uint32_t count(const gv_fibre *of, uint32_t threads, int state)
{
    const uint8_t *states = gv_state(of);
    uint32_t found = 0;
    for (uint32_t t = 0; t < threads; t++) found += states[t] == state;
    return found;
}

// Releases the threads from `first` on that wait at one barrier; `number`: of a named one. Each gets the sum of votes.
static void release(gv_fibre *of, uint32_t first, int state, uint32_t number)
{
    uint32_t votes = 0;
    for (int counted = 0; counted < 2; counted++)
        for (uint32_t t = first; t < gv_cluster.threads; t++) {
            if (*gv_state(&of[t]) != state || (state == GV_AT_NAMED_BARRIER && of[t].named != number)) continue;
            if (!counted) {
                votes += of[t].votes;
                continue;
            }
            of[t].votes = votes;
            *gv_state(&of[t]) = GV_READY;
        }
}

// __syncthreads ends when all threads of the block have arrived or left the kernel.
static void release_barrier(gv_fibre *of)
{
    uint32_t waiting = count(of, gv_cluster.threads, GV_AT_BARRIER);
    if (!waiting || waiting + count(of, gv_cluster.threads, GV_LEFT) < gv_cluster.threads) return;
    if (waiting == gv_cluster.threads) {
        for (uint32_t t = 1; t < gv_cluster.threads; t++) {
            if (of[t].barrier_pc == of[0].barrier_pc) continue;
            gv_now.thread = t;
            gv_notice(GV_NOTE_BARRIERS_DIFFER, -1, 0, of[t].barrier_pc, 0, of[0].barrier_pc, 0);
        }
    } else {
        uint32_t in = 0, out = 0;
        while (*gv_state(&of[in]) != GV_AT_BARRIER) in++;
        while (*gv_state(&of[out]) != GV_LEFT) out++;
        gv_now.thread = in;
        gv_notice(GV_NOTE_BARRIER_LEFT, -1, 0, of[in].barrier_pc, out, 0, 0);
    }
    release(of, 0, GV_AT_BARRIER, 0);
}

// Reports a thread at a named barrier that another one should not wait at: the barrier ends when any threads of its
// count have arrived, so that a GPU may release the wrong ones.
static void notice_crowd(const gv_fibre *of, uint32_t thread, uint32_t other, int kind)
{
    gv_now.thread = thread;
    gv_notice(kind, -1, of[thread].threads, of[thread].barrier_pc, other, of[other].barrier_pc, 0);
}

static void release_meetings(gv_fibre *of, uint32_t *arrivals)
{
    uint8_t done[GV_NAMED_BARRIERS] = {0}; // nothing is left to do for threads at this barrier
    for (uint32_t t = 0; t < gv_cluster.threads; t++) {
        if (*gv_state(&of[t]) != GV_AT_NAMED_BARRIER || done[of[t].named]) continue;
        uint32_t number = of[t].named, wanted = of[t].threads, there = 0;
        done[number] = 1; // for the others, if their counts are the same: they are as many, or fewer
        for (uint32_t u = t; u < gv_cluster.threads; u++) {
            if (*gv_state(&of[u]) != GV_AT_NAMED_BARRIER || of[u].named != number) continue;
            there++;
            done[number] &= of[u].threads == wanted;
            if (of[u].threads != wanted) notice_crowd(of, t, u, GV_NOTE_COUNTS_DIFFER);
            else if (there == wanted + 1) notice_crowd(of, t, u, GV_NOTE_CROWDED);
        }
        if (there + arrivals[number] < wanted) continue;
        // Further arrivals count for the next use of the barrier.
        arrivals[number] -= wanted > there ? wanted - there : 0;
        release(of, t, GV_AT_NAMED_BARRIER, number);
    }
}

static int at_mbarrier(const gv_fibre *f) { return *gv_state(f) == GV_AT_MBARRIER || *gv_state(f) == GV_AT_ARRIVAL; }

static void release_mbarriers(void)
{
    for (uint32_t t = 0; t < gv_cluster.blocks * gv_cluster.threads; t++) {
        const gv_fibre *f = &gv_cluster.fibres[t];
        if (at_mbarrier(f) && gv_mbarrier_open(f->mbarrier, f->parity)) *gv_state(f) = GV_READY;
    }
}

// Releases the threads whose wait has ended; returns whether there are any.
//
// Copies to shared memory arrive as late as allowed: when no thread can continue without them. By then the kernel has
// its largest number of copies in flight. From then on copies arrive at the end of the round in which a thread waits
// for them, so that the threads that issue copies and the threads that use them run in parallel.
static int release_round(void)
{
    uint32_t all = gv_cluster.blocks * gv_cluster.threads,
             together = count(gv_cluster.fibres, all, GV_AT_CLUSTER_BARRIER);
    for (uint32_t m = 0; m < gv_cluster.blocks; m++) {
        gv_fibre *of = gv_cluster.fibres + m * gv_cluster.threads;
        if (!count(of, gv_cluster.threads, GV_AT_BARRIER) && !count(of, gv_cluster.threads, GV_AT_NAMED_BARRIER))
            continue;
        gv_switch_block(m);
        release_barrier(of);
        release_meetings(of, gv_cluster.arrivals[m]);
    }
    if (together && together + count(gv_cluster.fibres, all, GV_LEFT) >= all) {
        int relaxed = 0;
        for (uint32_t t = 0; t < all; t++) {
            gv_fibre *f = &gv_cluster.fibres[t];
            if (*gv_state(f) != GV_AT_CLUSTER_BARRIER) continue;
            *gv_state(f) = GV_READY;
            relaxed |= f->arrived && f->relaxed;
            f->arrived = 0;
        }
        gv_mbarriers_cluster_met();
        gv_cluster_met(relaxed);
    }
    release_mbarriers();
    if (!flowing && count(gv_cluster.fibres, all, GV_READY)) return 1;
    for (uint32_t t = 0; t < all; t++) {
        gv_fibre *f = &gv_cluster.fibres[t];
        if (!at_mbarrier(f) || !gv_mbarrier_lacks_copies(f->mbarrier)) continue;
        flowing = 1;
        gv_switch_block(t / gv_cluster.threads);
        gv_mbarrier_copies_arrive(f->mbarrier);
    }
    release_mbarriers();
    if (count(gv_cluster.fibres, all, GV_READY)) return 1;
    // On a GPU copies arrive in any case: a barrier that lacks threads must not seem to lack bytes, too.
    gv_mbarriers_all_copies_arrive();
    release_mbarriers();
    return count(gv_cluster.fibres, all, GV_READY) > 0;
}

// No thread can continue: reports one that waits, and its event, and does not change the blocks.
static void notice_stuck(void)
{
    for (uint32_t t = 0; t < gv_cluster.blocks * gv_cluster.threads; t++) {
        gv_fibre *f = &gv_cluster.fibres[t];
        f->started = 0;
        if (*gv_state(f) == GV_LEFT || *gv_state(f) == GV_AT_BARRIER || *gv_state(f) == GV_AT_WARP) continue;
        gv_switch_block(t / gv_cluster.threads);
        gv_now.thread = t % gv_cluster.threads;
        gv_now.run->last_pc = f->barrier_pc;
        if (*gv_state(f) == GV_AT_WARPGROUP) gv_stop(GV_GROUP_WAITS);
        if (*gv_state(f) == GV_AT_ARRIVAL) gv_mbarrier_too_often(f->mbarrier);
        if (*gv_state(f) == GV_AT_MBARRIER) gv_mbarrier_stuck(f->mbarrier, f->parity, f->barrier_pc);
        if (*gv_state(f) == GV_AT_NAMED_BARRIER || *gv_state(f) == GV_AT_CLUSTER_BARRIER) {
            uint32_t awaited = *gv_state(f) == GV_AT_NAMED_BARRIER ? f->threads : 0;
            gv_notice(GV_NOTE_STUCK_AT_BARRIER, -1, 0, f->barrier_pc, awaited, 0, 0);
        }
    }
}

void gv_run_block(uint32_t block)
{
    uint32_t all = gv_cluster.blocks * gv_cluster.threads;
    gv_now.rank = 0;
    gv_now.block = block;
    flowing = 0;
    gv_cluster.helds = 0;
    gv_rows_begin();
    gv_copies_block_begins();
    gv_mbarriers_reset();
    gv_late_arrivals_reset();
    gv_boxes_reset();
    gv_remote_reset();
    gv_wgmma_reset();
    gv_block_memory_clear();
    memset(gv_cluster.arrivals, 0, sizeof gv_cluster.arrivals);
    for (uint32_t t = 0; t < all; t++) {
        gv_cluster.states[t] = GV_READY;
        gv_cluster.fibres[t].arrived = 0;
    }
    for (gv_now.phase = 0;; gv_now.phase++) {
        if (gv_now.phase > UINT16_MAX) gv_stop(GV_TOO_MANY_PHASES); // the column holds no more
        memset(gv_cluster.turns, 0, all * sizeof *gv_cluster.turns);
        memset(gv_cluster.made, 0, all * sizeof *gv_cluster.made);
        run_round();
        if (gv_now.keep_rows) gv_now.keep_rows();
        if (count(gv_cluster.fibres, all, GV_LEFT) == all) {
            gv_mbarriers_left();
            break;
        }
        if (release_round()) continue;
        notice_stuck();
        break;
    }
    if (gv_now.lanes_ahead) gv_stop(GV_AGAIN);
    gv_switch_block(0);
    gv_boxes_reset(); // reports those that never arrived
    gv_remote_report();
    gv_rows_end();
    gv_copies_block_ended();
}
