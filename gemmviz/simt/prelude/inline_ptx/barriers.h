// Barriers of the block by their numbers.
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

} // namespace gv_ptx
