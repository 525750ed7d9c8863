// Cooperative groups for the recorder: the block, and tiles of a warp. All others need more than one block, or
// threads that happen to be together, and is refused by the compiler.
#pragma once

namespace cooperative_groups {

struct thread_block {
    GV_METHOD static void sync() { gv_barrier(); }
    GV_METHOD static dim3 group_index() { return blockIdx; }
    GV_METHOD static dim3 thread_index() { return threadIdx; }
    GV_METHOD static dim3 dim_threads() { return blockDim; }
    GV_METHOD static dim3 group_dim() { return blockDim; }
    GV_METHOD static unsigned thread_rank()
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    GV_METHOD static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    GV_METHOD static unsigned size() { return num_threads(); }
};
GV_DEVICE thread_block this_thread_block() { return {}; }

template <unsigned Size, class Parent = thread_block> struct thread_block_tile {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    GV_METHOD static unsigned mask() { return Size == 32 ? ~0u : ((1u << Size % 32) - 1) << (gv_lane() & -Size); }
    GV_METHOD static void sync() { gv_sync_warp(mask()); }
    GV_METHOD static unsigned thread_rank() { return gv_lane() % Size; }
    GV_METHOD static constexpr unsigned num_threads() { return Size; }
    GV_METHOD static constexpr unsigned size() { return Size; }
    GV_METHOD static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    GV_METHOD static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
    template <class T> GV_METHOD static T shfl(T v, int lane) { return __shfl_sync(mask(), v, lane, Size); }
    template <class T> GV_METHOD static T shfl_up(T v, unsigned by) { return __shfl_up_sync(mask(), v, by, Size); }
    template <class T> GV_METHOD static T shfl_down(T v, unsigned by) { return __shfl_down_sync(mask(), v, by, Size); }
    template <class T> GV_METHOD static T shfl_xor(T v, int lanes) { return __shfl_xor_sync(mask(), v, lanes, Size); }
    GV_METHOD static int any(int v) { return __any_sync(mask(), v); }
    GV_METHOD static int all(int v) { return __all_sync(mask(), v); }
    GV_METHOD static unsigned ballot(int v) { return __ballot_sync(mask(), v) >> (Size == 32 ? 0 : gv_lane() & -Size); }
};
template <unsigned Size, class Parent> GV_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return {};
}

template <class Group> GV_DEVICE void sync(const Group &) { Group::sync(); }

} // namespace cooperative_groups
