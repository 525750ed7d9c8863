// Reductions of a tile of a warp: lanes exchange their values until each has the result. Meanings as in the CUDA C++
// Programming Guide, "Collective Operations: reduce".
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T = void> struct plus {
    template <class U> GV_METHOD U operator()(U a, U b) const { return a + b; }
};
template <class T = void> struct less { // the smaller of the two
    template <class U> GV_METHOD U operator()(U a, U b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
    template <class U> GV_METHOD U operator()(U a, U b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
    template <class U> GV_METHOD U operator()(U a, U b) const { return a & b; }
};
template <class T = void> struct bit_or {
    template <class U> GV_METHOD U operator()(U a, U b) const { return a | b; }
};
template <class T = void> struct bit_xor {
    template <class U> GV_METHOD U operator()(U a, U b) const { return a ^ b; }
};

template <unsigned Size, class Parent, class T, class Operation>
GV_DEVICE T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned lanes = Size / 2; lanes; lanes /= 2) value = operation(value, tile.shfl_xor(value, (int)lanes));
    return value;
}

} // namespace cooperative_groups
