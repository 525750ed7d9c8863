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

// redux: the lanes of the mask combine their values.
#define GV_REDUCED(name, ...) \
    template <class T> GV_DEVICE T reduced_##name(unsigned mask, T mine) \
    { \
        T v = 0; \
        int first = 1; \
        for (int lane = 0; lane < 32; lane++) { \
            if (!(mask >> lane & 1)) continue; \
            T w = __shfl_sync(mask, mine, lane); \
            v = first ? w : (__VA_ARGS__); \
            first = 0; \
        } \
        return v; \
    }
GV_REDUCED(add, v + w)
GV_REDUCED(min, w < v ? w : v)
GV_REDUCED(max, w > v ? w : v)
GV_REDUCED(and, v &w)
GV_REDUCED(or, v | w)
GV_REDUCED(xor, v ^ w)
#undef GV_REDUCED

} // namespace gv_ptx
