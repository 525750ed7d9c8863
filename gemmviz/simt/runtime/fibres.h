// The fibres: one per CUDA thread of the blocks that run together. fibres.c runs a fibre until it waits; it waits in
// one of the functions below. scheduler.c decides which fibres continue. A thread's own code may call all functions
// but gv_fibres_* and gv_resume.
#pragma once
#include "access.h"
#include "contexts.h"
#include "kernel_calls/threads.h"

// Called when the lanes of a warp are complete: `posted` holds the value of each lane of the mask, and no others.
typedef void gv_warp_work(void *posted[GV_WARP], uint32_t mask);
// The same for the 128 threads of a warpgroup.
typedef void gv_warpgroup_work(void *posted[GV_WARPGROUP]);

enum gv_fibre_state {
    GV_READY,
    GV_AT_BARRIER,   // __syncthreads
    GV_AT_WARP,      // an instruction of the whole warp
    GV_AT_WARPGROUP, // an instruction of the whole warpgroup
    GV_AT_MBARRIER,  // waits for the end of its phase
    GV_AT_ARRIVAL,   // arrives at an mbarrier whose phase has all of its arrivals
    GV_AT_NAMED_BARRIER,
    GV_AT_CLUSTER_BARRIER,
    GV_HELD, // see gv_hold_warpgroup
    GV_LEFT, // the kernel
};
typedef struct {
    gv_context context;
    int started;
    uint3 index;
    uintptr_t barrier_pc;
    uint32_t mask; // GV_AT_WARP: the lanes that it waits for, its value and the work for all lanes
    void *posted;
    gv_warp_work *warp_work;
    gv_warpgroup_work *warpgroup_work; // GV_AT_WARPGROUP
    uint32_t mbarrier, parity;         // GV_AT_MBARRIER, GV_AT_ARRIVAL
    uint32_t named, threads;           // GV_AT_NAMED_BARRIER: its number, and the number of missing threads
    uint32_t votes; // at a barrier that counts: whether the thread says yes, and, when it goes on, how many have
    // The arrival at a cluster barrier before the wait there: whether there was one, whether it was relaxed, its phase
    // and the accesses before it in this phase.
    uint32_t arrived, relaxed, arrived_in, arrived_after;
} gv_fibre;

enum { GV_NAMED_BARRIERS = 16 };

// The blocks that run together: those of a cluster, or one.
typedef struct {
    gv_fibre *fibres; // block after block
    uint8_t *states;  // gv_fibre_state of each: together, as they are looked at more often than the rest
    uint32_t *turns, *made; // of each, in this phase: gv_now.turn, and accesses
    char *stacks;
    uintptr_t first_low, low_apart; // gv_now.stack_low of the first thread, and from one to the next
    uint32_t threads, blocks;                             // threads: of a block
    uint32_t arrivals[GV_MAX_CLUSTER][GV_NAMED_BARRIERS]; // of threads that do not wait, by block and named barrier
    uint3 thread_index, block_index;
    gv_context scheduler;
    struct {
        uint32_t rank, thread, turns;
    } held[GV_MAX_CLUSTER * GV_MAX_THREADS / GV_WARPGROUP]; // see gv_hold_warpgroup
    uint32_t helds;
    void (*body)(void); // a thread's code
} gv_together;
extern gv_together gv_cluster __attribute__((visibility("hidden"))); // fibres.c

// The number of the running thread among all threads that run together.
static inline uint32_t gv_number_now(void) { return gv_now.rank * gv_cluster.threads + gv_now.thread; }

static inline gv_fibre *gv_running_fibre(void)
{
    return &gv_cluster.fibres[gv_number_now()];
}

static inline uint8_t *gv_state(const gv_fibre *f) { return &gv_cluster.states[f - gv_cluster.fibres]; }

// The number of accesses of the running thread in this phase.
static inline uint32_t gv_made(void)
{
    return gv_cluster.made[gv_number_now()] + (uint32_t)(gv_now.run->count - gv_now.marked);
}

// Calls gv_settle and gv_mark, and adds the rows to the count of their thread.
void gv_mark_made(void);

// The running thread has left the kernel and does not come back to its caller.
void gv_end_fibre(void) __attribute__((noreturn));

// Makes the fibres and their stacks; returns 0 without memory. For record.c, like gv_fibres_end.
int gv_fibres_begin(void (*body)(void));
void gv_fibres_end(void);

// Ends the run with GV_AGAIN if a thread has used more than its stack. For the process that has run the threads.
void gv_fibres_check(void);

// Runs a thread of the running block, and then the lanes of its warp behind it that can run, each until it waits.
// Returns the last one. For scheduler.c.
uint32_t gv_resume(uint32_t thread);

// The mask of the lanes in the running thread's warp.
static inline uint32_t gv_lanes(void)
{
    uint32_t lanes = gv_cluster.threads - gv_now.thread / GV_WARP * GV_WARP;
    return lanes >= GV_WARP ? ~0u : (1u << lanes) - 1;
}

// The running thread's number in its warp.
static inline uint32_t gv_lane_now(void) { return gv_now.thread % GV_WARP; }

// Ends the run: the running thread's warp has fewer than 32 lanes, and the instruction needs them all.
void gv_no_warp(uintptr_t pc) __attribute__((noreturn));

// Lets another thread of the running thread's warp, which is ready, run first.
void gv_pass_on(uint32_t thread);

// Waits until every lane of the mask has arrived here; the last lane does the work for all.
void gv_warp_instruction(uint32_t mask, void *mine, gv_warp_work *work, uintptr_t pc);

// Ends the run if the running thread's warpgroup has fewer than 128 threads.
void gv_must_be_warpgroup(uintptr_t pc);

// Waits until every thread of the warpgroup has arrived here; the last thread does the work for all 128.
void gv_warpgroup_instruction(void *mine, gv_warpgroup_work *work, uintptr_t pc);

// The running thread's warpgroup continues after this number of turns of all warps, first of all `thread`.
void gv_hold_warpgroup(uint32_t thread, uint32_t turns);

// Waits until the phase of an mbarrier (a number of mbarrier_state.c) has ended: GV_AT_MBARRIER. GV_AT_ARRIVAL is for a
// thread that arrives once too often: if no other thread can continue either, the run ends.
void gv_wait_at_mbarrier(uint32_t mbarrier, uint32_t parity, int state, uintptr_t pc);

// Waits for all threads of the cluster.
void gv_wait_at_cluster_barrier(uintptr_t pc);
