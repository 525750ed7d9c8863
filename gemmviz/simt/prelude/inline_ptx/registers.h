// Registers of PTX. A register has bits, and each instruction reads them as the type in its name. An operand that is a
// variable of the kernel has its own type, and an instruction may read and write it as another type.
#pragma once

namespace gv_ptx {

typedef unsigned long long word;

// The bits of a register, or of a variable of 1, 2, 4 or 8 bytes.
template <class V> GV_DEVICE word bits(const V &v)
{
    static_assert(sizeof(V) == 1 || sizeof(V) == 2 || sizeof(V) == 4 || sizeof(V) == 8, "no register has this size");
    if constexpr (sizeof(V) == 8) return *(const word *)&v;
    else if constexpr (sizeof(V) == 4) return *(const unsigned *)&v;
    else if constexpr (sizeof(V) == 2) return *(const unsigned short *)&v;
    else return *(const unsigned char *)&v;
}

// Writes the low bits of a number to a variable.
template <class D> GV_DEVICE void put(D &d, word b)
{
    static_assert(sizeof(D) == 1 || sizeof(D) == 2 || sizeof(D) == 4 || sizeof(D) == 8, "no register has this size");
    if constexpr (sizeof(D) == 8) *(word *)&d = b;
    else if constexpr (sizeof(D) == 4) *(unsigned *)&d = (unsigned)b;
    else if constexpr (sizeof(D) == 2) *(unsigned short *)&d = (unsigned short)b;
    else *(unsigned char *)&d = (unsigned char)b;
}

// A register, read as a type; the low bits of a wider register.
template <class T, class V> GV_DEVICE T as(const V &v)
{
    T value;
    put(value, bits(v));
    return value;
}

template <class V> constexpr bool has_sign = false;
template <> constexpr bool has_sign<signed char> = true;
template <> constexpr bool has_sign<short> = true;
template <> constexpr bool has_sign<int> = true;

// Writes a value to a register; a wider register is filled with zeros, or with the sign of a signed number.
template <class D, class V> GV_DEVICE void set(D &d, const V &v)
{
    if constexpr (has_sign<V>) put(d, (word)(long long)v);
    else put(d, bits(v));
}

// An operand that is only read: "r", "l" and "h" take numbers of another size, and pointers.
template <class T, class V> GV_DEVICE T in(V v)
{
    if constexpr (sizeof(V) == sizeof(T)) return as<T>(v);
    else return (T)v;
}

// Two numbers of 16 bits in one register, the first in the low half.
template <class T> struct two {
    T x, y;
};

GV_DEVICE unsigned warp()
{
    uint3 i = gv_thread_index(), n = gv_block_shape();
    return (i.x + n.x * (i.y + n.y * i.z)) / 32;
}
GV_DEVICE unsigned warps()
{
    uint3 n = gv_block_shape();
    return (n.x * n.y * n.z + 31) / 32;
}

} // namespace gv_ptx
