// Fibres switch at every wait. Unlike swapcontext, neither way makes a system call.
#define _GNU_SOURCE
#include "contexts.h"
#include <stdint.h>
#if defined(__x86_64__)

enum { KEPT = 6 /* registers */ };

// Pushes the registers that a function has to keep, changes the stack, and pops them. setjmp and longjmp take several
// times as long, as they also encrypt addresses and look for handlers of the C library.
__attribute__((naked, noinline)) void gv_context_switch(gv_context *from, gv_context *to)
{
    __asm__("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
            "movq %rsp, (%rdi)\n\tmovq (%rsi), %rsp\n\t"
            "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tretq");
}

// Calls a function on a stack that ends at `end`.
__attribute__((naked, noinline)) static void call_on(
    char *end, void (*function)(void **, uint32_t), void **first, uint32_t second)
{
    __asm__("pushq %rbp\n\tmovq %rsp, %rbp\n\tmovq %rdi, %rsp\n\t"
            "movq %rsi, %rax\n\tmovq %rdx, %rdi\n\tmovl %ecx, %esi\n\tcallq *%rax\n\t"
            "movq %rbp, %rsp\n\tpopq %rbp\n\tretq");
}

void gv_call_apart(void (*function)(void **, uint32_t), void **first, uint32_t second)
{
    static char stack[64 << 10] __attribute__((aligned(64)));
    call_on(stack + sizeof stack, function, first, second);
}

void gv_context_begin(gv_context *c, char *stack, size_t bytes, void (*body)(void))
{
    // A function begins 8 bytes below a multiple of 16: behind its return address, which is 0 here.
    uintptr_t *top = (uintptr_t *)((uintptr_t)(stack + bytes) & ~(uintptr_t)15);
    *--top = 0;
    *--top = (uintptr_t)body;
    for (int i = 0; i < KEPT; i++) *--top = 0;
    c->stack = top;
}

#else
#include <ucontext.h>

void gv_call_apart(void (*function)(void **, uint32_t), void **first, uint32_t second) { function(first, second); }

void gv_context_begin(gv_context *c, char *stack, size_t bytes, void (*body)(void))
{
    c->body = body;
    c->stack = stack;
    c->bytes = bytes;
}

void gv_context_switch(gv_context *from, gv_context *to)
{
    static ucontext_t first;
    if (_setjmp(from->here)) return;
    if (!to->body) _longjmp(to->here, 1);
    getcontext(&first);
    first.uc_stack.ss_sp = to->stack;
    first.uc_stack.ss_size = to->bytes;
    first.uc_link = NULL;
    makecontext(&first, to->body, 0);
    to->body = NULL;
    setcontext(&first);
}
#endif
