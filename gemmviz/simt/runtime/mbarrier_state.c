// mbarriers: barriers in shared memory that count arrivals and bytes. Rules: PTX ISA, "mbarrier". The count of each one
// is kept here, not in its 8 bytes in the kernel's memory; each event is reported.
#include "mbarrier_state.h"
#include "events.h"
#include "notes.h"
#include "stop.h"

enum { MOST_BARRIERS = 1024, BARRIER_BYTES = 8 };

static struct {
    uintptr_t at;
    uint32_t rank, count, number;
    int32_t arrivals;               // missing
    int64_t bytes;                  // missing
    int32_t late;                   // arrivals that wait for the cp.async of their thread
    uint32_t came;                  // arrivals since the initialisation
    uintptr_t came_pc, announced_pc, brought_pc; // of the last arrival, announcement of bytes, and copy; 0: none
    uint32_t thread, phase, meetings; // of its initialisation: thread, phase, number of cluster barriers before
    uintptr_t pc;
    uint32_t passed; // phases whose end its own block has seen
    struct {
        uintptr_t pc; // 0: none
        uint32_t block, thread, number, meetings;
    } last; // use by another block
} known[MOST_BARRIERS];
static uint32_t barriers, meetings;

void gv_mbarriers_reset(void)
{
    for (uint32_t b = 0; b < barriers; b++) known[b].late = 0;
    barriers = meetings = 0;
}

void gv_mbarriers_cluster_met(void) { meetings++; }

static void tell(uint32_t b, int kind, uint32_t parity, uintptr_t pc)
{
    int64_t bytes = known[b].bytes;
    gv_tell_event((gv_event){.barrier = gv_event_barrier(known[b].at),
        .line = gv_event_line(pc),
        .bytes = bytes > INT32_MAX ? INT32_MAX : bytes < INT32_MIN ? INT32_MIN : (int32_t)bytes,
        .block = (int32_t)(gv_now.block - gv_now.rank + known[b].rank),
        .number = (int32_t)known[b].number,
        .arrivals = (int32_t)known[b].arrivals,
        .kind = kind,
        .parity = (int32_t)parity,
        .remote = gv_now.rank != known[b].rank});
}

static inline int is_at(uint32_t b, uintptr_t at, uint32_t rank)
{
    return b < barriers && known[b].at == at && known[b].rank == rank;
}

// Returns the barrier at an address of a block; `barriers` if there is none. A cluster has hundreds: the one that was
// found last for these lower bits of the address is tried first.
static uint32_t find(uintptr_t at, uint32_t rank)
{
    enum { EACH = 64 };
    static uint16_t found[GV_MAX_CLUSTER][EACH];
    uint16_t *last = &found[rank % GV_MAX_CLUSTER][at / BARRIER_BYTES % EACH];
    if (is_at(*last, at, rank)) return *last;
    uint32_t b = 0;
    while (b < barriers && !is_at(b, at, rank)) b++;
    return *last = (uint16_t)b;
}

// Whether a GPU may reach this use before the barrier is initialised, although the recorder does not. Only cluster
// barriers order the first accesses of its blocks; in a block, accesses of other warps in the same phase have no order.
static int may_be_early(uint32_t b)
{
    if (known[b].rank != gv_now.rank) return known[b].meetings == meetings;
    return known[b].phase == gv_now.phase && known[b].thread / GV_WARP != gv_now.thread / GV_WARP;
}

// Returns the new note of an instruction; NULL if the instruction has one already, or if there is no room.
static gv_note *noticed(int kind, uintptr_t pc)
{
    for (uint32_t i = 0; i < gv_now.run->notes; i++) {
        gv_note *n = &gv_now.run->note[i];
        if (n->kind == kind && n->pc == pc && !n->barrier) return n;
    }
    return NULL;
}

static void notice(int kind, uint32_t b, uint32_t block, uintptr_t pc, uintptr_t other_pc)
{
    gv_notice(kind, -1, 0, pc, block, other_pc, 0);
    gv_note *n = noticed(kind, pc);
    if (n) n->barrier = known[b].at;
}

void gv_mbarrier_used(uint32_t b, uintptr_t pc)
{
    if (known[b].rank == gv_now.rank) return;
    known[b].last.pc = pc;
    known[b].last.block = gv_now.block;
    known[b].last.thread = gv_now.thread;
    known[b].last.number = known[b].number;
    known[b].last.meetings = meetings;
}

// At an arrival from another block, the block of the barrier must still run. This is sure if that block has waited for
// the phase of the arrival, or if a cluster barrier follows the arrival.
void gv_mbarriers_left(void)
{
    gv_running before = gv_now;
    for (uint32_t b = 0; b < barriers; b++) {
        if (!known[b].last.pc || known[b].last.meetings < meetings || known[b].last.number < known[b].passed) continue;
        gv_now.block = known[b].last.block;
        gv_now.thread = known[b].last.thread;
        notice(GV_NOTE_LATE, b, before.block - before.rank + known[b].rank, known[b].last.pc, 0);
    }
    gv_now.block = before.block;
    gv_now.thread = before.thread;
}

uint32_t gv_mbarrier_at(void *at, uint32_t rank, uintptr_t pc)
{
    uint32_t b = find((uintptr_t)at, rank);
    if (b < barriers) {
        if (!may_be_early(b)) return b;
        notice(GV_NOTE_EARLY, b, gv_now.block - gv_now.rank + rank, pc, known[b].pc);
        return b;
    }
    gv_now.run->last_pc = pc;
    gv_now.run->fault_address = (uintptr_t)at;
    gv_stop(GV_BARRIER_NOT_READY);
}

