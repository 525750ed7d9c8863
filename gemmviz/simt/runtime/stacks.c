// The memory of the stacks of all fibres: with guard pages, or in huge pages.
#define _GNU_SOURCE
#include "stacks.h"
#include "pages.h"
#include <stddef.h>
#include <sys/mman.h>

enum { GUARDED_BYTES = 64 << 10, PAGE_BYTES = 4096 };
enum { GUARD_INSTALL = 102 /* MADV_GUARD_INSTALL, which older headers do not have */ };

// The stacks of a run that only counted: often the recorded run with the same threads comes next.
static struct {
    char *at;
    uint64_t bytes, each;
} kept_stacks;

int gv_has_guards(uint64_t each) { return each >= GUARDED_BYTES; }

// So many addresses before and after the stacks have no memory: an index far outside of a local array is a fault, and
// changes nothing else. An index of 32 bits goes so far in an array of floats. 0 if the process has too few addresses.
static uint64_t apart = (uint64_t)8 << 30;

// New memory that begins at a multiple of GV_HUGE, with these addresses around it; NULL without memory.
static char *mapped(uint64_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *whole = mmap(NULL, bytes + 2 * apart + GV_HUGE, PROT_NONE, flags, -1, 0);
    if (whole == MAP_FAILED && apart) {
        apart = 0;
        whole = mmap(NULL, bytes + GV_HUGE, PROT_NONE, flags, -1, 0);
    }
    if (whole == MAP_FAILED) return NULL;
    uint64_t before = -(uintptr_t)whole % GV_HUGE;
    if (before) munmap(whole, before);
    whole += before;
    munmap(whole + bytes + 2 * apart, GV_HUGE - before);
    return mprotect(whole + apart, bytes, PROT_READ | PROT_WRITE) ? NULL : whole + apart;
}

static void unmap(char *at, uint64_t bytes) { munmap(at - apart, bytes + 2 * apart); }

char *gv_new_stacks(uint64_t bytes, uint64_t each)
{
    if (kept_stacks.bytes == bytes && kept_stacks.each == each) {
        kept_stacks.bytes = 0;
        return kept_stacks.at;
    }
    if (kept_stacks.bytes) unmap(kept_stacks.at, kept_stacks.bytes);
    kept_stacks.bytes = 0;
    char *at = mapped(bytes);
    if (!gv_has_guards(each)) {
        if (at) madvise(at, bytes / GV_HUGE * GV_HUGE, MADV_HUGEPAGE);
        return at;
    }
    // The lowest page of every stack is a guard page, so that an overflow is a fault and changes no other stack. Since
    // Linux 6.13 a mapping may have guard pages; before, each one divides it, and to make and remove them takes longer.
    for (uint64_t stack = 0; at && stack < bytes; stack += each)
        if (madvise(at + stack, PAGE_BYTES, GUARD_INSTALL))
            mprotect(at + stack, PAGE_BYTES, PROT_NONE);
    return at;
}

uint64_t gv_stacks_apart(void) { return apart; }

void gv_end_stacks(char *at, uint64_t bytes, uint64_t each, int keep)
{
    if (!keep) {
        unmap(at, bytes);
        return;
    }
    kept_stacks.at = at;
    kept_stacks.bytes = bytes;
    kept_stacks.each = each;
}
