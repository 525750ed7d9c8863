// The count of each mbarrier, and its events; mbarriers.c has the instructions. Here an mbarrier is a number, which it
// gets when it is initialised.
#pragma once
#include "running.h"

// Removes the barriers of the last block; the blocks of the cluster have synchronised; all of their threads have left
// the kernel. For scheduler.c.
void gv_mbarriers_reset(void);
void gv_mbarriers_cluster_met(void);
void gv_mbarriers_left(void);

// Initialises a barrier at an address, for the first time or again.
void gv_mbarrier_make(void *at, uint32_t count, uintptr_t pc);

// Returns the barrier at an address of a block of the cluster. Ends the run if there is none, and reports a running
// thread that may be too early.
uint32_t gv_mbarrier_at(void *at, uint32_t rank, uintptr_t pc);

// The accesses of the running thread count in the barrier's phase.
void gv_mbarrier_used(uint32_t b, uintptr_t pc);

// The running thread arrives and announces bytes; this number of bytes has been copied. Both may end the phase.
void gv_mbarrier_count_arrival(uint32_t b, uint32_t bytes, int expects, uintptr_t pc);
void gv_mbarrier_count_bytes(uint32_t b, int64_t bytes, uintptr_t pc);

// Announces bytes without an arrival.
void gv_mbarrier_announce(uint32_t b, uint32_t bytes, uintptr_t pc);

// The present phase waits for one arrival more.
void gv_mbarrier_one_more(uint32_t b);

// One arrival more, or one less, waits for the cp.async of its thread.
void gv_mbarrier_late(uint32_t b, int32_t more);

// The running thread waits for a phase with this parity; the running thread has seen the end of a phase.
void gv_mbarrier_begin_wait(uint32_t b, uint32_t parity, uintptr_t pc);
void gv_mbarrier_end_wait(uint32_t b, uintptr_t pc);

int gv_mbarrier_open(uint32_t b, uint32_t parity); // whether a wait for this parity passes
int gv_mbarrier_lacks_copies(uint32_t b);          // only copies in flight are missing
int gv_mbarrier_full(uint32_t b);                  // its phase has all of its arrivals
uint32_t gv_mbarrier_parity(uint32_t b);           // of the current phase

// No thread can continue: reports the missing arrivals and bytes; ends the run for a thread that arrives too often.
void gv_mbarrier_stuck(uint32_t b, uint32_t parity, uintptr_t pc);
void gv_mbarrier_too_often(uint32_t b) __attribute__((noreturn));
