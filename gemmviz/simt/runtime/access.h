// Records accesses to the watched arrays. Every file in a later layer may call this.
#pragma once
#include "rows.h"

// Forgets the accesses of the last run.
void gv_access_begin(void);

// Call it when owners of elements begin to be watched.
void gv_access_forget(void);

// Records one access of the running thread. `how`: GV_WRITE or not, and whether any address is allowed.
enum { GV_WRITE = 1, GV_ANY_ALIGNMENT = 2 };
void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc);

// The same; returns whether there is a row for it. There is none where the address is in no array.
static inline uint32_t gv_access_made_row(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    uint64_t before = gv_now.run->count;
    gv_access(address, bytes, how, pc);
    return gv_now.run->count != before;
}

// Records accesses of GV_PIECE_BYTES by one instruction, and writes `data` (NULL: reads), at once if that is simple: if
// all are in the array that the instruction accessed last. Otherwise does nothing and returns 0: call gv_access for
// each of them.
int gv_access_pieces(const uintptr_t *at, uint32_t count, const void *data, uintptr_t pc);

// Whether an instruction has accessed an array before. In a run that only counts it does not matter.
int gv_has_site(uintptr_t pc);

// Sets the kind of an instruction (gv_site_kind).
void gv_site_is(uintptr_t pc, int kind);

// Keeps the value of the last write. It is called where a thread stops running, as the value is then in memory.
void gv_settle(void);