static void end_phase(uint32_t b, uintptr_t pc)
{
    if (known[b].arrivals || known[b].bytes) return;
    known[b].number++;
    known[b].arrivals = (int32_t)known[b].count;
    tell(b, GV_EVENT_COMPLETE, 0, pc);
}

void gv_mbarrier_make(void *at, uint32_t count, uintptr_t pc)
{
    uint32_t b = find((uintptr_t)at, gv_now.rank);
    if (b == MOST_BARRIERS) gv_stop(GV_NO_MEMORY);
    if (b == barriers) barriers++;
    else if (known[b].phase == gv_now.phase && known[b].thread != gv_now.thread)
        notice(GV_NOTE_MADE_TWICE, b, known[b].thread, pc, known[b].pc);
    known[b].at = (uintptr_t)at;
    known[b].rank = gv_now.rank;
    known[b].count = count;
    known[b].number = 0;
    known[b].arrivals = (int32_t)count;
    known[b].bytes = 0;
    known[b].thread = gv_now.thread;
    known[b].phase = gv_now.phase;
    known[b].meetings = meetings;
    known[b].pc = pc;
    known[b].passed = known[b].came = 0;
    known[b].last.pc = known[b].came_pc = known[b].announced_pc = known[b].brought_pc = 0;
    tell(b, GV_EVENT_INIT, 0, pc);
}

void gv_mbarrier_too_often(uint32_t b)
{
    gv_now.run->fault_address = known[b].at;
    gv_stop(GV_ARRIVES_TOO_OFTEN);
}

void gv_mbarrier_count_arrival(uint32_t b, uint32_t bytes, int expects, uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    if (!known[b].arrivals) gv_mbarrier_too_often(b);
    known[b].arrivals--;
    known[b].came++;
    known[b].came_pc = pc;
    if (bytes) gv_mbarrier_announce(b, bytes, pc);
    tell(b, expects ? GV_EVENT_EXPECT : GV_EVENT_ARRIVE, 0, pc);
    end_phase(b, pc);
}

void gv_mbarrier_begin_wait(uint32_t b, uint32_t parity, uintptr_t pc) { tell(b, GV_EVENT_WAIT, parity, pc); }

void gv_mbarrier_end_wait(uint32_t b, uintptr_t pc)
{
    known[b].passed = known[b].number;
    tell(b, GV_EVENT_PASS, 0, pc);
}

void gv_mbarrier_count_bytes(uint32_t b, int64_t bytes, uintptr_t pc)
{
    known[b].bytes -= bytes;
    known[b].brought_pc = pc;
    tell(b, GV_EVENT_BYTES, 0, pc);
    end_phase(b, pc);
}

void gv_mbarrier_announce(uint32_t b, uint32_t bytes, uintptr_t pc)
{
    known[b].bytes += bytes;
    known[b].announced_pc = pc;
}

void gv_mbarrier_one_more(uint32_t b) { known[b].arrivals++; }

void gv_mbarrier_late(uint32_t b, int32_t more) { known[b].late += more; }

int gv_mbarrier_open(uint32_t b, uint32_t parity) { return (known[b].number & 1) != parity; }
int gv_mbarrier_full(uint32_t b) { return !known[b].arrivals; }
uint32_t gv_mbarrier_parity(uint32_t b) { return known[b].number & 1; }

int gv_mbarrier_lacks_copies(uint32_t b)
{
    return known[b].arrivals <= known[b].late && (known[b].bytes || known[b].late);
}

// Returns another barrier of the same block that has got more bytes than were announced, or `barriers`.
static uint32_t with_too_many_bytes(uint32_t b)
{
    uint32_t o = 0;
    while (o < barriers && !(known[o].rank == known[b].rank && known[o].bytes < 0)) o++;
    return o;
}

// Who has to find the mistake looks at what happened at the barrier last: at the copy whose bytes went to another
// barrier, at the arrivals if one is missing, else at the bytes.
void gv_mbarrier_stuck(uint32_t b, uint32_t parity, uintptr_t pc)
{
    uint32_t o = known[b].bytes > 0 ? with_too_many_bytes(b) : barriers;
    uintptr_t bytes_pc = known[b].brought_pc ? known[b].brought_pc : known[b].announced_pc;
    uintptr_t arrival_pc = known[b].came ? known[b].came_pc : known[b].pc;
    int of_bytes = !known[b].arrivals && known[b].announced_pc;
    uintptr_t other_pc = o < barriers ? known[o].brought_pc : of_bytes ? bytes_pc : arrival_pc;
    gv_notice(GV_NOTE_STUCK_AT_MBARRIER, -1, 0, pc, known[b].came, other_pc, known[b].brought_pc != 0);
    gv_note *n = noticed(GV_NOTE_STUCK_AT_MBARRIER, pc);
    if (!n) return;
    n->barrier = known[b].at;
    n->parity = parity;
    n->arrivals = (uint32_t)known[b].arrivals;
    n->copied = known[b].bytes;
    n->announced_pc = known[b].announced_pc;
    if (o == barriers) return;
    n->other_barrier = known[o].at;
    n->surplus = -known[o].bytes;
}
