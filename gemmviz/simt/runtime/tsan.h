// The names that a compiler calls with -fsanitize=thread. No other file calls them.
#pragma once
#include <stddef.h>

// Clang's unaligned accesses may have any address: a compiler for GPUs would split such an access.
#define GV_TSAN_ACCESSES(n) \
    void __tsan_read##n(void *p); \
    void __tsan_write##n(void *p); \
    void __tsan_volatile_read##n(void *p); \
    void __tsan_volatile_write##n(void *p); \
    void __tsan_unaligned_read##n(void *p); \
    void __tsan_unaligned_write##n(void *p); \
    void __tsan_unaligned_volatile_read##n(void *p); \
    void __tsan_unaligned_volatile_write##n(void *p);
GV_TSAN_ACCESSES(1)
GV_TSAN_ACCESSES(2)
GV_TSAN_ACCESSES(4)
GV_TSAN_ACCESSES(8)
GV_TSAN_ACCESSES(16)
#undef GV_TSAN_ACCESSES

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);

// Memory that is copied or set as a whole; the ranges are GCC's.
void __tsan_read_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memset(void *to, int byte, size_t n);
