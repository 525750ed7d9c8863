// Runs a kernel on the CPU, one fibre per CUDA thread, and writes down every access to the watched arrays.
//
// The kernel is compiled with -fsanitize=thread, and the compiler calls __tsan_read4(address) and its like before each
// access. Instead of the sanitizer's runtime these calls arrive here. Blocks run one after another; within a block the
// threads run in turn, each up to its next barrier.
#define _GNU_SOURCE
#include "runtime.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <pthread.h>
#include <ucontext.h>

typedef struct { uint32_t x, y, z; } uint3;
enum { WARP = 32 };
enum { READY, AT_BARRIER, AT_WARP, LEFT };
typedef struct {
    ucontext_t first;   // used once, to enter the fibre
    jmp_buf here;       // used for every later switch: unlike swapcontext it makes no system call
    int started, state;
    uintptr_t barrier_pc;
    uint32_t mask;      // AT_WARP: the lanes it waits for, what it brought and what is to be done
    void *posted;
    gv_together *work;
} fibre;

static struct {
    gv_run *run;
    fibre *fibres;
    uint32_t threads, thread, block, phase;
    uint3 thread_index, block_index;
    jmp_buf scheduler;
    sigjmp_buf escape;
    pthread_t owner;
    int pending;        // the last row is a write whose value is not yet in memory
    uintptr_t pending_address;
    uint64_t pending_more;
    uint32_t forked;    // threads that the kernel itself has started
    int forking;
    uint16_t site_of[1 << 14]; // open-addressed: instruction address -> site + 1
} g;

uint3 gv_thread_index(void) { return g.thread_index; }
uint3 gv_block_index(void) { return g.block_index; }
uint3 gv_block_shape(void) { uint32_t *b = g.run->block; return (uint3){b[0], b[1], b[2]}; }
uint3 gv_grid_shape(void) { uint32_t *s = g.run->grid; return (uint3){s[0], s[1], s[2]}; }

static void stop(int status)
{
    g.run->status = status;
    g.run->fault_block = g.block;
    g.run->fault_thread = g.thread;
    siglongjmp(g.escape, 1);
}

static inline uint32_t value_at(uintptr_t address, const gv_array *array)
{
    uint32_t bits = 0;
    if (array->doubles) {
        double wide;
        memcpy(&wide, (void *)address, sizeof wide);
        float narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof bits);
    } else {
        memcpy(&bits, (void *)address, array->itemsize < 4 ? array->itemsize : 4);
    }
    return bits;
}

// Keeps the values of an access: the first element's in its row, those of the others apart, as few accesses have any.
static inline void keep_values(uint64_t row, uintptr_t at, uint64_t more)
{
    gv_run *r = g.run;
    const gv_array *a = &r->array[r->which[row]];
    r->value[row] = value_at(at, a);
    for (uint32_t done = 2 * a->itemsize; done <= r->bytes[row]; done += a->itemsize)
        r->more[more++] = value_at(at + done - a->itemsize, a);
}

// The value of a write is in memory by the time its thread makes its next access, reaches a barrier or returns.
static inline void settle(void)
{
    if (!g.pending) return;
    g.pending = 0;
    keep_values(g.run->count - 1, g.pending_address, g.pending_more);
}

static inline uint16_t site_at(uintptr_t pc)
{
    uint32_t mask = sizeof g.site_of / sizeof *g.site_of - 1, at = (uint32_t)(pc * 2654435761u) >> 8 & mask;
    for (;; at = (at + 1) & mask) {
        uint16_t site = g.site_of[at];
        if (site && g.run->site_pc[site - 1] == pc) return site - 1;
        if (!site) break;
    }
    if (g.run->sites == GV_MAX_SITES) stop(GV_TOO_MANY_SITES);
    g.run->site_pc[g.run->sites++] = pc;
    g.site_of[at] = (uint16_t)g.run->sites;
    return (uint16_t)(g.run->sites - 1);
}

static void note(int kind, int array, int64_t offset, uintptr_t pc, uint32_t other, int write)
{
    gv_run *r = g.run;
    for (uint32_t i = 0; i < r->notes; i++)
        if (r->note[i].kind == kind && r->note[i].pc == pc && r->note[i].array == array) return;
    if (r->notes == GV_MAX_NOTES) return;
    r->note[r->notes++] = (gv_note){kind, array, offset, pc, g.block, g.thread, other, (uint32_t)write};
}

