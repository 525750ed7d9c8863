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
