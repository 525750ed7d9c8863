// The functions that a compiler calls before each access of a kernel with -fsanitize=thread: __tsan_read4(address) and
// similar ones. They replace the runtime of the sanitizer.
#include "tsan.h"
#include "access.h"
#include "block_memory.h"
#include "kernel_calls/c_kernels.h"
#include "kernel_calls/threads.h"
#include "last_access.h"
#include "ownership.h"
#include "stop.h"
#include "sync_flags.h"
#include <string.h>

// A vector of the CPU, at any address; see gemmviz/simd.h.
void gv_vector_access(const void *at, uint32_t bytes, int write, uintptr_t pc)
{
    gv_access((void *)at, bytes, (write ? GV_WRITE : 0) | GV_ANY_ALIGNMENT, pc);
}

// Records the read and the write: fibres switch only at barriers, so the caller's arithmetic is atomic.
void gv_atomic(void *address, uint32_t bytes)
{
    uintptr_t pc = GV_PC;
    gv_global_needs_one_process((uintptr_t)address); // the order of the blocks decides the value
    gv_access(address, bytes, 0, pc);
    gv_access(address, bytes, GV_WRITE, pc);
    gv_site_is(pc, GV_SITE_ATOMIC);
    gv_flag_read((uintptr_t)address, pc);
    gv_flag_written((uintptr_t)address, bytes, pc);
}

static void volatile_access(void *p, uint32_t bytes, int how, uintptr_t pc)
{
    gv_access(p, bytes, how, pc);
    if (how & GV_WRITE) gv_flag_written((uintptr_t)p, bytes, pc);
    else gv_flag_read((uintptr_t)p, pc);
}

// Local variables are accessed more often than arrays: most of them need nothing but the first test. A thread catches
// up at one only if a postponed instruction of its warp changes it.
static inline __attribute__((always_inline)) void access(void *p, uint32_t bytes, int how, uintptr_t pc)
{
    uintptr_t at = (uintptr_t)p;
    if (gv_on_stack(at) && !(gv_now.catch_up && gv_changes(at, bytes))) {
        gv_now.run->last_pc = pc;
        return;
    }
    const gv_last_access *l = gv_last_of(pc);
    if (!gv_now.catch_up && !gv_pending.is && l->plain == GV_PLAIN && gv_as_last(l, at, bytes, how, pc)) {
        gv_now.run->last_pc = pc;
        gv_keep_as_last(l, at, bytes, how);
    } else {
        gv_access(p, bytes, how, pc);
    }
}

// Clang's unaligned accesses may have any address: a compiler for GPUs would split such an access.
#define CALLBACKS(n) \
    void __tsan_read##n(void *p) { access(p, n, 0, GV_PC); } \
    void __tsan_write##n(void *p) { access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_volatile_read##n(void *p) { volatile_access(p, n, 0, GV_PC); } \
    void __tsan_volatile_write##n(void *p) { volatile_access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_unaligned_volatile_read##n(void *p) { volatile_access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_volatile_write##n(void *p) { volatile_access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_read##n(void *p) { access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_write##n(void *p) { access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)

void __tsan_init(void) {}
// The arguments of a call may be copies of registers that a postponed instruction has yet to change; behind the end of
// a function its registers are no longer there.
void __tsan_func_entry(void *pc)
{
    (void)pc;
    if (gv_now.postponed || (uintptr_t)__builtin_frame_address(0) < gv_now.stack_low) gv_stop(GV_AGAIN);
}
void __tsan_func_exit(void) { gv_catch_up(); }

// memcpy, memset and structures that are copied as a whole: TSan calls these functions. An access is recorded per 4
// bytes, but 8 aligned bytes are a structure, which an optimising compiler copies at once.
static void range(const void *p, size_t n, int write, uintptr_t pc)
{
    if (gv_on_stack((uintptr_t)p)) { // registers, as a whole
        if (gv_now.catch_up) gv_now.catch_up((uintptr_t)p, (uint32_t)n);
        gv_now.run->last_pc = pc;
        return;
    }
    size_t each = n == 8 && (uintptr_t)p % 8 == 0 ? 8 : 4;
    for (size_t i = 0; i < n; i += each)
        gv_access((char *)p + i, (uint32_t)(n - i < each ? n - i : each), write | GV_ANY_ALIGNMENT, pc);
}
// GCC's names for memory that is copied or set as a whole.
void __tsan_read_range(void *p, size_t n) { range(p, n, 0, GV_PC); }
void __tsan_write_range(void *p, size_t n) { range(p, n, 1, GV_PC); }
// The thread is about to write: a postponed instruction that changes registers there comes before.
static void before_writing(void *to, size_t n)
{
    if (gv_now.catch_up && gv_on_stack((uintptr_t)to)) gv_now.catch_up((uintptr_t)to, (uint32_t)n);
}

void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    range(from, n, 0, GV_PC);
    before_writing(to, n);
    gv_bring(to, n);
    memcpy(to, from, n);
    range(to, n, 1, GV_PC);
    return to;
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    range(from, n, 0, GV_PC);
    before_writing(to, n);
    gv_bring(to, n);
    memmove(to, from, n);
    range(to, n, 1, GV_PC);
    return to;
}
void *__tsan_memset(void *to, int byte, size_t n)
{
    before_writing(to, n);
    gv_bring(to, n);
    memset(to, byte, n);
    range(to, n, 1, GV_PC);
    return to;
}
