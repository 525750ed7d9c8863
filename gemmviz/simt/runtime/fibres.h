// The fibres of the blocks that run together, between fibres.c, which runs them, and scheduler.c, which says when.
#pragma once
#include "recording.h"
#include <setjmp.h>

typedef struct { uint32_t x, y, z; } uint3;
enum { WARP = 32 };
enum { READY, AT_BARRIER, AT_WARP, AT_GROUP, AT_MBARRIER, AT_ARRIVAL, AT_MEETING, AT_CLUSTER, LEFT };
typedef struct {
    jmp_buf here;       // unlike swapcontext, jumping there makes no system call
    int started, state;
    uint3 index;
    uint32_t turn, made; // made: accesses in this phase
    uintptr_t barrier_pc;
    uint32_t mask;      // AT_WARP: the lanes it waits for, what it brought and what is to be done
    void *posted;
    gv_together *work;
    gv_by_group *group_work;      // AT_GROUP
    uint32_t barrier, parity;     // AT_MBARRIER, AT_ARRIVAL
    uint32_t meeting, threads;    // AT_MEETING: its number, and how many are to come
} fibre;

typedef struct {
    fibre *fibres;      // of the blocks that run together, block after block
    char *stacks;
    uint32_t threads, members;
    uint3 thread_index, block_index;
    jmp_buf scheduler;
    char *shared_of[GV_MOST_MEMBERS]; // what the shared arrays of the other blocks of the cluster hold
} gv_fibres;
extern gv_fibres gv_all __attribute__((visibility("hidden")));

static inline fibre *gv_running_fibre(void)
{
    return &gv_all.fibres[gv_now.member * gv_all.threads + gv_now.thread];
}

// Runs a thread of the running block up to where it waits.
void gv_resume(uint32_t thread);
