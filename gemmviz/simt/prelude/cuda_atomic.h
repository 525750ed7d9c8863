// Atomic operations. Fibres switch only at barriers, so a read followed by a write is always atomic.
#pragma once

#define GV_ATOMICALLY __attribute__((no_sanitize("thread"), noinline))

// The pointer decides the type, not the value: atomicAdd(&sum, 1) on a float.
template <class T> struct gv_same {
    typedef T type;
};
#define GV_ATOMIC(name, result) \
    template <class T> GV_ATOMICALLY T gv_##name(T *p, T v) \
    { \
        T old = *p; \
        *p = result; \
        return old; \
    } \
    template <class T> GV_DEVICE T name(T *p, typename gv_same<T>::type v) \
    { \
        gv_atomic(p, sizeof(T)); \
        return gv_##name<T>(p, v); \
    } \
    template <class T> GV_DEVICE T name##_block(T *p, typename gv_same<T>::type v) { return name<T>(p, v); } \
    template <class T> GV_DEVICE T name##_system(T *p, typename gv_same<T>::type v) { return name<T>(p, v); }
// clang-format off: the second is an expression.
GV_ATOMIC(atomicAdd, old + v)
GV_ATOMIC(atomicSub, old - v)
GV_ATOMIC(atomicExch, v)
GV_ATOMIC(atomicMin, v < old ? v : old)
GV_ATOMIC(atomicMax, v > old ? v : old)
GV_ATOMIC(atomicAnd, old & v)
GV_ATOMIC(atomicOr, old | v)
GV_ATOMIC(atomicXor, old ^ v)
GV_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
GV_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
// clang-format on
#undef GV_ATOMIC

template <class T> GV_ATOMICALLY T gv_atomicCAS(T *p, T expected, T v)
{
    T old = *p;
    *p = old == expected ? v : old;
    return old;
}
template <class T> GV_DEVICE T atomicCAS(T *p, typename gv_same<T>::type expected, typename gv_same<T>::type v)
{
    gv_atomic(p, sizeof(T));
    return gv_atomicCAS<T>(p, expected, v);
}
