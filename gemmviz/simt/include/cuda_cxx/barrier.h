// <cuda/barrier> for the recorder: barriers of a block, which are mbarriers, and copies that they wait for. Meanings as
// in the CUDA C++ Core Libraries, "cuda::barrier", and the CUDA C++ Programming Guide, "Asynchronous Barrier" and
// "Asynchronous Data Copies using the Tensor Memory Accelerator (TMA)".
#pragma once
#include "../../prelude/inline_ptx.h"
#include "copies.h"
#include "std.h"
#include <stddef.h>
#include <utility>

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

// The completion function is not known: it would run when a phase ends.
struct gv_nothing_to_do {};

template <thread_scope Scope, class Completion = gv_nothing_to_do> struct barrier {
    static_assert(Scope != thread_scope_thread, "a barrier of one thread cannot be recorded");
    static_assert(sizeof(Completion) == 1 && __is_same(Completion, gv_nothing_to_do),
        "a barrier's completion cannot be recorded");
    unsigned long long gv_state;

    // A phase of the barrier: the one that was under way when the thread arrived.
    struct arrival_token {
        unsigned gv_parity;
    };
    barrier() = default;
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;
    GV_METHOD arrival_token arrive(ptrdiff_t count = 1)
    {
        arrival_token token = {gv_mbarrier_phase(this)};
        for (ptrdiff_t i = 0; i < count; i++) gv_mbarrier_arrive(this, 0, 0);
        return token;
    }
    GV_METHOD void wait(const arrival_token &token) const { gv_mbarrier_wait((void *)this, token.gv_parity); }
    GV_METHOD void wait_parity(bool parity) const { gv_mbarrier_wait((void *)this, parity); }
    GV_METHOD void arrive_and_wait() { wait(arrive()); }
    // A wait that may give up: here it ends with the phase.
    GV_METHOD bool try_wait(const arrival_token &token) const
    {
        wait(token);
        return true;
    }
    GV_METHOD bool try_wait_parity(bool parity) const
    {
        wait_parity(parity);
        return true;
    }
};

template <thread_scope Scope, class Completion> GV_DEVICE void init(barrier<Scope, Completion> *b, ptrdiff_t expected)
{
    gv_mbarrier_init(b, (unsigned)expected);
}

// The phase under way ends after the copies only.
template <class Group, class T, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(const Group &group, T *to, const T *from, Shape bytes, barrier<Scope> &b)
{
    constexpr size_t width = gv_width(gv_aligned<T>::of_type, gv_alignment<Shape>::of_size);
    gv_copy_pieces<width>(group, (char *)to, (const char *)from, bytes);
    gv_mbarrier_await_copied(&b);
}
template <class Group, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(const Group &group, void *to, const void *from, Shape bytes, barrier<Scope> &b)
{
    constexpr size_t width = gv_width(1, gv_alignment<Shape>::of_size);
    gv_copy_pieces<width>(group, (char *)to, (const char *)from, bytes);
    gv_mbarrier_await_copied(&b);
}
template <class T, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(T *to, const T *from, Shape bytes, barrier<Scope> &b)
{
    memcpy_async(gv_one_thread(), to, from, bytes, b);
}
template <class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(void *to, const void *from, Shape bytes, barrier<Scope> &b)
{
    memcpy_async(gv_one_thread(), to, from, bytes, b);
}

namespace device {

template <thread_scope Scope> GV_DEVICE unsigned long long *barrier_native_handle(barrier<Scope> &b)
{
    return &b.gv_state;
}
template <thread_scope Scope> GV_DEVICE void barrier_expect_tx(barrier<Scope> &b, ptrdiff_t bytes)
{
    gv_mbarrier_expect(&b, (unsigned)bytes);
}
template <thread_scope Scope>
GV_DEVICE typename barrier<Scope>::arrival_token barrier_arrive_tx(barrier<Scope> &b, ptrdiff_t count, ptrdiff_t bytes)
{
    typename barrier<Scope>::arrival_token token = {gv_mbarrier_phase(&b)};
    gv_mbarrier_arrive(&b, (unsigned)bytes, 1);
    for (ptrdiff_t i = 1; i < count; i++) gv_mbarrier_arrive(&b, 0, 0);
    return token;
}

// Bytes that the copy engine moves; the caller announces them.
template <class T, size_t Alignment, thread_scope Scope>
GV_DEVICE void memcpy_async_tx(T *to, const T *from, aligned_size_t<Alignment> bytes, barrier<Scope> &b)
{
    static_assert(Alignment >= 16, "memcpy_async_tx needs an alignment of 16 bytes");
    gv_bulk_load(to, from, (unsigned)(size_t)bytes, &b, 0);
}

namespace experimental {

template <thread_scope Scope>
GV_DEVICE void cp_async_bulk_global_to_shared(void *to, const void *from, unsigned bytes, barrier<Scope> &b)
{
    gv_bulk_load(to, from, bytes, &b, 0);
}
GV_DEVICE void cp_async_bulk_shared_to_global(void *to, const void *from, unsigned bytes)
{
    gv_bulk_store(to, from, bytes);
}
GV_DEVICE void fence_proxy_async_shared_cta() { gv_shared_written(); }
GV_DEVICE void cp_async_bulk_commit_group() { gv_box_store_commit(); }
template <int Left> GV_DEVICE void cp_async_bulk_wait_group() { gv_ptx::box_wait(Left); }
template <int Left> GV_DEVICE void cp_async_bulk_wait_group_read() { gv_box_store_wait(Left); }
template <thread_scope Scope> GV_DEVICE void cp_async_bulk_tensor_2d_global_to_shared(
    void *to, const CUtensorMap *map, int column, int row, barrier<Scope> &b)
{
    gv_ptx::box_load(to, map, column, row, 0, false, &b, 0);
}
template <thread_scope Scope> GV_DEVICE void cp_async_bulk_tensor_3d_global_to_shared(
    void *to, const CUtensorMap *map, int c0, int c1, int c2, barrier<Scope> &b)
{
    gv_ptx::box_load(to, map, c0, c1, c2, true, &b, 0);
}
GV_DEVICE void cp_async_bulk_tensor_2d_shared_to_global(const CUtensorMap *map, int column, int row, const void *from)
{
    gv_ptx::box_store(map, column, row, 0, false, from);
}
GV_DEVICE void cp_async_bulk_tensor_3d_shared_to_global(
    const CUtensorMap *map, int c0, int c1, int c2, const void *from)
{
    gv_ptx::box_store(map, c0, c1, c2, true, from);
}

} // namespace experimental
} // namespace device
} // namespace cuda
