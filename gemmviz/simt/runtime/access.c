// Writes down every access to the watched arrays.
//
// The kernel is compiled with -fsanitize=thread, and the compiler calls __tsan_read4(address) and its like before each
// access. Instead of the sanitizer's runtime these calls arrive here.
#include "recording.h"
#include <string.h>

static struct {
    int is; // the last row is a write whose value is not yet in memory
    uintptr_t address;
    uint64_t more;
} pending;
static uint16_t site_of[1 << 14]; // open-addressed: instruction address -> site + 1

// An array as it is looked at on every access.
enum { VALUE_1, VALUE_2, VALUE_4, VALUE_DOUBLE, VALUE_ODD };
typedef struct {
    uintptr_t start;
    uint64_t bytes;
    uint32_t itemsize, shift; // shift: of a power of two; else GV_NO_SHIFT
    uint8_t value, claimed;   // claimed: several processes run blocks, and the array is theirs together
} watched;
enum { GV_NO_SHIFT = 64, GV_NOWHERE = GV_MAX_ARRAYS };
static watched known[GV_MAX_ARRAYS];

// Where an instruction went the last time: mostly it goes to the same array again.
static struct {
    uintptr_t pc;
    uint16_t site;
    uint16_t array;
} recent[1 << 10];

void gv_watch(uint32_t i)
{
    const gv_array *a = &gv_now.run->array[i];
    uint32_t size = a->itemsize, shift = size & (size - 1) ? GV_NO_SHIFT : (uint32_t)__builtin_ctz(size);
    uint8_t value = a->doubles ? VALUE_DOUBLE : size >= 4 ? VALUE_4 : size == 2 ? VALUE_2 : size == 1 ? VALUE_1 : VALUE_ODD;
    known[i] = (watched){a->start, a->bytes, size, shift, value, 0};
}

void gv_begin(gv_run *run)
{
    gv_flags_begin();
    memset(&gv_now, 0, sizeof gv_now);
    memset(&pending, 0, sizeof pending);
    memset(site_of, 0, sizeof site_of);
    memset(recent, 0, sizeof recent);
    memset(known, 0, sizeof known);
    gv_now.run = run;
    gv_panels_begin();
    for (uint32_t i = 0; i < run->arrays; i++) gv_watch(i);
}

void gv_claim(int on)
{
    for (uint32_t i = 0; i < gv_now.run->arrays; i++) known[i].claimed = on && !gv_now.run->array[i].shared;
}

static inline uint32_t value_at(uintptr_t address, const watched *array)
{
    uint32_t bits = 0;
    uint16_t half;
    double wide;
    float narrow;
    switch (array->value) {
    case VALUE_4: memcpy(&bits, (void *)address, 4); return bits;
    case VALUE_2: memcpy(&half, (void *)address, 2); return half;
    case VALUE_1: return *(uint8_t *)address;
    case VALUE_DOUBLE:
        memcpy(&wide, (void *)address, sizeof wide);
        narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    default: memcpy(&bits, (void *)address, array->itemsize); return bits;
    }
}

// Keeps the values of an access: the first element's in its row, those of the others apart, as few accesses have any.
static inline void keep_values(uint64_t row, const watched *a, uintptr_t at, uint64_t more)
{
    gv_run *r = gv_now.run;
    r->value[row] = value_at(at, a);
    for (uint32_t done = 2 * a->itemsize; done <= r->bytes[row]; done += a->itemsize)
        r->more[more++] = value_at(at + done - a->itemsize, a);
}

// The value of a write is in memory by the time its thread makes its next access, reaches a barrier or returns.
void gv_settle(void)
{
    if (!pending.is) return;
    pending.is = 0;
    uint64_t row = gv_now.run->count - 1;
    keep_values(row, &known[gv_now.run->which[row]], pending.address, pending.more);
}

// Block, thread, phase and turn stay the same over many rows: they are written down for all of them at once.
void gv_mark(void)
{
    gv_run *r = gv_now.run;
    uint64_t from = gv_now.marked, end = r->count;
    gv_now.marked = end;
    if (from >= end || r->count_only) return;
    uint64_t turn = (uint64_t)gv_now.block << 32 | (uint64_t)gv_now.phase << 16 | gv_now.thread;
    if (turn < gv_now.last_turn) r->unordered = 1;
    gv_now.last_turn = turn;
    uint32_t block = gv_now.block;
    uint16_t thread = (uint16_t)gv_now.thread, phase = (uint16_t)gv_now.phase, passed = (uint16_t)gv_now.turn;
    for (uint64_t i = from; i < end; i++) r->block_of[i] = block;
    for (uint64_t i = from; i < end; i++) r->thread_of[i] = thread;
    for (uint64_t i = from; i < end; i++) r->phase_of[i] = phase;
    for (uint64_t i = from; i < end; i++) r->turn_of[i] = passed;
}

static uint16_t site_at(uintptr_t pc)
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

static inline int inside(const watched *a, uintptr_t at, uint32_t bytes)
{
    return at - a->start < a->bytes && at - a->start + bytes <= a->bytes;
}

// Returns the array that an access goes to; GV_NOWHERE where none is watched, or where it misses the one that it means.
static uint32_t array_at(uintptr_t at, uint32_t bytes, int write, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    if (gv_on_stack(at)) return GV_NOWHERE; // a local variable: as written there are many
    // First of all: the arrays of a structure stand side by side, each in the others' guard.
    for (uint32_t i = 0; i < r->arrays; i++)
        if (inside(&known[i], at, bytes)) return i;
    for (uint32_t i = 0; i < r->arrays; i++) {
        const gv_array *a = &r->array[i];
        if (at - (a->start - a->guard) >= a->bytes + 2 * a->guard) continue;
        if (write && !a->shared) gv_alone(); // another block may read what is written there
        gv_notice(GV_NOTE_OUT_OF_BOUNDS, (int)i, (int64_t)at - (int64_t)a->start, pc, bytes, 0, write);
        return GV_NOWHERE;
    }
    if (write) gv_hidden_write(at);
    return GV_NOWHERE;
}