void gv_access(void *address, uint32_t bytes, int write, uintptr_t pc)
{
    gv_run *r = g.run;
    uintptr_t at = (uintptr_t)address;
    r->last_pc = pc;
    settle();
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (at - a->start >= a->bytes || at - a->start + bytes > a->bytes) {
            note(GV_NOTE_OUT_OF_BOUNDS, (int)i, (int64_t)at - (int64_t)a->start, pc, bytes, write);
            return;
        }
        uint32_t further = bytes > a->itemsize ? bytes / a->itemsize - 1 : 0;
        if (r->count == r->capacity || r->more_count + further > r->capacity) stop(GV_FULL);
        uint64_t row = r->count++, more = r->more_count;
        r->more_count += further;
        r->site[row] = site_at(pc);
        r->which[row] = (uint8_t)i;
        r->write[row] = (uint8_t)write;
        r->bytes[row] = (uint8_t)bytes;
        r->element[row] = (uint32_t)((at - a->start) / a->itemsize);
        r->block_of[row] = g.block;
        r->thread_of[row] = (uint16_t)g.thread;
        r->phase_of[row] = (uint16_t)g.phase;
        if (write) {
            g.pending = 1;
            g.pending_address = at;
            g.pending_more = more;
        } else {
            keep_values(row, at, more);
        }
        return;
    }
}

#define CALLBACKS(n) \
    void __tsan_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_write##n(void *p) { gv_access(p, n, 1, GV_PC); } \
    void __tsan_volatile_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_volatile_write##n(void *p) { gv_access(p, n, 1, GV_PC); } \
    void __tsan_unaligned_volatile_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_unaligned_volatile_write##n(void *p) { gv_access(p, n, 1, GV_PC); } \
    void __tsan_unaligned_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_unaligned_write##n(void *p) { gv_access(p, n, 1, GV_PC); } \
    void __tsan_read_write##n(void *p) { gv_access(p, n, 0, GV_PC); gv_access(p, n, 1, GV_PC); } \
    void __tsan_unaligned_read_write##n(void *p) { gv_access(p, n, 0, GV_PC); gv_access(p, n, 1, GV_PC); }
