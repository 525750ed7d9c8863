// Sizes with a known alignment, and copies that the threads of a group share out: for <cuda/barrier>, <cuda/pipeline>
// and <cooperative_groups/memcpy_async.h>. Meanings as in the CUDA C++ Core Libraries, "cuda::aligned_size_t" and
// "cuda::memcpy_async": copies of 4, 8 or 16 bytes that are known to be aligned go on while the thread does other
// things (cp.async, as on compute capability 8.0); others are made at once.
#pragma once
#include "../../runtime/kernel_calls/async_copies.h"

namespace cuda {

template <size_t Alignment> struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    GV_METHOD constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    GV_METHOD constexpr operator size_t() const { return value; }
};

// One thread is a group of its own.
struct gv_one_thread {
    GV_METHOD static constexpr unsigned size() { return 1; }
    GV_METHOD static constexpr unsigned thread_rank() { return 0; }
};

template <class Shape> struct gv_alignment {
    static constexpr size_t of_size = 1;
};
template <size_t Alignment> struct gv_alignment<aligned_size_t<Alignment>> {
    static constexpr size_t of_size = Alignment;
};
template <class T> struct gv_aligned {
    static constexpr size_t of_type = alignof(T);
};
template <> struct gv_aligned<void> {
    static constexpr size_t of_type = 1;
};
constexpr size_t gv_width(size_t of_type, size_t of_size)
{
    size_t known = of_type > of_size ? of_type : of_size;
    return known > 16 ? 16 : known;
}

// Pieces of `Width` bytes, one thread after the other.
template <size_t Width, class Group>
GV_DEVICE void gv_copy_pieces(const Group &group, char *to, const char *from, size_t bytes)
{
    typedef unsigned char number __attribute__((vector_size(Width), may_alias));
    bool waits = Width >= 4 && gv_is_shared(to); // elsewhere there is no cp.async
    for (size_t at = group.thread_rank() * Width; at + Width <= bytes; at += group.size() * Width)
        if (waits) gv_copy_async(to + at, from + at, Width, Width);
        else *(number *)(to + at) = *(const number *)(from + at);
}

} // namespace cuda
