// Runs a kernel on the CPU, one fibre per CUDA thread, from barrier to barrier: see rounds.c for who runs when. The lanes
// of a warp wait for each other where an instruction is the warp's.
#define _GNU_SOURCE
#include "fibres.h"
#include "hopper.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <pthread.h>
#include <time.h>
#include <ucontext.h>

gv_running gv_now;
gv_fibres gv_all;
#define g gv_all
static struct {
    struct timespec begun;
    sigjmp_buf escape;
    pthread_t owner;
    uint32_t forked;    // threads that the kernel itself has started
    int forking;
} job;

uint3 gv_thread_index(void) { return g.thread_index; }
uint3 gv_block_index(void) { return g.block_index; }
uint3 gv_block_shape(void) { uint32_t *b = gv_now.run->block; return (uint3){b[0], b[1], b[2]}; }
uint3 gv_grid_shape(void) { uint32_t *s = gv_now.run->grid; return (uint3){s[0], s[1], s[2]}; }

void gv_stop(int status)
{
    gv_now.run->status = status;
    gv_now.run->fault_block = gv_now.block;
    gv_now.run->fault_thread = gv_now.thread;
    siglongjmp(job.escape, 1);
}

int gv_on_stack(uintptr_t at)
{
    return at - (uintptr_t)g.stacks < (uint64_t)g.members * g.threads * gv_now.run->stack_bytes;
}

uint32_t gv_made(void) { return gv_running_fibre()->made + (uint32_t)(gv_now.run->count - gv_now.marked); }

void gv_mark_made(void)
{
    gv_settle();
    gv_running_fibre()->made = gv_made();
    gv_mark();
}

static void to_scheduler(int state)
{
    fibre *me = gv_running_fibre();
    gv_mark_made();
    me->state = state;
    if (!_setjmp(me->here)) _longjmp(g.scheduler, 1);
}

void gv_barrier(void)
{
    gv_running_fibre()->barrier_pc = gv_now.run->last_pc = GV_PC;
    to_scheduler(AT_BARRIER);
}

uint32_t gv_lane(void) { return gv_now.thread % WARP; }

uint32_t gv_lanes(void)
{
    uint32_t lanes = g.threads - gv_now.thread / WARP * WARP;
    return lanes >= WARP ? ~0u : (1u << lanes) - 1;
}

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

void gv_warp(uint32_t mask, void *mine, gv_together *work, uintptr_t pc)
{
    fibre *me = gv_running_fibre(), *warp = me - gv_now.thread % WARP;
    void *posted[WARP] = {0};
    gv_now.run->last_pc = me->barrier_pc = pc;
    me->posted = mine;
    me->work = work;
    me->mask = mask &= gv_lanes();
    for (uint32_t lane = 0; lane < WARP; lane++) {
        fibre *f = warp + lane;
        if (!(mask >> lane & 1)) continue;
        if (f != me && !(f->state == AT_WARP && f->mask == mask && f->work == work)) {
            to_scheduler(AT_WARP); // whoever comes last does the work, for this lane too
            return;
        }
        posted[lane] = f->posted;
    }
    work(posted, mask);
    for (uint32_t lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) warp[lane].state = READY;
}

void gv_warp_here(uint32_t mask, void *mine, gv_together *work)
{
    gv_warp(mask, mine, work, GV_PC);
}

static void nothing(void *posted[WARP], uint32_t mask)
{
    (void)posted;
    (void)mask;
}

// Unlike the other instructions of a warp, this one puts accesses to memory in order.
void gv_sync_warp(uint32_t mask)
{
    gv_warp(mask, NULL, nothing, GV_PC);
    gv_mark_made();
    gv_now.turn = ++gv_running_fibre()->turn;
}

