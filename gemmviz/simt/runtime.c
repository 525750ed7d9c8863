// Runs a kernel on the CPU, one fibre per CUDA thread. Within a block the threads run in turn, each up to its next
// barrier, and the lanes of a warp wait for each other where an instruction is the warp's.
#define _GNU_SOURCE
#include "runtime.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <pthread.h>
#include <time.h>
#include <ucontext.h>

typedef struct { uint32_t x, y, z; } uint3;
enum { WARP = 32 };
enum { READY, AT_BARRIER, AT_WARP, LEFT };
typedef struct {
    jmp_buf here;       // unlike swapcontext, jumping there makes no system call
    int started, state;
    uint3 index;
    uint32_t turn;
    uintptr_t barrier_pc;
    uint32_t mask;      // AT_WARP: the lanes it waits for, what it brought and what is to be done
    void *posted;
    gv_together *work;
} fibre;

gv_running gv_now;
static struct {
    fibre *fibres;
    char *stacks;
    struct timespec begun;
    uint32_t threads;
    uint3 thread_index, block_index;
    jmp_buf scheduler;
    sigjmp_buf escape;
    pthread_t owner;
    uint32_t forked;    // threads that the kernel itself has started
    int forking;
} g;

uint3 gv_thread_index(void) { return g.thread_index; }
uint3 gv_block_index(void) { return g.block_index; }
uint3 gv_block_shape(void) { uint32_t *b = gv_now.run->block; return (uint3){b[0], b[1], b[2]}; }
uint3 gv_grid_shape(void) { uint32_t *s = gv_now.run->grid; return (uint3){s[0], s[1], s[2]}; }

void gv_stop(int status)
{
    gv_now.run->status = status;
    gv_now.run->fault_block = gv_now.block;
    gv_now.run->fault_thread = gv_now.thread;
    siglongjmp(g.escape, 1);
}

int gv_on_stack(uintptr_t at)
{
    return at - (uintptr_t)g.stacks < (uint64_t)g.threads * gv_now.run->stack_bytes;
}

static void to_scheduler(int state)
{
    fibre *me = &g.fibres[gv_now.thread];
    gv_settle();
    gv_mark();
    me->state = state;
    if (!_setjmp(me->here)) _longjmp(g.scheduler, 1);
}

void gv_barrier(void)
{
    g.fibres[gv_now.thread].barrier_pc = gv_now.run->last_pc = GV_PC;
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
    fibre *warp = g.fibres + gv_now.thread / WARP * WARP, *me = &g.fibres[gv_now.thread];
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
    gv_settle();
    gv_mark();
    gv_now.turn = ++g.fibres[gv_now.thread].turn;
}

// A C kernel's own threads: each runs to its end where it is started, and the timeline puts them side by side.
int gv_thread_create(size_t *handle, const void *attributes, void *(*start)(void *), void *argument)
{
    (void)attributes;
    uint32_t me = gv_now.thread;
    gv_settle();
    gv_mark();
    if (!g.forking) gv_now.phase++;
    g.forking = 1;
    gv_now.thread = ++g.forked;
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
    if (g.forking) gv_now.phase++;
    g.forking = 0;
    return 0;
}

// A fibre is its thread in one block after another.
static void fibre_main(void)
{
    for (;;) {
        gv_now.run->entry(gv_now.run->arguments);
        to_scheduler(LEFT);
    }
}

// Stacks begin at different places of a page: else all threads' frames compete for the same lines of the cache.
enum { STAGGERS = 64, STAGGER_BYTES = 5 * 64 };

static void start(fibre *f, uint32_t thread)
{
    static ucontext_t first;
    uint64_t stack = gv_now.run->stack_bytes;
    f->started = 1;
    getcontext(&first);
    first.uc_stack.ss_sp = g.stacks + thread * stack;
    first.uc_stack.ss_size = stack - thread % STAGGERS * STAGGER_BYTES;
    first.uc_link = NULL;
    makecontext(&first, fibre_main, 0);
    setcontext(&first);
}

static void resume(uint32_t thread)
{
    fibre *f = &g.fibres[thread];
    gv_now.thread = thread;
    gv_now.turn = f->turn;
    g.thread_index = f->index;
    f->state = READY;
    if (_setjmp(g.scheduler)) return;
    if (f->started) _longjmp(f->here, 1);
    start(f, thread);
}

// Runs the lanes from `first` up to `end` until each is at a barrier or has left.
static void run_warp(uint32_t first, uint32_t end)
{
    for (int again = 1; again;) {
        again = 0;
        for (uint32_t t = first; t < end; t++)
            if (g.fibres[t].state == READY) resume(t);
        for (uint32_t t = first; t < end; t++) again |= g.fibres[t].state == READY;
    }
    for (uint32_t t = first; t < end; t++) {
        if (g.fibres[t].state != AT_WARP) continue;
        uint32_t missing = 0; // or at another instruction, when none is
        while (missing < end - first - 1 && (!(g.fibres[t].mask >> missing & 1) || g.fibres[first + missing].state == AT_WARP)) missing++;
        gv_now.thread = t;
        gv_now.run->last_pc = g.fibres[t].barrier_pc;
        gv_now.run->fault_other = first + missing;
        gv_stop(GV_WARP_WAITS);
    }
}