static inline uint64_t element_at(const watched *a, uint64_t offset)
{
    return a->shift == GV_NO_SHIFT ? offset / a->itemsize : offset >> a->shift;
}

void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    int write = how & GV_WRITE;
    gv_run *r = gv_now.run;
    uintptr_t at = (uintptr_t)address;
    r->last_pc = pc;
    if (pending.is) gv_settle();
    uint32_t slot = (uint32_t)(pc ^ pc >> 10) & (sizeof recent / sizeof *recent - 1), i = recent[slot].array;
    if (!inside(&known[i], at, bytes)) {
        i = array_at(at, bytes, write, pc);
        if (i == GV_NOWHERE) return;
    }
    const watched *a = &known[i];
    if (!(how & GV_ANY_ALIGNMENT) && at & (bytes - 1)) { // what is accessed at once is a power of two
        r->fault_address = at;
        r->fault_bytes = bytes;
        r->fault_write = write != 0;
        gv_stop(GV_MISALIGNED);
    }
    uint64_t first = element_at(a, at - a->start);
    uint32_t further = bytes > a->itemsize ? (uint32_t)element_at(a, bytes) - 1 : 0;
    if (a->claimed) gv_claim_elements(i, first, element_at(a, at - a->start + bytes - 1), write);
    if (r->count == r->capacity || r->more_count + further > r->more_capacity) gv_stop(GV_FULL);
    uint64_t row = r->count++, more = r->more_count;
    r->more_count += further;
    if (r->count_only) return;
    if (recent[slot].pc != pc) {
        recent[slot].site = site_at(pc);
        recent[slot].pc = pc;
    }
    recent[slot].array = (uint16_t)i;
    r->site[row] = recent[slot].site;
    r->which[row] = (uint8_t)i;
    r->write[row] = (uint8_t)write;
    r->bytes[row] = (uint8_t)bytes;
    r->element[row] = (uint32_t)first;
    if (write) {
        pending.is = 1;
        pending.address = at;
        pending.more = more;
    } else {
        keep_values(row, a, at, more);
    }
}

// A vector of the CPU, which may stand at any address; see gemmviz/simd.h.
void gv_vector_access(const void *at, uint32_t bytes, int write, uintptr_t pc)
{
    gv_access((void *)at, bytes, (write ? GV_WRITE : 0) | GV_ANY_ALIGNMENT, pc);
}

void gv_site_atomic(uintptr_t pc)
{
    if (!gv_now.run->count_only) gv_now.run->site_atomic[site_at(pc)] = 1;
}

// Reads and writes at once: fibres give way at barriers only, so that the caller's arithmetic is atomic by itself.
void gv_atomic(void *address, uint32_t bytes)
{
    uintptr_t pc = GV_PC;
    gv_alone_if_global((uintptr_t)address); // the order of the blocks decides what it reads
    gv_access(address, bytes, 0, pc);
    gv_access(address, bytes, 1, pc);
    gv_site_atomic(pc);
    gv_flag_read((uintptr_t)address, pc);
    gv_flag_written((uintptr_t)address, bytes, pc);
}

static void volatile_access(void *p, uint32_t bytes, int how, uintptr_t pc)
{
    gv_access(p, bytes, how, pc);
    if (how & GV_WRITE) gv_flag_written((uintptr_t)p, bytes, pc);
    else gv_flag_read((uintptr_t)p, pc);
}

// What Clang calls unaligned may stand at any address: a GPU's compiler would have split it.
#define CALLBACKS(n) \
    void __tsan_read##n(void *p) { gv_access(p, n, 0, GV_PC); } \
    void __tsan_write##n(void *p) { gv_access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_volatile_read##n(void *p) { volatile_access(p, n, 0, GV_PC); } \
    void __tsan_volatile_write##n(void *p) { volatile_access(p, n, GV_WRITE, GV_PC); } \
    void __tsan_unaligned_volatile_read##n(void *p) { volatile_access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_volatile_write##n(void *p) { volatile_access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_read##n(void *p) { gv_access(p, n, GV_ANY_ALIGNMENT, GV_PC); } \
    void __tsan_unaligned_write##n(void *p) { gv_access(p, n, GV_WRITE | GV_ANY_ALIGNMENT, GV_PC); }
CALLBACKS(1) CALLBACKS(2) CALLBACKS(4) CALLBACKS(8) CALLBACKS(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

// memcpy, memset and what a compiler copies as a whole: TSan calls these names instead. One access per 4 bytes; but what
// has 8 and is aligned is a structure, which an optimising compiler copies at once.
static void range(const void *p, size_t n, int write, uintptr_t pc)
{
    size_t each = n == 8 && (uintptr_t)p % 8 == 0 ? 8 : 4;
    for (size_t i = 0; i < n; i += each)
        gv_access((char *)p + i, (uint32_t)(n - i < each ? n - i : each), write | GV_ANY_ALIGNMENT, pc);
}
// GCC's names for what is copied or set as a whole.
void __tsan_read_range(void *p, size_t n) { range(p, n, 0, GV_PC); }
void __tsan_write_range(void *p, size_t n) { range(p, n, 1, GV_PC); }
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