void gv_group(void *mine, gv_by_group *work, uintptr_t pc)
{
    fibre *me = gv_running_fibre(), *group = me - gv_now.thread % GV_GROUP;
    void *posted[GV_GROUP];
    gv_now.run->last_pc = me->barrier_pc = pc;
    if (gv_now.thread / GV_GROUP * GV_GROUP + GV_GROUP > g.threads) gv_stop(GV_PART_OF_GROUP);
    me->posted = mine;
    me->group_work = work;
    for (uint32_t i = 0; i < GV_GROUP; i++) {
        fibre *f = group + i;
        if (f != me && !(f->state == AT_GROUP && f->group_work == work && f->barrier_pc == pc)) {
            to_scheduler(AT_GROUP); // whoever comes last does the work
            return;
        }
        posted[i] = f->posted;
    }
    work(posted);
    for (uint32_t i = 0; i < GV_GROUP; i++) group[i].state = READY;
}

static void wait_for(uint32_t barrier, uint32_t parity, uintptr_t pc, int state)
{
    fibre *me = gv_running_fibre();
    gv_now.run->last_pc = me->barrier_pc = pc;
    me->barrier = barrier;
    me->parity = parity;
    to_scheduler(state);
}

void gv_wait_for(uint32_t barrier, uint32_t parity, uintptr_t pc)
{
    wait_for(barrier, parity, pc, AT_MBARRIER);
    gv_barrier_passed(barrier, pc);
}

void gv_wait_to_arrive(uint32_t barrier, uint32_t parity, uintptr_t pc) { wait_for(barrier, parity, pc, AT_ARRIVAL); }

void gv_meet(int number, int threads)
{
    fibre *me = gv_running_fibre();
    me->barrier_pc = gv_now.run->last_pc = GV_PC;
    me->meeting = (uint32_t)number;
    me->threads = (uint32_t)threads;
    to_scheduler(AT_MEETING);
}

void gv_cluster_meet(void)
{
    gv_running_fibre()->barrier_pc = gv_now.run->last_pc = GV_PC;
    to_scheduler(AT_CLUSTER);
}

uint32_t gv_cluster_rank(void) { return gv_now.member; }

// A C kernel's own threads: each runs to its end where it is started, and the timeline puts them side by side.
int gv_thread_create(size_t *handle, const void *attributes, void *(*start)(void *), void *argument)
{
    (void)attributes;
    uint32_t me = gv_now.thread;
    gv_settle();
    gv_mark();
    if (!job.forking) gv_now.phase++;
    job.forking = 1;
    gv_now.thread = ++job.forked;
    *handle = gv_now.thread;
    start(argument);
    gv_settle();
    gv_mark();
    gv_now.thread = me;
    return 0;
}

int gv_thread_join(size_t handle, void **result)
{
    (void)handle;
    (void)result;
    gv_settle();
    gv_mark();
    if (job.forking) gv_now.phase++;
    job.forking = 0;
    return 0;
}

// A fibre is its thread in one block after another.
static void fibre_main(void)
{
    for (;;) {
        gv_now.run->entry(gv_now.run->arguments);
        gv_boxes_left();
        to_scheduler(LEFT);
    }
}

// Stacks begin at different places of a page: else all threads' frames compete for the same lines of the cache.
enum { STAGGERS = 64, STAGGER_BYTES = 5 * 64 };

static void start(fibre *f)
{
    static ucontext_t first;
    uint64_t stack = gv_now.run->stack_bytes, thread = (uint64_t)(f - g.fibres);
    f->started = 1;
    getcontext(&first);
    first.uc_stack.ss_sp = g.stacks + thread * stack;
    first.uc_stack.ss_size = stack - thread % STAGGERS * STAGGER_BYTES;
    first.uc_link = NULL;
    makecontext(&first, fibre_main, 0);
    setcontext(&first);
}