void gv_run_block(uint32_t block)
{
    gv_run *r = gv_now.run;
    const uint32_t *s = r->grid;
    gv_now.block = block;
    g.block_index = (uint3){block % s[0], block / s[0] % s[1], block / (s[0] * s[1])};
    // Shared memory starts as NaNs, so that reading what nobody wrote shows.
    for (uint32_t i = 0; i < r->arrays; i++)
        if (r->array[i].shared) memset((void *)r->array[i].start, 0xff, r->array[i].bytes);

    uint32_t waiting;
    for (gv_now.phase = 0;; gv_now.phase++) {
        if (gv_now.phase > UINT16_MAX) gv_stop(GV_TOO_MANY_PHASES); // the column holds no more
        for (uint32_t t = 0; t < g.threads; t++)
            if (!gv_now.phase || g.fibres[t].state != LEFT) {
                g.fibres[t].state = READY;
                g.fibres[t].turn = 0;
            }
        for (uint32_t first = 0; first < g.threads; first += WARP)
            run_warp(first, first + WARP < g.threads ? first + WARP : g.threads);
        waiting = 0;
        for (uint32_t t = 0; t < g.threads; t++) waiting += g.fibres[t].state == AT_BARRIER;
        if (!waiting) return;
        if (waiting == g.threads) {
            for (uint32_t t = 1; t < g.threads; t++) {
                if (g.fibres[t].barrier_pc == g.fibres[0].barrier_pc) continue;
                gv_now.thread = t;
                gv_notice(GV_NOTE_BARRIERS_DIFFER, -1, 0, g.fibres[t].barrier_pc, 0, g.fibres[0].barrier_pc, 0);
            }
            continue;
        }
        // Some threads wait while others have left the kernel.
        uint32_t in = 0, out = 0;
        while (g.fibres[in].state != AT_BARRIER) in++;
        while (g.fibres[out].state != LEFT) out++;
        gv_now.thread = in;
        gv_notice(GV_NOTE_BARRIER_LEFT, -1, 0, g.fibres[in].barrier_pc, out, 0, 0);
    }
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
    if (!pthread_equal(pthread_self(), g.owner)) { // a timer's signal may land on any thread
        pthread_kill(g.owner, signal);
        return;
    }
    gv_now.run->signal = signal;
    gv_now.run->fault_pc = pc;
    gv_now.run->fault_address = (uintptr_t)info->si_addr;
    gv_stop(signal == SIGALRM ? GV_DEADLINE : GV_SIGNAL);
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };

void gv_deadline(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = gv_now.run->deadline_s - (double)(now.tv_sec - g.begun.tv_sec) - 1e-9 * (double)(now.tv_nsec - g.begun.tv_nsec);
    if (left < 1e-6) left = 1e-6; // a timer of 0 would never ring
    struct itimerval timer = {{0, 0}, {(time_t)left, (suseconds_t)(1e6 * (left - (double)(time_t)left))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

int gv_guarded(void (*body)(void *), void *what)
{
    gv_now.run->status = GV_OK;
    if (!sigsetjmp(g.escape, 1)) body(what);
    return gv_now.run->status;
}

static void run_blocks(void *what)
{
    gv_run *r = what;
    gv_deadline();
    uint32_t block = r->first_block;
    if (block < r->end_block) block = gv_run_together(block);
    for (; block < r->end_block; block++) gv_run_block(block);
}

int gv_record(gv_run *r)
{
    static char signal_stack[64 * 1024];
    struct sigaction before[CAUGHT], action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t old_stack, new_stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct itimerval off = {{0, 0}, {0, 0}};

    memset(&g, 0, sizeof g);
    gv_begin(r);
    g.owner = pthread_self();
    g.threads = r->block[0] * r->block[1] * r->block[2];
    g.fibres = calloc(g.threads, sizeof *g.fibres);
    clock_gettime(CLOCK_MONOTONIC, &g.begun);
    size_t stack_total = (size_t)g.threads * r->stack_bytes;
    g.stacks = mmap(NULL, stack_total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!g.fibres || g.stacks == MAP_FAILED) return r->status = GV_NO_MEMORY;
    // The lowest page of every stack is forbidden, so that an overflow is a fault and not a neighbour's problem.
    for (uint32_t t = 0; t < g.threads; t++) mprotect(g.stacks + (size_t)t * r->stack_bytes, 4096, PROT_NONE);
    const uint32_t *b = r->block;
    for (uint32_t t = 0; t < g.threads; t++) g.fibres[t].index = (uint3){t % b[0], t / b[0] % b[1], t / (b[0] * b[1])};

    sigaltstack(&new_stack, &old_stack);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &before[i]);
    gv_guarded(run_blocks, r);
    gv_end_together();
    setitimer(ITIMER_REAL, &off, NULL);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &before[i], NULL);
    sigaltstack(&old_stack, NULL);
    munmap(g.stacks, stack_total);
    free(g.fibres);
    return r->status;
}
