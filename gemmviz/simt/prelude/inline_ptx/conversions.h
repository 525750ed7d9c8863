// Conversions of PTX between types of numbers (PTX ISA, "cvt").
#pragma once

namespace gv_ptx {

template <class T> struct limits; // of whole numbers, as doubles
#define GV_LIMITS(type, least, most) \
    template <> struct limits<type> { \
        static constexpr double low = least, high = most; \
    };
GV_LIMITS(signed char, -128, 127)
GV_LIMITS(unsigned char, 0, 255)
GV_LIMITS(short, -32768, 32767)
GV_LIMITS(unsigned short, 0, 65535)
GV_LIMITS(int, -2147483648., 2147483647.)
GV_LIMITS(unsigned, 0, 4294967295.)
GV_LIMITS(long long, -9223372036854775808., 9223372036854775807.)
GV_LIMITS(unsigned long long, 0, 18446744073709551615.)
#undef GV_LIMITS

// Converts a float to a whole number. A number out of range becomes the nearest one in range, NaN becomes zero.
enum { NEAREST, TO_ZERO, DOWN, UP };
template <class T> GV_DEVICE T whole(double v, int rounding)
{
    if (v != v) return 0;
    v = rounding == NEAREST ? __builtin_rint(v)
        : rounding == DOWN  ? __builtin_floor(v)
        : rounding == UP    ? __builtin_ceil(v)
                            : __builtin_trunc(v);
    if (v <= limits<T>::low) return (T)limits<T>::low;
    if (v >= limits<T>::high) return T(-1) < T(0) ? (T)(~(word)0 >> 1 >> (64 - 8 * sizeof(T))) : (T) ~(word)0;
    return (T)v;
}
// cvt.rn.tf32.f32 and cvt.rz.tf32.f32: 10 bits after the point, ties to even, or the bits behind left out.
GV_DEVICE unsigned tf32_nearest(float v)
{
    unsigned bits = __builtin_bit_cast(unsigned, v);
    return v - v != 0 ? bits : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}
GV_DEVICE unsigned tf32_cut(float v)
{
    unsigned bits = __builtin_bit_cast(unsigned, v);
    return v - v != 0 ? bits : bits & 0xffffe000;
}
// Converts a whole number to a smaller type; a number out of range becomes the limit.
template <class T, class V> GV_DEVICE T clamped(V v)
{
    if ((double)v <= limits<T>::low) return (T)limits<T>::low;
    return (double)v >= limits<T>::high ? (T)limits<T>::high : (T)v;
}

// 8-bit floats: rounded to nearest, ties to even; a number that is too large becomes the largest one (satfinite).
// `digits`: bits of the fraction; `bias`: of the exponent; `largest`: the bits of the largest number.
GV_DEVICE unsigned small_float(float v, int digits, int bias, unsigned largest, unsigned nan)
{
    unsigned sign = __builtin_bit_cast(unsigned, v) >> 31 << 7;
    float size = __builtin_fabsf(v);
    if (v != v) return nan;
    int exponent = 0;
    __builtin_frexpf(size, &exponent); // size = fraction in [0.5, 1) x 2 ^ exponent
    exponent = size == 0 || exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double scaled = __builtin_rint(__builtin_ldexp((double)size, digits - exponent));
    if (!(scaled < 4096)) return sign | largest;
    // A carry out of the fraction increases the exponent.
    unsigned code = ((unsigned)(exponent + bias - 1) << digits) + (unsigned)scaled;
    return sign | (code > largest ? largest : code);
}
GV_DEVICE unsigned e4m3(float v) { return small_float(v, 3, 7, 0x7e, 0x7f); }
GV_DEVICE unsigned e5m2(float v) { return small_float(v, 2, 15, 0x7b, 0x7f); }
GV_DEVICE float from_e4m3(unsigned code)
{
    if ((code & 0x7f) == 0x7f) return __builtin_nanf("");
    int exponent = (int)(code >> 3 & 15), fraction = (int)(code & 7);
    float size = exponent ? __builtin_ldexpf((float)(8 + fraction), exponent - 10) : (float)fraction / 512;
    return code & 0x80 ? -size : size;
}
GV_DEVICE float from_e5m2(unsigned code) { return (float)__builtin_bit_cast(_Float16, (unsigned short)(code << 8)); }

} // namespace gv_ptx
