// mbarriers: barriers in shared memory that count arrivals and bytes. Rules: PTX ISA, "mbarrier". What a barrier counts is
// kept here and not in the 8 bytes that the kernel has for it; each thing that happens to one is told.
#define _GNU_SOURCE
#include "kernel_calls/hopper.h"
#include "recording.h"
#include <string.h>
#include <sys/mman.h>

enum { MOST = 1024 };
enum { INIT, ARRIVE, EXPECT, WAIT, PASS, BYTES, COMPLETE, FENCE };

// One event, for Python. `made`: accesses that its thread had made in the phase; `arrivals` and `bytes`: what the barrier
// still lacks after it; `number`: phases of the barrier that had ended (of a wait, the one that is waited for).
typedef struct {
    uint64_t barrier, pc;
    int64_t bytes;
    uint32_t block, made, number;
    int32_t arrivals;
    uint16_t thread, phase, kind, parity;
} event;

static struct {
    uintptr_t at;
    uint32_t member, count, number;
    int32_t arrivals; // missing
    int64_t bytes;    // missing
    uint32_t warp, phase, meetings; // where it was initialised, when, and after how many meetings of the cluster
    uintptr_t pc;
    uint32_t passed; // phases that its own block has seen the end of
    struct {
        uintptr_t pc; // 0: none
        uint32_t block, thread, number, meetings;
    } last; // use by another block
} known[MOST + 1]; // the last one is none
static uint32_t barriers, meetings;

// Arrivals that wait for their thread's cp.async.
enum { MOST_LATE = 1 << 15 };
typedef struct { uint32_t barrier, member, thread, end; uintptr_t pc; } late_arrival;
static late_arrival late[MOST_LATE];
static uint32_t late_arrivals;

// Shared with processes that are forked later.
static struct {
    uint64_t count;
    event log[];
} *told;
static uint64_t room;

