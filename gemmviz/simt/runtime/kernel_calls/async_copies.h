// The interface between the headers for kernels and async_copies.c: copies to shared memory that are in flight while
// the thread continues. Plain C.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
// Reads `source_bytes` now; `bytes` (the rest of them zeros) are written when the thread waits for the copy's group.
void gv_copy_async(void *shared, const void *global, uint32_t bytes, uint32_t source_bytes);
// Whether an address is in shared memory; whether it is neither there nor a thread's own.
int gv_is_shared(const void *at);
int gv_is_global(const void *at);
// Ends a group: the copies since the last call.
void gv_copy_commit(void);
// Waits until at most `left` of the latest groups are in flight.
void gv_copy_wait(uint32_t left);
// Waits for all copies, also for copies that are in no group yet.
void gv_copy_wait_all(void);
#ifdef __cplusplus
}
#endif
