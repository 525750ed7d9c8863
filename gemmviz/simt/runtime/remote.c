// Loads and stores in the shared memory of another block of the cluster (PTX ISA, "shared::cluster"). The access is
// recorded in that block, by the thread with the same number: there the memory is used.
//
// A pointer of map_shared_rank is used by plain C++. It points to memory that stands for that of the other block:
// before a read the value is copied there, and after a write it is copied from there.
#define _GNU_SOURCE
#include "remote.h"
#include "access.h"
#include "cluster.h"
#include "events.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "running.h"
#include "shared_memory.h"
#include "stop.h"
#include <string.h>
#include <sys/mman.h>

// The cluster barriers of the running blocks that are over. They are reported only if a block accesses another one's
// memory.
static struct {
    uint16_t phase, relaxed;
} met[UINT16_MAX + 1];
static uint32_t meetings, used;

void gv_remote_reset(void) { meetings = used = 0; }

void gv_cluster_met(int relaxed)
{
    met[meetings].phase = (uint16_t)gv_now.phase;
    met[meetings++].relaxed = (uint16_t)relaxed;
}

void gv_remote_report(void)
{
    gv_now.thread = 0;
    for (uint32_t i = 0; used && i < meetings; i++)
        gv_tell_event((gv_event){.block = (int32_t)gv_now.block,
            .number = met[i].phase,
            .kind = GV_EVENT_CLUSTER_MET,
            .parity = met[i].relaxed});
}

void gv_cluster_arrive(int relaxed)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre();
    me->arrived = 1;
    me->relaxed = (uint32_t)relaxed;
    me->arrived_in = gv_now.phase;
    me->arrived_after = gv_made();
}

void gv_cluster_barrier(void)
{
    gv_catch_up();
    gv_fibre *me = gv_running_fibre();
    if (me->arrived && (me->arrived_in != gv_now.phase || me->arrived_after != gv_made()))
        gv_tell_event((gv_event){.line = gv_event_line(GV_PC),
            .block = (int32_t)gv_now.block,
            .number = (int32_t)me->arrived_in,
            .arrivals = (int32_t)me->arrived_after,
            .kind = GV_EVENT_CLUSTER_ARRIVED});
    gv_wait_at_cluster_barrier(GV_PC);
}

typedef struct {
    void *to;
    const void *from;
    uint32_t bytes;
    int write;
    uintptr_t pc;
    uint32_t block, arrived; // of the thread that accesses the memory
} access;

static void make(void *what)
{
    const access *a = what;
    used = 1;
    gv_tell_event((gv_event){.line = gv_event_line(a->pc),
        .block = (int32_t)gv_now.block,
        .number = (int32_t)a->block,
        .arrivals = (int32_t)gv_cluster.blocks,
        .kind = GV_EVENT_REMOTE,
        .parity = (int32_t)a->arrived});
    gv_access(a->write ? a->to : (void *)a->from, a->bytes, a->write ? GV_WRITE : 0, a->pc);
    memcpy(a->to, a->from, a->bytes);
    gv_settle();
    gv_site_is(a->pc, GV_SITE_REMOTE);
}

void gv_remote_load(void *to, const void *from, uint32_t bytes, uint32_t block)
{
    gv_catch_up();
    access a = {to, from, bytes, 0, GV_PC, gv_now.block, gv_running_fibre()->arrived};
    gv_in_name_of(block, gv_now.thread, make, &a);
}

void gv_remote_store(void *to, const void *from, uint32_t bytes, uint32_t block)
{
    gv_catch_up();
    access a = {to, from, bytes, 1, GV_PC, gv_now.block, gv_running_fibre()->arrived};
    gv_in_name_of(block, gv_now.thread, make, &a);
}

static access last_write;
static uint32_t last_rank;

static void *meant(uintptr_t at)
{
    return (void *)(gv_shared_start() + (at - gv_now.mapped) % GV_MAPPED_EACH);
}

static void on_mapped(uintptr_t at, uint32_t bytes, int write, uintptr_t pc)
{
    uint32_t rank = (uint32_t)((at - gv_now.mapped) / GV_MAPPED_EACH), arrived = gv_running_fibre()->arrived;
    if (write) {
        last_write = (access){meant(at), (void *)at, bytes, 1, pc, gv_now.block, arrived};
        last_rank = rank;
        return;
    }
    access a = {(void *)at, meant(at), bytes, 0, pc, gv_now.block, arrived};
    gv_in_name_of(rank, gv_now.thread, make, &a);
}

static void mapped_written(void)
{
    access a = last_write;
    gv_in_name_of(last_rank, gv_now.thread, make, &a);
}

void *gv_map_shared(void *p, uint32_t rank)
{
    static void *stands_in;
    if (rank == gv_now.rank || rank >= gv_cluster.blocks) return p;
    gv_must_be_shared(p, "map_shared_rank", GV_PC);
    if (!stands_in) {
        stands_in = mmap(NULL, (size_t)GV_MAX_CLUSTER * GV_MAPPED_EACH, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stands_in == MAP_FAILED) {
            stands_in = NULL;
            gv_stop(GV_NO_MEMORY);
        }
    }
    gv_now.mapped = (uintptr_t)stands_in;
    gv_now.on_mapped = on_mapped;
    gv_now.mapped_written = mapped_written;
    return (char *)stands_in + (size_t)rank * GV_MAPPED_EACH + ((uintptr_t)p - gv_shared_start());
}

uint32_t gv_mapped_rank(const void *p)
{
    return gv_is_mapped((uintptr_t)p) ? (uint32_t)(((uintptr_t)p - gv_now.mapped) / GV_MAPPED_EACH) : gv_now.rank;
}