void gv_resume(uint32_t thread)
{
    gv_now.thread = thread;
    fibre *f = gv_running_fibre();
    gv_now.turn = f->turn;
    g.thread_index = f->index;
    f->state = READY;
    if (_setjmp(g.scheduler)) return;
    if (f->started) _longjmp(f->here, 1);
    start(f);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    uintptr_t pc = 0;
#if defined(__x86_64__)
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#endif
    if (!pthread_equal(pthread_self(), job.owner)) { // a timer's signal may land on any thread
        pthread_kill(job.owner, signal);
        return;
    }
    gv_now.run->signal = signal;
    gv_now.run->fault_pc = pc;
    gv_now.run->fault_address = (uintptr_t)info->si_addr;
    // Of the stacks, only the pages that are forbidden can be at fault.
    int overflow = (signal == SIGSEGV || signal == SIGBUS) && gv_on_stack(gv_now.run->fault_address);
    gv_stop(signal == SIGALRM ? GV_DEADLINE : overflow ? GV_STACK_OVERFLOW : GV_SIGNAL);
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };

void gv_deadline(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = gv_now.run->deadline_s - (double)(now.tv_sec - job.begun.tv_sec) - 1e-9 * (double)(now.tv_nsec - job.begun.tv_nsec);
    if (left < 1e-6) left = 1e-6; // a timer of 0 would never ring
    struct itimerval timer = {{0, 0}, {(time_t)left, (suseconds_t)(1e6 * (left - (double)(time_t)left))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

int gv_guarded(void (*body)(void *), void *what)
{
    gv_now.run->status = GV_OK;
    if (!sigsetjmp(job.escape, 1)) body(what);
    return gv_now.run->status;
}

static void run_blocks(void *what)
{
    gv_run *r = what;
    gv_deadline();
    uint32_t block = r->first_block;
    if (block < r->end_block) block = gv_run_together(block);
    for (; block < r->end_block; block += g.members) gv_run_block(block);
}

// Makes room for the shared arrays of each block of a cluster.
static int keep_shared(void)
{
    size_t bytes = 1;
    for (uint32_t i = 0; i < gv_now.run->arrays; i++)
        if (gv_now.run->array[i].shared) bytes += gv_now.run->array[i].bytes;
    for (uint32_t m = 0; g.members > 1 && m < g.members; m++)
        if (!(g.shared_of[m] = malloc(bytes))) return 0;
    return 1;
}

int gv_record(gv_run *r)
{
    static char signal_stack[64 * 1024];
    struct sigaction before[CAUGHT], action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t old_stack, new_stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct itimerval off = {{0, 0}, {0, 0}};

    memset(&g, 0, sizeof g);
    memset(&job, 0, sizeof job);
    gv_begin(r);
    job.owner = pthread_self();
    g.threads = r->block[0] * r->block[1] * r->block[2];
    g.members = r->cluster;
    uint32_t all = g.members * g.threads;
    g.fibres = calloc(all, sizeof *g.fibres);
    clock_gettime(CLOCK_MONOTONIC, &job.begun);
    size_t stack_total = (size_t)all * r->stack_bytes;
    g.stacks = mmap(NULL, stack_total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!g.fibres || g.stacks == MAP_FAILED || !keep_shared()) return r->status = GV_NO_MEMORY;
    // The lowest page of every stack is forbidden, so that an overflow is a fault and not a neighbour's problem.
    for (uint32_t t = 0; t < all; t++) mprotect(g.stacks + (size_t)t * r->stack_bytes, 4096, PROT_NONE);
    const uint32_t *b = r->block;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t t = i % g.threads;
        g.fibres[i].index = (uint3){t % b[0], t / b[0] % b[1], t / (b[0] * b[1])};
    }

    sigaltstack(&new_stack, &old_stack);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &before[i]);
    gv_guarded(run_blocks, r);
    gv_end_together();
    setitimer(ITIMER_REAL, &off, NULL);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &before[i], NULL);
    sigaltstack(&old_stack, NULL);
    munmap(g.stacks, stack_total);
    for (uint32_t m = 0; m < g.members; m++) free(g.shared_of[m]);
    free(g.fibres);
    return r->status;
}
