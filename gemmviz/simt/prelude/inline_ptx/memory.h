// Addresses, loads and stores of PTX.
#pragma once

extern "C" char *gv_anchor_address(void) __attribute__((const)); // see build.py

namespace gv_ptx {

// Shared memory of a GPU has 32-bit addresses, and kernels keep them in 32-bit registers. Here the shared arrays are
// close to each other and to the anchor, so they have the same upper bits as the anchor.
GV_DEVICE void *at(word address)
{
    if (address >> 32) return (void *)address;
    char *anchor = gv_anchor_address();
    return anchor + (int)((unsigned)address - (unsigned)(word)anchor);
}

// A shared array that PTX declares: see __shared__ in cuda.h.
template <class T, int N> struct shared_array {
#ifdef GV_SHARED_START
    typedef T type[N] __attribute__((aligned(GV_SHARED_START)));
#else
    typedef T type[N] __attribute__((aligned(65536)));
#endif
};

template <class T, int N> struct vector_of {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};

// The accesses of ld and st: one access each, also for a vector.
template <class T> GV_DEVICE T load(const void *p) { return *(const T *)p; }
template <class T> GV_DEVICE void store(void *p, T v) { *(T *)p = v; }
template <class T> GV_DEVICE T load_volatile(const void *p) { return *(const volatile T *)p; }
template <class T> GV_DEVICE void store_volatile(void *p, T v) { *(volatile T *)p = v; }
template <class T, int N> GV_DEVICE void load(T (&r)[N], const void *p)
{
    typename vector_of<T, N>::type v = *(const typename vector_of<T, N>::type *)p;
    for (int i = 0; i < N; i++) r[i] = v[i];
}
template <class T, int N> GV_DEVICE void store(void *p, const T (&r)[N])
{
    typename vector_of<T, N>::type v;
    for (int i = 0; i < N; i++) v[i] = r[i];
    *(typename vector_of<T, N>::type *)p = v;
}

// The smaller or the larger of numbers of 16 bits, atomically.
template <bool Most, class T> GV_ATOMICALLY T limited_in_memory(T *p, T v)
{
    T old = *p;
    *p = Most ? most(old, v) : least(old, v);
    return old;
}
template <bool Most, class T> GV_DEVICE T atomic_limit(T *p, T v)
{
    gv_atomic(p, sizeof(T));
    return limited_in_memory<Most>(p, v);
}

} // namespace gv_ptx
