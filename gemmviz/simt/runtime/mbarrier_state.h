// The count of each mbarrier, and its events; mbarriers.c has the instructions. An mbarrier is a number here,
// handed out when it is initialised.
#pragma once
#include "running.h"

// Forgets the barriers of the last block; the blocks of the cluster have met; all of their threads have left the
// kernel. For scheduler.c.
void gv_mbarriers_reset(void);
void gv_mbarriers_cluster_met(void);
void gv_mbarriers_left(void);

// Makes one at an address, or makes it anew.
void gv_mbarrier_make(void *at, uint32_t count, uintptr_t pc);

// The barrier at an address of a block of the cluster. Ends the run where there is none, and notices where the running
// thread may be too early.
uint32_t gv_mbarrier_at(void *at, uint32_t rank, uintptr_t pc);

// The running thread's accesses count in the barrier's phase.
void gv_mbarrier_used(uint32_t b, uintptr_t pc);

// The running thread arrives, and announces bytes; so many bytes have been copied. That may end the phase.
void gv_mbarrier_count_arrival(uint32_t b, uint32_t bytes, int expects, uintptr_t pc);
void gv_mbarrier_count_bytes(uint32_t b, int64_t bytes, uintptr_t pc);

// Bytes are announced, and nobody arrives.
void gv_mbarrier_announce(uint32_t b, uint32_t bytes);

// The phase under way waits for one arrival more.
void gv_mbarrier_one_more(uint32_t b);

// One more, or one less, arrival waits for its thread's cp.async.
void gv_mbarrier_late(uint32_t b, int32_t more);

// The running thread waits for a phase of that parity; it has seen the end of one.
void gv_mbarrier_begin_wait(uint32_t b, uint32_t parity, uintptr_t pc);
void gv_mbarrier_end_wait(uint32_t b, uintptr_t pc);

int gv_mbarrier_open(uint32_t b, uint32_t parity); // whether a wait for this parity passes
int gv_mbarrier_lacks_copies(uint32_t b);          // nothing but copies under way is missing
int gv_mbarrier_full(uint32_t b);                  // its phase has all of its arrivals
uint32_t gv_mbarrier_parity(uint32_t b);           // of the phase under way

// No thread can go on: notes the arrivals and bytes that are missing; ends the run, as a thread arrives once too often.
void gv_mbarrier_stuck(uint32_t b, uint32_t parity, uintptr_t pc);
void gv_mbarrier_too_often(uint32_t b) __attribute__((noreturn));
