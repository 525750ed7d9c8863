// The instructions of mbarriers; each barrier's count is in mbarrier_state.c.
#include "mbarriers.h"
#include "async_copies.h"
#include "cluster.h"
#include "fibres.h"
#include "kernel_calls/hopper.h"
#include "mbarrier_state.h"
#include "stop.h"
#include "tma_boxes.h"
#include <string.h>

// Arrivals that wait for the cp.async of their thread.
enum { MOST_LATE = 1 << 15 };
typedef struct {
    uint32_t barrier, rank, thread, end;
    uintptr_t pc;
} late_arrival;
static late_arrival late[MOST_LATE];
static uint32_t late_arrivals;

void gv_late_arrivals_reset(void) { late_arrivals = 0; }

void gv_mbarrier_init(void *barrier, uint32_t count)
{
    gv_catch_up();
    gv_mbarrier_make(barrier, count, GV_PC);
}

static void arrive_late(void *what)
{
    const late_arrival *l = what;
    gv_copies_arrive_up_to(l->end);
    gv_mbarrier_count_arrival(l->barrier, 0, 0, l->pc);
}

static void end_late(uint32_t i)
{
    late_arrival l = late[i];
    memmove(&late[i], &late[i + 1], (--late_arrivals - i) * sizeof *late);
    gv_mbarrier_late(l.barrier, -1);
    gv_in_name_of(l.rank, l.thread, arrive_late, &l);
}

void gv_mbarrier_copies_arrive(uint32_t b)
{
    for (uint32_t i = 0; i < late_arrivals;) {
        if (late[i].barrier != b) i++;
        else end_late(i);
    }
    gv_boxes_arrive(b);
}

// A barrier whose phase has all of its arrivals keeps this one for later: no thread waits at it.
void gv_mbarriers_all_copies_arrive(void)
{
    gv_all_boxes_arrive();
    for (uint32_t i = 0; i < late_arrivals;) {
        if (gv_mbarrier_full(late[i].barrier)) i++;
        else end_late(i);
    }
}

// Returns the barrier when its phase lacks an arrival. If a phase has all of its arrivals and lacks bytes, the bytes
// arrive now, or another block of the cluster copies them later.
static uint32_t with_room(void *barrier, uint32_t rank, uintptr_t pc)
{
    gv_catch_up();
    uint32_t b = gv_mbarrier_at(barrier, rank, pc);
    if (gv_mbarrier_lacks_copies(b)) gv_mbarrier_copies_arrive(b);
    while (gv_mbarrier_full(b)) gv_wait_at_mbarrier(b, gv_mbarrier_parity(b), GV_AT_ARRIVAL, pc);
    gv_mbarrier_used(b, pc);
    return b;
}

void gv_mbarrier_arrive(void *barrier, uint32_t bytes, int expects)
{
    gv_mbarrier_count_arrival(with_room(barrier, gv_now.rank, GV_PC), bytes, expects, GV_PC);
}

void gv_mbarrier_arrive_at(void *barrier, uint32_t block)
{
    gv_mbarrier_count_arrival(with_room(barrier, block, GV_PC), 0, 0, GV_PC);
}

static void arrive_when_copied(uint32_t b, uintptr_t pc)
{
    if (late_arrivals == MOST_LATE) gv_stop(GV_TOO_MANY_COPIES);
    late[late_arrivals++] = (late_arrival){b, gv_now.rank, gv_now.thread, gv_copies_end_now(), pc};
    gv_mbarrier_late(b, 1);
}

void gv_mbarrier_arrive_copied(void *barrier)
{
    gv_catch_up();
    uint32_t b = gv_mbarrier_at(barrier, gv_now.rank, GV_PC);
    if (gv_mbarrier_lacks_copies(b)) gv_mbarrier_copies_arrive(b);
    arrive_when_copied(b, GV_PC);
}

// PTX ISA, "cp.async.mbarrier.arrive" without .noinc: the arrival of the copies is one more that the phase waits for.
void gv_mbarrier_await_copied(void *barrier)
{
    gv_catch_up();
    uint32_t b = gv_mbarrier_at(barrier, gv_now.rank, GV_PC);
    gv_mbarrier_one_more(b);
    arrive_when_copied(b, GV_PC);
}

void gv_mbarrier_expect(void *barrier, uint32_t bytes)
{
    gv_mbarrier_announce(with_room(barrier, gv_now.rank, GV_PC), bytes, GV_PC);
}

void gv_mbarrier_complete(void *barrier, uint32_t bytes, uint32_t block)
{
    gv_catch_up();
    uint32_t b = gv_mbarrier_at(barrier, block, GV_PC);
    gv_mbarrier_used(b, GV_PC);
    gv_mbarrier_count_bytes(b, bytes, GV_PC);
}

uint32_t gv_mbarrier_phase(void *barrier)
{
    gv_catch_up();
    return gv_mbarrier_parity(gv_mbarrier_at(barrier, gv_now.rank, GV_PC));
}

void gv_mbarrier_wait(void *barrier, uint32_t parity)
{
    uintptr_t pc = GV_PC;
    gv_catch_up();
    uint32_t b = gv_mbarrier_at(barrier, gv_now.rank, pc);
    gv_mbarrier_begin_wait(b, parity & 1, pc);
    gv_wait_at_mbarrier(b, parity & 1, GV_AT_MBARRIER, pc);
    gv_mbarrier_end_wait(b, pc);
}
