// The place where a fibre continues, and the switch from one fibre to another one.
#pragma once
#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
typedef struct {
    void *stack;
} gv_context;
#else
#include <setjmp.h>
typedef struct {
    jmp_buf here;
    void (*body)(void); // of a fibre that has not run; NULL afterwards
    char *stack;
    size_t bytes;
} gv_context;
#endif

// Prepares a fibre: the first switch to it calls `body`, which never returns, on a stack of `bytes` bytes.
void gv_context_begin(gv_context *c, char *stack, size_t bytes, void (*body)(void));

// Calls a function on a stack that no fibre has: what threads do together needs more memory than all that each of them
// does alone. It must not switch to a fibre.
void gv_call_apart(void (*function)(void **, uint32_t), void **first, uint32_t second);

// Keeps the place of the running fibre in `from`, and continues at `to`.
void gv_context_switch(gv_context *from, gv_context *to);

// A fibre will probably continue soon: asks for its stack, which is seldom in the nearest cache.
static inline void gv_context_expect(const gv_context *c)
{
#if defined(__x86_64__)
    for (int i = 0; i < 8; i++) __builtin_prefetch((const char *)c->stack + 64 * i);
#else
    (void)c;
#endif
}

// The same; it will call a function there, whose frame lies below.
static inline void gv_context_expect_call(const gv_context *c)
{
#if defined(__x86_64__)
    for (int i = 1; i <= 32; i++) __builtin_prefetch((const char *)c->stack - 64 * i, 1);
#else
    (void)c;
#endif
}
