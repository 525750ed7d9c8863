// Writes down every access to the watched arrays.
//
// The kernel is compiled with -fsanitize=thread, and the compiler calls __tsan_read4(address) and its like before each
// access. Instead of the sanitizer's runtime these calls arrive here.
#include "runtime.h"
#include <string.h>

static struct {
    int is; // the last row is a write whose value is not yet in memory
    uintptr_t address;
    uint64_t more;
} pending;
static uint16_t site_of[1 << 14]; // open-addressed: instruction address -> site + 1

void gv_begin(gv_run *run)
{
    memset(&gv_now, 0, sizeof gv_now);
    memset(&pending, 0, sizeof pending);
    memset(site_of, 0, sizeof site_of);
    gv_now.run = run;
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
    gv_run *r = gv_now.run;
    const gv_array *a = &r->array[r->which[row]];
    r->value[row] = value_at(at, a);
    for (uint32_t done = 2 * a->itemsize; done <= r->bytes[row]; done += a->itemsize)
        r->more[more++] = value_at(at + done - a->itemsize, a);
}

// The value of a write is in memory by the time its thread makes its next access, reaches a barrier or returns.
void gv_settle(void)
{
    if (!pending.is) return;
    pending.is = 0;
    keep_values(gv_now.run->count - 1, pending.address, pending.more);
}

static inline uint16_t site_at(uintptr_t pc)
{
    uint32_t mask = sizeof site_of / sizeof *site_of - 1, at = (uint32_t)(pc * 2654435761u) >> 8 & mask;
    for (;; at = (at + 1) & mask) {
        uint16_t site = site_of[at];
        if (site && gv_now.run->site_pc[site - 1] == pc) return site - 1;
        if (!site) break;
    }
    if (gv_now.run->sites == GV_MAX_SITES) gv_stop(GV_TOO_MANY_SITES);
    gv_now.run->site_pc[gv_now.run->sites++] = pc;
    site_of[at] = (uint16_t)gv_now.run->sites;
    return (uint16_t)(gv_now.run->sites - 1);
}

void gv_notice(int kind, int array, int64_t offset, uintptr_t pc, uint32_t other, uintptr_t other_pc, int write)
{
    gv_run *r = gv_now.run;
    for (uint32_t i = 0; i < r->notes; i++) {
        gv_note *n = &r->note[i];
        if (n->kind == kind && n->pc == pc && n->array == array) {
            n->times++;
            return;
        }
    }
    if (r->notes == GV_MAX_NOTES) return;
    r->note[r->notes++] = (gv_note){kind, array, offset, pc, other_pc, gv_now.block, gv_now.thread, other, (uint32_t)write, 1};
}

void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    int write = how & GV_WRITE;
    gv_run *r = gv_now.run;
    uintptr_t at = (uintptr_t)address;
    r->last_pc = pc;
    if (pending.is) gv_settle();
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (at - a->start >= a->bytes || at - a->start + bytes > a->bytes) {
            gv_notice(GV_NOTE_OUT_OF_BOUNDS, (int)i, (int64_t)at - (int64_t)a->start, pc, bytes, 0, write);
            return;
        }
        if (!(how & GV_ANY_ALIGNMENT) && at & (bytes - 1)) { // what is accessed at once is a power of two
            r->fault_address = at;
            gv_stop(GV_MISALIGNED);
        }
        uint32_t further = bytes > a->itemsize ? bytes / a->itemsize - 1 : 0;
        if (r->count == r->capacity || r->more_count + further > r->capacity) gv_stop(GV_FULL);
        uint64_t row = r->count++, more = r->more_count;
        r->more_count += further;
        r->site[row] = site_at(pc);
        r->which[row] = (uint8_t)i;
        r->write[row] = (uint8_t)write;
        r->bytes[row] = (uint8_t)bytes;
        r->element[row] = (uint32_t)((at - a->start) / a->itemsize);
        r->block_of[row] = gv_now.block;
        r->thread_of[row] = (uint16_t)gv_now.thread;
        r->phase_of[row] = (uint16_t)gv_now.phase;
        r->turn_of[row] = (uint16_t)gv_now.turn;
        if (write) {
            pending.is = 1;
            pending.address = at;
            pending.more = more;
        } else {
            keep_values(row, at, more);
        }
        return;
    }
}

// Reads and writes at once: fibres give way at barriers only, so that the caller's arithmetic is atomic by itself.
void gv_atomic(void *address, uint32_t bytes)
{
    uintptr_t pc = GV_PC;
    gv_access(address, bytes, 0, pc);
    gv_access(address, bytes, 1, pc);
    gv_now.run->site_atomic[site_at(pc)] = 1;
}

// What Clang calls unaligned may stand at any address: a GPU's compiler would have split it.
#define CALLBACKS(n) \
    void __tsan_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_write##n(void *p) { gv_access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_volatile_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_volatile_write##n(void *p) { gv_access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_unaligned_volatile_read##n(void *p) { gv_access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_volatile_write##n(void *p) { gv_access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_read##n(void *p) { gv_access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_write##n(void *p) { gv_access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); }
CALLBACKS(1) CALLBACKS(2) CALLBACKS(4) CALLBACKS(8) CALLBACKS(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

// memcpy, memset: Clang turns loops into them and TSan calls these names instead. Each byte range is one access per 4 bytes.
static void range(const void *p, size_t n, int write, uintptr_t pc)
{
    for (size_t i = 0; i < n; i += 4)
        gv_access((char *)p + i, n - i < 4 ? (uint32_t)(n - i) : 4, write | GV_ANY_ALIGNMENT, pc);
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