int gv_events_begin(uint64_t capacity)
{
    room = capacity;
    told = mmap(NULL, sizeof *told + room * sizeof(event), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return told != MAP_FAILED;
}

void gv_events_end(void) { munmap(told, sizeof *told + room * sizeof(event)); }

uint64_t gv_events(const void **log)
{
    *log = told->log;
    return told->count;
}

uint64_t gv_events_told(void) { return told->count; }
void gv_events_take_back(uint64_t count) { told->count = count; }

void gv_barriers_reset(void) { barriers = late_arrivals = meetings = 0; }
void gv_barriers_cluster_met(void) { meetings++; }

static void tell(uint32_t b, int kind, uint32_t parity, uintptr_t pc)
{
    if (gv_now.run->count_only) return;
    uint64_t at = __atomic_fetch_add(&told->count, 1, __ATOMIC_RELAXED);
    if (at >= room) gv_stop(GV_FULL);
    told->log[at] = (event){
        known[b].at, pc, known[b].bytes, gv_now.block - gv_now.member + known[b].member, gv_made(), known[b].number,
        known[b].arrivals, (uint16_t)gv_now.thread, (uint16_t)gv_now.phase, (uint16_t)kind, (uint16_t)parity};
}

void gv_tell(int kind, uint32_t number, uintptr_t pc)
{
    known[MOST].member = gv_now.member;
    known[MOST].number = number;
    tell(MOST, kind, 0, pc);
}

void gv_shared_written(void) { gv_tell(FENCE, 0, GV_PC); }
void gv_global_read(void) { gv_tell(GV_GLOBAL_READ, 0, GV_PC); }

static uint32_t find(uintptr_t at, uint32_t member)
{
    uint32_t b = 0;
    while (b < barriers && !(known[b].at == at && known[b].member == member)) b++;
    return b;
}

// Whether a GPU may get here before the barrier is initialised, although the recorder does not. Only meetings of the
// cluster put in order what its blocks do at first; within a block, what other warps do in the same phase has no order.
static int may_be_early(uint32_t b)
{
    if (known[b].member != gv_now.member) return known[b].meetings == meetings;
    return known[b].phase == gv_now.phase && known[b].warp != gv_now.thread / 32;
}

// Returns the notice just made at an instruction; NULL where there was one before, or no room.
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

void gv_barrier_reached(uint32_t b, uintptr_t pc)
{
    if (known[b].member == gv_now.member) return;
    known[b].last.pc = pc;
    known[b].last.block = gv_now.block;
    known[b].last.thread = gv_now.thread;
    known[b].last.number = known[b].number;
    known[b].last.meetings = meetings;
}

// What comes from another block has to find the block there. It does where the block has waited for the phase that it
// counts in, or where the cluster has met after it.
void gv_barriers_left(void)
{
    gv_running before = gv_now;
    for (uint32_t b = 0; b < barriers; b++) {
        if (!known[b].last.pc || known[b].last.meetings < meetings || known[b].last.number < known[b].passed) continue;
        gv_now.block = known[b].last.block;
        gv_now.thread = known[b].last.thread;
        notice(GV_NOTE_LATE, b, before.block - before.member + known[b].member, known[b].last.pc, 0);
    }
    gv_now.block = before.block;
    gv_now.thread = before.thread;
}

uint32_t gv_barrier_at(void *at, uint32_t member, uintptr_t pc)
{
    uint32_t b = find((uintptr_t)at, member);
    if (b < barriers) {
        if (!may_be_early(b)) return b;
        notice(GV_NOTE_EARLY, b, gv_now.block - gv_now.member + member, pc, known[b].pc);
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
    tell(b, COMPLETE, 0, pc);
}

void gv_barrier_init(void *barrier, uint32_t count)
{
    uint32_t b = find((uintptr_t)barrier, gv_now.member);
    if (b == MOST) gv_stop(GV_NO_MEMORY);
    if (b == barriers) barriers++;
    known[b].at = (uintptr_t)barrier;
    known[b].member = gv_now.member;
    known[b].count = count;
    known[b].number = 0;
    known[b].arrivals = (int32_t)count;
    known[b].bytes = 0;
    known[b].warp = gv_now.thread / 32;
    known[b].phase = gv_now.phase;
    known[b].meetings = meetings;
    known[b].pc = GV_PC;
    known[b].passed = 0;
    known[b].last.pc = 0;
    tell(b, INIT, 0, GV_PC);
}

static int32_t late_at(uint32_t b)
{
    int32_t found = 0;
    for (uint32_t i = 0; i < late_arrivals; i++) found += late[i].barrier == b;
    return found;
}

static void arrive(uint32_t b, uint32_t bytes, int expects, uintptr_t pc)
{
    gv_now.run->last_pc = pc;
    if (!known[b].arrivals) gv_barrier_too_often(b);
    known[b].arrivals--;
    known[b].bytes += bytes;
    tell(b, expects ? EXPECT : ARRIVE, 0, pc);
    end_phase(b, pc);
}

void gv_barrier_too_often(uint32_t b)
{
    gv_now.run->fault_address = known[b].at;
    gv_stop(GV_ARRIVES_TOO_OFTEN);
}

// Returns the barrier when it has room for an arrival. What a full phase lacks is late, as nobody waited for it: by now
// it has arrived, or another block of the cluster is going to copy it, and then it is seen what comes of that.
static uint32_t with_room(void *barrier, uint32_t member, uintptr_t pc)
{
    uint32_t b = gv_barrier_at(barrier, member, pc);
    if (gv_barrier_lacks_copies(b)) gv_copies_arrive(b);
    while (!known[b].arrivals) gv_wait_to_arrive(b, known[b].number & 1, pc);
    gv_barrier_reached(b, pc);
    return b;
}

void gv_barrier_arrive(void *barrier, uint32_t bytes, int expects)
{
    arrive(with_room(barrier, gv_now.member, GV_PC), bytes, expects, GV_PC);
}

void gv_barrier_arrive_at(void *barrier, uint32_t block) { arrive(with_room(barrier, block, GV_PC), 0, 0, GV_PC); }

void gv_barrier_arrive_copied(void *barrier)
{
    uint32_t b = gv_barrier_at(barrier, gv_now.member, GV_PC);
    if (gv_barrier_lacks_copies(b)) gv_copies_arrive(b);
    if (late_arrivals == MOST_LATE) gv_stop(GV_TOO_MANY_COPIES);
    late[late_arrivals++] = (late_arrival){b, gv_now.member, gv_now.thread, gv_copies_end_now(), GV_PC};
}

static void arrive_late(void *what)
{
    const late_arrival *l = what;
    gv_copies_arrive_up_to(l->end);
    arrive(l->barrier, 0, 0, l->pc);
}

static void end_late(uint32_t i)
{
    late_arrival l = late[i];
    memmove(&late[i], &late[i + 1], (--late_arrivals - i) * sizeof *late);
    gv_in_name_of(l.member, l.thread, arrive_late, &l);
}

void gv_copies_arrive(uint32_t b)
{
    for (uint32_t i = 0; i < late_arrivals;) {
        if (late[i].barrier != b) i++;
        else end_late(i);
    }
    gv_boxes_arrive(b);
}

// A barrier that has no room for an arrival keeps it: nobody waits for one there.
void gv_all_copies_arrive(void)
{
    gv_all_boxes_arrive();
    for (uint32_t i = 0; i < late_arrivals;) {
        if (!known[late[i].barrier].arrivals) i++;
        else end_late(i);
    }
}

void gv_barrier_wait(void *barrier, uint32_t parity)
{
    uint32_t b = gv_barrier_at(barrier, gv_now.member, GV_PC);
    tell(b, WAIT, parity & 1, GV_PC);
    gv_wait_for(b, parity & 1, GV_PC);
}

void gv_barrier_passed(uint32_t b, uintptr_t pc)
{
    known[b].passed = known[b].number;
    tell(b, PASS, 0, pc);
}

void gv_barrier_bytes(uint32_t b, int64_t bytes, uintptr_t pc)
{
    known[b].bytes -= bytes;
    tell(b, BYTES, 0, pc);
    end_phase(b, pc);
}

int gv_barrier_open(uint32_t b, uint32_t parity) { return (known[b].number & 1) != parity; }
int gv_barrier_lacks_copies(uint32_t b)
{
    int32_t waiting = late_arrivals ? late_at(b) : 0;
    return known[b].arrivals <= waiting && (known[b].bytes || waiting);
}

void gv_barrier_stuck(uint32_t b, uint32_t parity, uintptr_t pc)
{
    gv_notice(GV_NOTE_STUCK, -1, 0, pc, 0, 0, 0);
    gv_note *n = noticed(GV_NOTE_STUCK, pc);
    if (!n) return;
    n->barrier = known[b].at;
    n->parity = parity;
    n->arrivals = (uint32_t)known[b].arrivals;
    n->copied = known[b].bytes;
}
