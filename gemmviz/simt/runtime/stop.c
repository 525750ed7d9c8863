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

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught, SIGNAL_STACK_BYTES = 64 * 1024 };

static struct {
    struct timespec begun;
    sigjmp_buf escape;
    pthread_t owner;
    struct sigaction before[CAUGHT];
    stack_t stack_before;
} guard;

void gv_stop(int status)
{
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

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
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
    gv_now.run->signal = signal;
    gv_now.run->fault_pc = pc;
    gv_now.run->fault_address = (uintptr_t)info->si_addr;
    // A fault in the stacks can only be in a guard page.
    int overflow = (signal == SIGSEGV || signal == SIGBUS) && gv_on_stack(gv_now.run->fault_address);
    gv_stop(signal == SIGALRM ? GV_DEADLINE : overflow ? GV_STACK_OVERFLOW : GV_SIGNAL);
}

void gv_guard_begin(void)
{
    static char signal_stack[SIGNAL_STACK_BYTES];
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};

    memset(&guard, 0, sizeof guard);
    guard.owner = pthread_self();
    clock_gettime(CLOCK_MONOTONIC, &guard.begun);
    sigaltstack(&stack, &guard.stack_before);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &guard.before[i]);
}

void gv_guard_end(void)
{
    gv_deadline_off();
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &guard.before[i], NULL);
    sigaltstack(&guard.stack_before, NULL);
}

int gv_guarded(void (*body)(void *), void *what)
{
    gv_now.run->status = GV_OK;
    if (!sigsetjmp(guard.escape, 1)) body(what);
    return gv_now.run->status;
}

void gv_deadline(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - guard.begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - guard.begun.tv_nsec);
    double left = gv_now.run->deadline_s - passed;
    if (left < 1e-6) left = 1e-6; // a timer of 0 would never fire
    struct itimerval timer = {{0, 0}, {(time_t)left, (suseconds_t)(1e6 * (left - (double)(time_t)left))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void gv_deadline_off(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &off, NULL);
}
