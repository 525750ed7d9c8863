// Tells a full stack from any other access to memory that is not there: both are the same signal. It is linked to a C
// kernel that is measured, and called before it in the thread that calls the kernel; while nothing goes wrong it costs
// nothing. A full stack ends the process by SIGSTKFLT, which Linux itself never sends.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL_STACK_BYTES = 64 * 1024, BELOW_BYTES = 4096 };
static uintptr_t stack_top;

static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
#if defined(__x86_64__)
    uintptr_t pointer = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#else
    uintptr_t pointer = (uintptr_t)((ucontext_t *)context)->uc_mcontext.sp;
#endif
    // All memory from the stack pointer up belongs to functions that are running: only a stack that cannot grow any
    // more lacks some of it. A call writes just below the pointer.
    int full = info->si_code > 0 && address + BELOW_BYTES >= pointer && address < stack_top;
    int last = full ? SIGSTKFLT : number;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, last);
    signal(last, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    // From here on as without this handler: the same signal ends the process.
    raise(last);
}

void gemmviz_guard_stack(void)
{
    static char signal_stack[SIGNAL_STACK_BYTES];
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int here;

    stack_top = (uintptr_t)&here;
    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
#else
void gemmviz_guard_stack(void) {}
#endif
