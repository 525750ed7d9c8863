// Asynchronous copies to shared memory, with the interface of CUDA's header. Rules: CUDA C++ Programming
// Guide, "Pipeline Primitives Interface".
#pragma once
#include "../runtime/kernel_calls/async_copies.h"

GV_DEVICE void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes, size_t zeros = 0)
{
    gv_copy_async(shared, global, (unsigned)bytes, (unsigned)(bytes - zeros));
}
GV_DEVICE void __pipeline_commit() { gv_copy_commit(); }
GV_DEVICE void __pipeline_wait_prior(size_t left) { gv_copy_wait((unsigned)left); }
