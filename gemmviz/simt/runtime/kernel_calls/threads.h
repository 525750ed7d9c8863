// The interface of prelude/cuda.h, the headers that kernels include and the runtime: indices, barriers, warps, atomic
// operations. It includes nothing: a kernel must not get names by it that it has no right to.
#pragma once

struct uint3 {
    unsigned x, y, z;
};
#ifdef __cplusplus
#define GV_NOEXCEPT noexcept
extern "C" {
#else
#define GV_NOEXCEPT
typedef struct uint3 uint3;
#endif

// They never change while a thread runs, hence `const`: the compiler asks once.
#ifdef __cplusplus
#define GV_UNCHANGING noexcept __attribute__((const))
#else
#define GV_UNCHANGING
#endif
uint3 gv_thread_index(void) GV_UNCHANGING;
uint3 gv_block_index(void) GV_UNCHANGING;
uint3 gv_block_shape(void) GV_UNCHANGING;
uint3 gv_grid_shape(void) GV_UNCHANGING;

// __syncthreads. Two barriers in the source stay two: the one that a thread waits at is part of the recording.
#if defined(__cplusplus) && defined(__clang__)
void gv_barrier(void) GV_NOEXCEPT __attribute__((nomerge, convergent));
#else
void gv_barrier(void) GV_NOEXCEPT;
#endif

// The running thread's number in its warp.
unsigned gv_lane(void) GV_NOEXCEPT;
void gv_sync_warp(unsigned mask);
// Waits for the lanes of the mask; the last one calls `work` for all, with each one's value. An exchange hands values
// from lane to lane, a vote does not.
void gv_warp_exchange(unsigned mask, void *mine, void (*work)(void **posted, unsigned mask));
void gv_warp_vote(unsigned mask, void *mine, void (*work)(void **posted, unsigned mask));

void gv_atomic(void *address, unsigned bytes); // writes down the read and the write
void gv_thread_fence(void) GV_NOEXCEPT;
void gv_assertion(void) __attribute__((noreturn));
// Ends the run: the thread has come to inline PTX that the recorder does not know.
void gv_unknown_ptx(const char *instruction) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
