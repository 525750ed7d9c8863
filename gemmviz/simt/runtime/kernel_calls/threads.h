// The interface between prelude/cuda.h, the headers for kernels and the runtime: indices, barriers, warps, atomic
// operations. It includes nothing, because a kernel must not see further names through it.
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

// They are constant while a thread runs. With the attribute `const` the compiler calls them once.
#ifdef __cplusplus
#define GV_UNCHANGING noexcept __attribute__((const))
#else
#define GV_UNCHANGING
#endif
uint3 gv_thread_index(void) GV_UNCHANGING;
uint3 gv_block_index(void) GV_UNCHANGING;
uint3 gv_block_shape(void) GV_UNCHANGING;
uint3 gv_grid_shape(void) GV_UNCHANGING;

// __syncthreads. Two barriers in the source must not be merged, because the recording has the barrier of each wait.
#if defined(__cplusplus) && defined(__clang__)
void gv_barrier(void) GV_NOEXCEPT __attribute__((nomerge, convergent));
#else
void gv_barrier(void) GV_NOEXCEPT;
#endif

// The same, or a named barrier (with threads other than 0): returns the number of its threads that said yes.
#if defined(__cplusplus) && defined(__clang__)
unsigned gv_barrier_votes(int number, int threads, int yes) GV_NOEXCEPT __attribute__((nomerge, convergent));
#else
unsigned gv_barrier_votes(int number, int threads, int yes) GV_NOEXCEPT;
#endif

// The running thread's number in its warp.
unsigned gv_lane(void) GV_NOEXCEPT;
void gv_sync_warp(unsigned mask);
// Waits for the lanes of the mask. The last lane calls `work` for all of them, with the value of each. An exchange
// passes values between lanes, a vote does not.
void gv_warp_exchange(unsigned mask, void *mine, void (*work)(void **posted, unsigned mask));
void gv_warp_vote(unsigned mask, void *mine, void (*work)(void **posted, unsigned mask));

void gv_atomic(void *address, unsigned bytes); // records the read and the write
void gv_thread_fence(void) GV_NOEXCEPT;
void gv_assertion(void) __attribute__((noreturn));
void gv_trap(void) __attribute__((noreturn));
// The running thread leaves the kernel, from any function.
void gv_leave(void) __attribute__((noreturn));
// Ends the run: the thread has reached inline PTX that the recorder does not know.
void gv_unknown_ptx(const char *instruction) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
