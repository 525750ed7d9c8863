// <cuda/ptx> for the recorder: the functions of cuda::ptx that the recorder knows as inline PTX. Meanings as in the
// CUDA C++ Core Libraries, "PTX", and the PTX ISA. A function that is not here does not compile, and is named.
#pragma once
#include "barrier.h"

namespace cuda {
namespace ptx {

struct sem_acq_rel_t {};
struct sem_acquire_t {};
struct sem_relaxed_t {};
struct sem_release_t {};
struct scope_cta_t {};
struct scope_cluster_t {};
struct scope_gpu_t {};
struct scope_sys_t {};
struct space_global_t {};
struct space_shared_t {};
struct space_cluster_t {};
struct op_add_t {};
template <int Number> struct n32_t {
    constexpr operator int() const { return Number; }
};
static constexpr sem_acq_rel_t sem_acq_rel{};
static constexpr sem_acquire_t sem_acquire{};
static constexpr sem_relaxed_t sem_relaxed{};
static constexpr sem_release_t sem_release{};
static constexpr scope_cta_t scope_cta{};
static constexpr scope_cluster_t scope_cluster{};
static constexpr scope_gpu_t scope_gpu{};
static constexpr scope_sys_t scope_sys{};
static constexpr space_global_t space_global{};
static constexpr space_shared_t space_shared{};
static constexpr space_cluster_t space_cluster{};
static constexpr op_add_t op_add{};

// ==== mbarriers. The state of an arrival is the phase that was under way.

GV_DEVICE void mbarrier_init(uint64_t *b, const uint32_t &count) { gv_mbarrier_init(b, count); }
GV_DEVICE uint64_t gv_arrive(const uint64_t *b, uint32_t count)
{
    uint64_t state = gv_mbarrier_phase((void *)b);
    for (uint32_t i = 0; i < count; i++) gv_mbarrier_arrive((void *)b, 0, 0);
    return state;
}
GV_DEVICE uint64_t mbarrier_arrive(const uint64_t *b) { return gv_arrive(b, 1); }
GV_DEVICE uint64_t mbarrier_arrive(const uint64_t *b, const uint32_t &count) { return gv_arrive(b, count); }
template <class Scope> GV_DEVICE uint64_t mbarrier_arrive(sem_release_t, Scope, space_shared_t, uint64_t *b)
{
    return gv_arrive(b, 1);
}
template <class Scope>
GV_DEVICE uint64_t mbarrier_arrive(sem_release_t, Scope, space_shared_t, uint64_t *b, const uint32_t &count)
{
    return gv_arrive(b, count);
}
// `b` comes from mapa: it may be in another block of the cluster.
template <class Scope>
GV_DEVICE void mbarrier_arrive(sem_release_t, Scope, space_cluster_t, uint64_t *b, const uint32_t &count = 1)
{
    gv_ptx::arrive((gv_ptx::word)b, count);
}
template <class Scope>
GV_DEVICE uint64_t mbarrier_arrive_expect_tx(sem_release_t, Scope, space_shared_t, uint64_t *b, const uint32_t &bytes)
{
    uint64_t state = gv_mbarrier_phase(b);
    gv_mbarrier_arrive(b, bytes, 1);
    return state;
}
template <class Scope, class Space>
GV_DEVICE void mbarrier_expect_tx(sem_relaxed_t, Scope, Space, uint64_t *b, const uint32_t &bytes)
{
    gv_mbarrier_expect(b, bytes);
}
// A wait that may give up: here it ends with the phase.
GV_DEVICE bool gv_wait(uint64_t *b, uint64_t phase)
{
    gv_mbarrier_wait(b, (uint32_t)phase);
    return true;
}
#define GV_WAIT(name, state_type) \
    GV_DEVICE bool name(uint64_t *b, const state_type &state) { return gv_wait(b, state); } \
    template <class Scope> GV_DEVICE bool name(sem_acquire_t, Scope, uint64_t *b, const state_type &state) \
    { \
        return gv_wait(b, state); \
    }
#define GV_TRY_WAIT(name, state_type) \
    GV_WAIT(name, state_type) \
    GV_DEVICE bool name(uint64_t *b, const state_type &state, const uint32_t &) { return gv_wait(b, state); } \
    template <class Scope> \
    GV_DEVICE bool name(sem_acquire_t, Scope, uint64_t *b, const state_type &state, const uint32_t &) \
    { \
        return gv_wait(b, state); \
    }
GV_WAIT(mbarrier_test_wait, uint64_t)
GV_WAIT(mbarrier_test_wait_parity, uint32_t)
GV_TRY_WAIT(mbarrier_try_wait, uint64_t)
GV_TRY_WAIT(mbarrier_try_wait_parity, uint32_t)
#undef GV_WAIT
#undef GV_TRY_WAIT
GV_DEVICE void cp_async_mbarrier_arrive(uint64_t *b) { gv_mbarrier_await_copied(b); }
GV_DEVICE void cp_async_mbarrier_arrive_noinc(uint64_t *b) { gv_mbarrier_arrive_copied(b); }

// ==== The copy engine (TMA): boxes of tensor maps.

template <class Space, int Rank> GV_DEVICE void cp_async_bulk_tensor(
    Space, space_global_t, void *to, const void *map, const int32_t (&at)[Rank], uint64_t *b)
{
    static_assert(Rank == 2 || Rank == 3, "boxes of two or three coordinates are recorded");
    gv_ptx::box_load(to, map, at[0], at[1], Rank > 2 ? at[Rank - 1] : 0, Rank > 2, b, 0);
}
template <int Rank> GV_DEVICE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *to, const void *map,
    const int32_t (&at)[Rank], uint64_t *b, const uint16_t &blocks)
{
    static_assert(Rank == 2 || Rank == 3, "boxes of two or three coordinates are recorded");
    gv_ptx::box_load(to, map, at[0], at[1], Rank > 2 ? at[Rank - 1] : 0, Rank > 2, b, blocks);
}
template <int Rank> GV_DEVICE void cp_async_bulk_tensor(
    space_global_t, space_shared_t, const void *map, const int32_t (&at)[Rank], const void *from)
{
    static_assert(Rank == 2 || Rank == 3, "boxes of two or three coordinates are recorded");
    gv_ptx::box_store(map, at[0], at[1], Rank > 2 ? at[Rank - 1] : 0, Rank > 2, from);
}
template <int Rank> GV_DEVICE void cp_reduce_async_bulk_tensor(
    space_global_t, space_shared_t, op_add_t, const void *map, const int32_t (&at)[Rank], const void *from)
{
    static_assert(Rank == 2 || Rank == 3, "boxes of two or three coordinates are recorded");
    gv_ptx::box_add(map, at[0], at[1], Rank > 2 ? at[Rank - 1] : 0, Rank > 2, from);
}
// Adjacent bytes, without a map. In a cluster `to` and `b` may come from mapa.
template <class Space>
GV_DEVICE void cp_async_bulk(Space, space_global_t, void *to, const void *from, const uint32_t &bytes, uint64_t *b)
{
    gv_ptx::bulk_load((gv_ptx::word)to, from, bytes, (gv_ptx::word)b, 0);
}
GV_DEVICE void cp_async_bulk(space_cluster_t, space_global_t, void *to, const void *from, const uint32_t &bytes,
    uint64_t *b, const uint16_t &blocks)
{
    gv_ptx::bulk_load((gv_ptx::word)to, from, bytes, (gv_ptx::word)b, blocks);
}
GV_DEVICE void cp_async_bulk(
    space_cluster_t, space_shared_t, void *to, const void *from, const uint32_t &bytes, uint64_t *b)
{
    gv_ptx::bulk_load((gv_ptx::word)to, from, bytes, (gv_ptx::word)b, 0);
}
GV_DEVICE void cp_async_bulk(space_global_t, space_shared_t, void *to, const void *from, const uint32_t &bytes)
{
    gv_bulk_store(to, from, bytes);
}
GV_DEVICE void cp_async_bulk_commit_group() { gv_box_store_commit(); }
template <int Left> GV_DEVICE void cp_async_bulk_wait_group(n32_t<Left>) { gv_ptx::box_wait(Left); }
template <int Left> GV_DEVICE void cp_async_bulk_wait_group_read(n32_t<Left>) { gv_box_store_wait(Left); }

// ==== Fences and clusters. A thread that uses an mbarrier before it is ready is found without the fence.

GV_DEVICE void fence_mbarrier_init(sem_release_t, scope_cluster_t) {}
GV_DEVICE void fence_proxy_async()
{
    gv_shared_written();
    gv_global_read();
}
GV_DEVICE void fence_proxy_async(space_shared_t) { gv_shared_written(); }
GV_DEVICE void fence_proxy_async(space_cluster_t) { gv_shared_written(); }
GV_DEVICE void fence_proxy_async(space_global_t) { gv_global_read(); }
template <class Sem> GV_DEVICE void fence(Sem, scope_cta_t) {}
template <class Sem> GV_DEVICE void fence(Sem, scope_cluster_t) {}
template <class Sem, class Scope> GV_DEVICE void fence(Sem, Scope) { gv_thread_fence(); }
GV_DEVICE void barrier_cluster_arrive() {}
GV_DEVICE void barrier_cluster_arrive(sem_release_t) {}
GV_DEVICE void barrier_cluster_arrive(sem_relaxed_t) {}
GV_DEVICE void barrier_cluster_wait() { gv_cluster_barrier(); }
GV_DEVICE void barrier_cluster_wait(sem_acquire_t) { gv_cluster_barrier(); }

GV_DEVICE uint32_t get_sreg_laneid() { return gv_lane(); }
GV_DEVICE uint32_t get_sreg_cluster_ctarank() { return gv_cluster_rank(); }
GV_DEVICE uint32_t get_sreg_cluster_nctarank() { return gv_cluster_blocks(); }
#define GV_PLACE(name, of) \
    GV_DEVICE uint32_t get_sreg_##name##_x() { return of.x; } \
    GV_DEVICE uint32_t get_sreg_##name##_y() { return of.y; } \
    GV_DEVICE uint32_t get_sreg_##name##_z() { return of.z; }
GV_PLACE(tid, gv_thread_index())
GV_PLACE(ntid, gv_block_shape())
GV_PLACE(ctaid, gv_block())
GV_PLACE(nctaid, gv_grid())
#undef GV_PLACE

} // namespace ptx
} // namespace cuda
