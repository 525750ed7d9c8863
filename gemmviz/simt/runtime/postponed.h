// Instructions of a whole warp that are postponed. A lane at such an instruction would wait until the last lane of its
// warp arrives, and each wait is a switch of fibres. Instead its instruction is kept, and the lane goes on until it
// needs a result, or does what another lane may notice: then it catches up. It waits once, and the last lane does
// all kept instructions in their order.
//
// The recording must be the same as without this. Where that is not sure, and where a run ends with a fault, the run
// ends with GV_AGAIN: Python then runs the kernel once more, with each instruction at once.
// A recorder that GCC compiled does each at once always: it does not notice how GCC copies arguments passed by value.
#pragma once
#include "fibres.h"

enum { GV_POSTPONED_BYTES = 128 /* the most bytes of an instruction's arguments */ };

// Postpones an instruction of all 32 lanes that changes `bytes` bytes of the running lane's registers at `to`. Returns
// memory for the lane's arguments, which `work` gets. Not for runs in which each instruction is done at once.
void *gv_postpone(gv_warp_work *work, const void *to, uint32_t bytes, uintptr_t pc);

// Returns where a postponed instruction finds an operand in registers: at the same place if a postponed instruction
// changes it, else in `room`, where it is copied, as the lane may use these registers for other values.
const void *gv_kept_operand(const void *at, uint32_t bytes, void *room);

// Records an access that the running lane may make before it catches up: no postponed instruction changes its value.
static inline void gv_access_ahead(void *address, uint32_t bytes, int how, uintptr_t pc)
{
    void (*catch_up)(uintptr_t, uint32_t) = gv_now.catch_up;
    gv_now.catch_up = NULL;
    gv_now.looks_ahead = catch_up != NULL;
    gv_access(address, bytes, how, pc);
    gv_now.looks_ahead = 0;
    gv_now.catch_up = catch_up;
}

// Forgets all of them, before a run and after it.
void gv_postponed_begin(void);
