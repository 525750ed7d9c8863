// Ends a run early. A kernel is foreign code: it may crash, overflow its stack or never end. A signal handler leaves it
// by a jump and keeps the place where it was.
#define _GNU_SOURCE
#include "stop.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM, SIGPROF};
enum { CAUGHT = sizeof caught / sizeof *caught, SIGNAL_STACK_BYTES = 64 * 1024 };
// A process that gets less than this share of a processor sleeps: one that waits for a processor gets more.
static const double least_share = 1e-3;

static struct {
    double begun_s, work_begun_s; // by the clock, and by the clock of this process's work
    double worked_s;              // at the last look: processor time since the begin of the run
    sigjmp_buf escape;
    volatile sig_atomic_t inside; // gv_guarded: only then is there a place to escape to
    pthread_t owner;
    struct sigaction before[CAUGHT];
    stack_t stack_before;
} guard;

// Whether a run that ends so has to be run again without postponed instructions, which may have come before the fault.
// A fault may have another address where stacks have guard pages.
static int is_sure(int status)
{
    if (status == GV_SIGNAL || status == GV_STACK_OVERFLOW)
        return !gv_now.postpones && !gv_now.stack_low;
    return !gv_now.postpones || status == GV_FULL || status == GV_DEADLINE || status == GV_WAITS ||
           status == GV_ONE_PROCESS || status == GV_NO_MEMORY;
}

void gv_stop(int status)
{
    if (!is_sure(status)) status = GV_AGAIN;
    gv_now.run->status = status;
    gv_now.run->fault_block = gv_now.block;
    gv_now.run->fault_thread = gv_now.thread;
    siglongjmp(guard.escape, 1);
}

void gv_stop_misaligned(uintptr_t at, uint32_t bytes, int write)
{
    gv_now.run->fault_address = at;
    gv_now.run->fault_bytes = bytes;
    gv_now.run->fault_write = write != 0;
    gv_stop(GV_MISALIGNED);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double passed_s(void)
{
    return seconds(CLOCK_MONOTONIC) - guard.begun_s;
}

static double worked_s(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - guard.work_begun_s;
}

// Every `deadline_s` by the clock: ends a run that sleeps, and one that has taken too long altogether.
static void look(void)
{
    gv_run *r = gv_now.run;
    double before = guard.worked_s, passed = passed_s();
    guard.worked_s = worked_s();
    int sleeps = guard.worked_s - before < least_share * r->deadline_s;
    if (!sleeps && passed < r->clock_s) return;
    r->passed_s = passed;
    gv_stop(GV_WAITS);
}

static int of_timer(int signal) { return signal == SIGALRM || signal == SIGPROF; }

// Whether the access that a fault ended is a write.
static int writes(void *context)
{
#if defined(__x86_64__)
    return ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1; // the processor's code of a page fault
#elif defined(__aarch64__)
    // Records of a number, its size and its content; the content of this one is the processor's code of the fault.
    const uint8_t *at = ((ucontext_t *)context)->uc_mcontext.__reserved;
    for (const uint32_t *record = (const uint32_t *)at; record[0] && record[1]; record = (const uint32_t *)at) {
        if (record[0] == 0x45535201) return record[2] >> 6 & 1;
        at += record[1];
    }
    return 0;
#else
    (void)context;
    return 0;
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t pc = 0;
#if defined(__x86_64__)
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#endif
    if (!pthread_equal(pthread_self(), guard.owner)) { // the signal of a timer may reach any thread
        pthread_kill(guard.owner, signal);
        return;
    }
    if (!guard.inside) { // the kernel has ended: the time limit is no matter, and a fault is not the kernel's
        for (int i = 0; i < CAUGHT && !of_timer(signal); i++)
            if (caught[i] == signal) sigaction(signal, &guard.before[i], NULL);
        return;
    }
    gv_now.run->fault_pc = pc;
    if (signal == SIGPROF) gv_stop(GV_DEADLINE);
    if (signal == SIGALRM) {
        look();
        return;
    }
    gv_now.run->signal = signal;
    gv_now.run->fault_address = (uintptr_t)info->si_addr;
    // The operating system gives no address that no memory can have.
    gv_now.run->fault_bytes = (info->si_code != SI_KERNEL) << gv_near_stacks(gv_now.run->fault_address);
    gv_now.run->fault_write = writes(context);
    // A fault in the stacks can only be in a guard page.
    int overflow = (signal == SIGSEGV || signal == SIGBUS) && gv_on_stack(gv_now.run->fault_address);
    gv_stop(overflow ? GV_STACK_OVERFLOW : GV_SIGNAL);
}

void gv_guard_begin(void)
{
    static char signal_stack[SIGNAL_STACK_BYTES];
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};

    memset(&guard, 0, sizeof guard);
    guard.owner = pthread_self();
    guard.begun_s = seconds(CLOCK_MONOTONIC);
    guard.work_begun_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    sigaltstack(&stack, &guard.stack_before);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &guard.before[i]);
}

void gv_guard_end(void)
{
    gv_deadline_off();
    for (int i = 0; i < CAUGHT; i++) {
        if (of_timer(caught[i])) signal(caught[i], SIG_IGN); // forgets one that is still to be delivered
        sigaction(caught[i], &guard.before[i], NULL);
    }
    sigaltstack(&guard.stack_before, NULL);
}

int gv_guarded(void (*body)(void *), void *what)
{
    gv_now.run->status = GV_OK;
    if (!sigsetjmp(guard.escape, 1)) {
        guard.inside = 1;
        body(what);
    }
    guard.inside = 0;
    return gv_now.run->status;
}

static void set(int timer, double first_s, double again_s)
{
    if (first_s < 1e-6) first_s = 1e-6; // a timer of 0 would never fire
    struct itimerval value = {{(time_t)again_s, (suseconds_t)(1e6 * (again_s - (double)(time_t)again_s))},
                              {(time_t)first_s, (suseconds_t)(1e6 * (first_s - (double)(time_t)first_s))}};
    setitimer(timer, &value, NULL);
}

void gv_deadline(void)
{
    const gv_run *r = gv_now.run;
    guard.worked_s = worked_s();
    set(ITIMER_PROF, r->deadline_s - guard.worked_s, 0);
    set(ITIMER_REAL, r->deadline_s, r->deadline_s);
}

void gv_deadline_of_workers(double more_s)
{
    set(ITIMER_REAL, gv_now.run->clock_s + more_s - passed_s(), more_s);
}

void gv_before_workers(void)
{
    guard.worked_s = worked_s();
}

void gv_in_worker(void)
{
    guard.work_begun_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - guard.worked_s;
}

void gv_deadline_off(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &off, NULL);
    setitimer(ITIMER_PROF, &off, NULL);
}

int gv_unguarded(int (*what)(void))
{
    gv_deadline_off();
    guard.inside = 0;
    int result = what();
    guard.inside = 1;
    gv_deadline();
    return result;
}
