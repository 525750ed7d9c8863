// Barriers of the block by their numbers, and the matrix that a warp transposes in its registers.
#pragma once

namespace gv_ptx {

// Barrier 0 with all threads is __syncthreads. `threads`: 0 for all threads of the block.
GV_DEVICE void meet(int number, int threads)
{
    uint3 n = gv_block_shape();
    int all = (int)(n.x * n.y * n.z);
    if (number == 0 && (threads == 0 || threads == all)) gv_barrier();
    else gv_named_barrier(number, threads ? threads : all);
}

// bar.red: the number of threads at the barrier that say yes.
GV_DEVICE unsigned votes(int number, int threads, bool yes)
{
    uint3 n = gv_block_shape();
    int all = (int)(n.x * n.y * n.z);
    bool block = number == 0 && (threads == 0 || threads == all);
    return gv_barrier_votes(number, block ? 0 : threads ? threads : all, yes);
}

// The lane that shfl reads: `limits` has the last lane in bits 0 to 4, and in bits 8 to 12 the bits of the lane's
// number that stay. `inside` says whether this lane is in bounds; if not, it is the running lane.
enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };
GV_DEVICE int source_lane(int how, unsigned by, unsigned limits, bool &inside)
{
    int lane = (int)gv_lane(), kept = (int)(limits >> 8 & 31), b = (int)(by & 31);
    int last = (lane & kept) | ((int)(limits & 31) & ~kept);
    int from = how == SHUFFLE_UP         ? lane - b
               : how == SHUFFLE_DOWN      ? lane + b
               : how == SHUFFLE_BUTTERFLY ? lane ^ b
                                          : (lane & kept) | (b & ~kept);
    inside = how == SHUFFLE_UP ? from >= last : from <= last;
    return inside ? from : lane;
}

// movmatrix: lane l holds elements 2 (l % 4) and the next one of row l / 4, as ldmatrix leaves them.
GV_DEVICE unsigned transposed(unsigned v)
{
    int lane = (int)gv_lane(), row = lane / 4, column = 2 * (lane % 4);
    unsigned first = __shfl_sync(~0u, v, 4 * column + row / 2);
    unsigned second = __shfl_sync(~0u, v, 4 * (column + 1) + row / 2);
    int shift = row % 2 * 16;
    return (first >> shift & 0xffff) | (second >> shift) << 16;
}

} // namespace gv_ptx
