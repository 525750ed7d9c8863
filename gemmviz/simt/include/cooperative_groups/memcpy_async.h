// Copies of a group to shared memory. Meanings as in the CUDA C++ Programming Guide, "Collective Operations:
// memcpy_async, wait and wait_prior": each call is a stage of its own.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_cxx/copies.h"

namespace cooperative_groups {

template <size_t Alignment, class Group>
GV_DEVICE void gv_memcpy_async(const Group &group, char *to, const char *from, size_t bytes)
{
    if constexpr (Alignment >= 4) cuda::gv_copy_pieces<Alignment>(group, to, from, bytes);
    else {
        // What is not known to be aligned is looked at: the ends are copied at once, the rest in the widest pieces.
        size_t width = 16, apart = (size_t)to - (size_t)from;
        while (width > Alignment && apart % width) width /= 2;
        size_t ahead = -(size_t)to % width, all = bytes;
        ahead = ahead < all ? ahead : all;
        size_t whole = (all - ahead) / width * width, behind = ahead + whole;
        cuda::gv_copy_pieces<Alignment>(group, to, from, ahead);
        to += ahead;
        from += ahead;
        if (width == 16) cuda::gv_copy_pieces<16>(group, to, from, whole);
        else if (width == 8) cuda::gv_copy_pieces<8>(group, to, from, whole);
        else if (width == 4) cuda::gv_copy_pieces<4>(group, to, from, whole);
        else if (width == 2) cuda::gv_copy_pieces<2>(group, to, from, whole);
        else cuda::gv_copy_pieces<1>(group, to, from, whole);
        cuda::gv_copy_pieces<Alignment>(group, to + whole, from + whole, all - behind);
    }
    gv_copy_commit();
}

// `bytes`: a number, or one with a known alignment.
template <class Group, class T, class Shape>
GV_DEVICE void memcpy_async(const Group &group, T *to, const T *from, const Shape &bytes)
{
    constexpr size_t width = cuda::gv_width(cuda::gv_aligned<T>::of_type, cuda::gv_alignment<Shape>::of_size);
    gv_memcpy_async<width>(group, (char *)to, (const char *)from, bytes);
}
// Sizes in elements: as many as there is a place and a value for.
template <class Group, class T, class To, class From>
GV_DEVICE void memcpy_async(const Group &group, T *to, const To &room, const T *from, const From &there)
{
    constexpr size_t of_size = cuda::gv_alignment<To>::of_size;
    constexpr size_t width = cuda::gv_width(of_size > 1 ? 1 : alignof(T), of_size);
    size_t count = (size_t)room < (size_t)there ? (size_t)room : (size_t)there;
    gv_memcpy_async<width>(group, (char *)to, (const char *)from, count * sizeof(T));
}

// The group waits for its copies, each thread for its own, and then for each other.
template <unsigned Left, class Group> GV_DEVICE void wait_prior(const Group &group)
{
    gv_copy_wait(Left);
    group.sync();
}
template <class Group> GV_DEVICE void wait(const Group &group)
{
    gv_copy_wait_all();
    group.sync();
}

} // namespace cooperative_groups