CALLBACKS(1) CALLBACKS(2) CALLBACKS(4) CALLBACKS(8) CALLBACKS(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

// memcpy, memset: Clang turns loops into them and TSan calls these names instead. Each byte range is one access per 4 bytes.
static void range(const void *p, size_t n, int write, uintptr_t pc)
{
    for (size_t i = 0; i < n; i += 4) gv_access((char *)p + i, n - i < 4 ? (uint32_t)(n - i) : 4, write, pc);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    range(from, n, 0, GV_PC);
    memcpy(to, from, n);
    range(to, n, 1, GV_PC);
    return to;
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    range(from, n, 0, GV_PC);
    memmove(to, from, n);
    range(to, n, 1, GV_PC);
    return to;
}
void *__tsan_memset(void *to, int byte, size_t n)
{
    memset(to, byte, n);
    range(to, n, 1, GV_PC);
    return to;
}

static void to_scheduler(int state)
{
    fibre *me = &g.fibres[g.thread];
    settle();
    me->state = state;
    if (!_setjmp(me->here)) _longjmp(g.scheduler, 1);
}

void gv_barrier(void)
{
    g.fibres[g.thread].barrier_pc = g.run->last_pc = GV_PC;
    to_scheduler(AT_BARRIER);
}

uint32_t gv_lane(void) { return g.thread % WARP; }

uint32_t gv_lanes(void)
{
    uint32_t lanes = g.threads - g.thread / WARP * WARP;
    return lanes >= WARP ? ~0u : (1u << lanes) - 1;
}

void gv_no_warp(uintptr_t pc)
{
    g.run->last_pc = pc;
    stop(GV_PART_OF_WARP);
}

void gv_warp(uint32_t mask, void *mine, gv_together *work, uintptr_t pc)
{
    fibre *warp = g.fibres + g.thread / WARP * WARP, *me = &g.fibres[g.thread];
    void *posted[WARP] = {0};
    g.run->last_pc = me->barrier_pc = pc;
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

// A C kernel's own threads: each runs to its end where it is started, and the timeline puts them side by side.
int gv_thread_create(size_t *handle, const void *attributes, void *(*start)(void *), void *argument)
{
    (void)attributes;
    uint32_t me = g.thread;
    settle();
    if (!g.forking) g.phase++;
    g.forking = 1;
    g.thread = ++g.forked;
    *handle = g.thread;
    start(argument);
    settle();
    g.thread = me;
    return 0;
}

int gv_thread_join(size_t handle, void **result)
{
    (void)handle;
    (void)result;
    settle();
    if (g.forking) g.phase++;
    g.forking = 0;
    return 0;
}

static void fibre_main(void)
{
    g.run->entry(g.run->arguments);
    to_scheduler(LEFT);
}

static void resume(uint32_t thread)
{
    uint32_t *b = g.run->block;
    fibre *f = &g.fibres[thread];
    g.thread = thread;
    g.thread_index = (uint3){thread % b[0], thread / b[0] % b[1], thread / (b[0] * b[1])};
    f->state = READY;
    if (_setjmp(g.scheduler)) return;
    if (f->started) _longjmp(f->here, 1);
    f->started = 1;
    setcontext(&f->first);
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
        g.thread = t;
        g.run->last_pc = g.fibres[t].barrier_pc;
        g.run->fault_other = first + missing;
        stop(GV_WARP_WAITS);
    }
}

static void run_block(char *stacks)
{
    gv_run *r = g.run;
    for (uint32_t t = 0; t < g.threads; t++) {
        fibre *f = &g.fibres[t];
        f->started = 0;
        getcontext(&f->first);
        f->first.uc_stack.ss_sp = stacks + (size_t)t * r->stack_bytes;
        f->first.uc_stack.ss_size = r->stack_bytes;
        f->first.uc_link = NULL;
        makecontext(&f->first, fibre_main, 0);
    }
    // Shared memory starts as NaNs, so that reading what nobody wrote shows.
    for (uint32_t i = 0; i < r->arrays; i++)
        if (r->array[i].shared) memset((void *)r->array[i].start, 0xff, r->array[i].bytes);

    uint32_t waiting;
    for (g.phase = 0;; g.phase++) {
        if (g.phase > UINT16_MAX) stop(GV_TOO_MANY_PHASES); // the column holds no more
        for (uint32_t t = 0; t < g.threads; t++)
            if (!g.phase || g.fibres[t].state != LEFT) g.fibres[t].state = READY;
        for (uint32_t first = 0; first < g.threads; first += WARP)
            run_warp(first, first + WARP < g.threads ? first + WARP : g.threads);
        waiting = 0;
        for (uint32_t t = 0; t < g.threads; t++) waiting += g.fibres[t].state == AT_BARRIER;
        if (!waiting) return;
        if (waiting == g.threads) continue;
        // Some threads wait while others have left the kernel.
        uint32_t in = 0, out = 0;
        while (g.fibres[in].state != AT_BARRIER) in++;
        while (g.fibres[out].state != LEFT) out++;
        g.thread = in;
        note(GV_NOTE_BARRIER_LEFT, -1, 0, g.fibres[in].barrier_pc, out, 0);
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
    g.run->signal = signal;
    g.run->fault_pc = pc;
    g.run->fault_address = (uintptr_t)info->si_addr;
    stop(signal == SIGALRM ? GV_DEADLINE : GV_SIGNAL);
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught };

int gv_record(gv_run *r)
{
    static char signal_stack[64 * 1024];
    struct sigaction before[CAUGHT], action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t old_stack, new_stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct itimerval timer = {{0, 0}, {(time_t)r->deadline_s, (suseconds_t)(1e6 * (r->deadline_s - (time_t)r->deadline_s))}}, off = {{0, 0}, {0, 0}};

    memset(&g, 0, sizeof g);
    g.run = r;
    g.owner = pthread_self();
    g.threads = r->block[0] * r->block[1] * r->block[2];
    g.fibres = calloc(g.threads, sizeof *g.fibres);
    size_t stack_total = (size_t)g.threads * r->stack_bytes;
    char *stacks = mmap(NULL, stack_total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!g.fibres || stacks == MAP_FAILED) return r->status = GV_NO_MEMORY;
    // The lowest page of every stack is forbidden, so that an overflow is a fault and not a neighbour's problem.
    for (uint32_t t = 0; t < g.threads; t++) mprotect(stacks + (size_t)t * r->stack_bytes, 4096, PROT_NONE);

    sigaltstack(&new_stack, &old_stack);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &before[i]);
    r->status = GV_OK;
    if (!sigsetjmp(g.escape, 1)) {
        setitimer(ITIMER_REAL, &timer, NULL);
        uint32_t blocks = r->grid[0] * r->grid[1] * r->grid[2]; // the caller has seen that it fits
        for (g.block = 0; g.block < blocks; g.block++) {
            uint32_t *s = r->grid;
            g.block_index = (uint3){g.block % s[0], g.block / s[0] % s[1], g.block / (s[0] * s[1])};
            run_block(stacks);
        }
    }
    setitimer(ITIMER_REAL, &off, NULL);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &before[i], NULL);
    sigaltstack(&old_stack, NULL);
    munmap(stacks, stack_total);
    free(g.fibres);
    return r->status;
}
