// Cooperative groups for the recorder: the block, tiles of a warp, and the place of a block in its grid. The compiler
// refuses all other groups: they need several blocks, or the threads that are active by chance.
#pragma once

#include "../runtime/kernel_calls/hopper.h"

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

// The grid, without its barrier: the blocks run one after another here.
struct grid_group {
    GV_METHOD static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    GV_METHOD static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    GV_METHOD static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    GV_METHOD static unsigned long long size() { return num_threads(); }
    GV_METHOD static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    GV_METHOD static dim3 block_index() { return blockIdx; }
    GV_METHOD static dim3 dim_blocks() { return gridDim; }
    GV_METHOD static dim3 group_dim() { return gridDim; }
};
GV_DEVICE grid_group this_grid() { return {}; }

template <unsigned Size, class Parent = thread_block> struct thread_block_tile {
    thread_block_tile() = default;
    template <class Other> GV_METHOD thread_block_tile(const thread_block_tile<Size, Other> &) {}
    static_assert(Size <= 512 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4 and so on, up to 512 threads");
    template <unsigned Some = Size> GV_METHOD static unsigned mask()
    {
        static_assert(Some <= 32, "in a tile of several warps, threads cannot exchange values here");
        return Some == 32 ? ~0u : ((1u << Some % 32) - 1) << (gv_lane() & -Some);
    }
    GV_METHOD static void sync()
    {
        if constexpr (Size <= 32) gv_sync_warp(mask());
        else gv_named_barrier(1 + meta_group_rank() % 15, Size); // 0 is the barrier of the block
    }
    GV_METHOD static unsigned thread_rank()
    {
        return Size <= 32 ? gv_lane() % Size : thread_block::thread_rank() % Size;
    }
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

// A group whose kind is known when the kernel runs: the block, or (with a size) a tile of a warp.
struct thread_group {
    unsigned gv_size;
    GV_METHOD thread_group(thread_block) : gv_size(0) {}
    template <unsigned Size, class Parent> GV_METHOD thread_group(thread_block_tile<Size, Parent>) : gv_size(Size)
    {
        static_assert(Size <= 32, "a tile of several warps is no thread_group here");
    }
    GV_METHOD explicit thread_group(unsigned size) : gv_size(size) {}
    GV_METHOD unsigned size() const { return gv_size ? gv_size : thread_block::num_threads(); }
    GV_METHOD unsigned num_threads() const { return size(); }
    GV_METHOD unsigned thread_rank() const { return gv_size ? gv_lane() % gv_size : thread_block::thread_rank(); }
    GV_METHOD void sync() const
    {
        if (!gv_size) gv_barrier();
        else gv_sync_warp(gv_size == 32 ? ~0u : ((1u << gv_size % 32) - 1) << (gv_lane() & -gv_size));
    }
};
GV_DEVICE thread_group tiled_partition(const thread_group &, unsigned size) { return thread_group(size); }

// The blocks of a cluster.
struct cluster_group {
    GV_METHOD static void sync() { gv_cluster_barrier(); }
    GV_METHOD static void barrier_arrive() { gv_cluster_arrive(0); }
    GV_METHOD static void barrier_wait() { gv_cluster_barrier(); }
    GV_METHOD static unsigned block_rank() { return gv_cluster_rank(); }
    GV_METHOD static unsigned num_blocks() { return gv_cluster_blocks(); }
    template <class T> GV_METHOD static T *map_shared_rank(T *p, int rank)
    {
        return (T *)gv_map_shared((void *)p, (unsigned)rank);
    }
    GV_METHOD static unsigned query_shared_rank(const void *p) { return gv_mapped_rank(p); }
    GV_METHOD static dim3 block_index() { return dim3(gv_cluster_rank(), 0, 0); }
    GV_METHOD static dim3 dim_blocks() { return dim3(gv_cluster_blocks()); }
    GV_METHOD static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
    GV_METHOD static unsigned size() { return num_threads(); }
    GV_METHOD static unsigned thread_rank()
    {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
};
GV_DEVICE cluster_group this_cluster() { return {}; }

template <class Group> GV_DEVICE void sync(const Group &group) { group.sync(); }

} // namespace cooperative_groups
