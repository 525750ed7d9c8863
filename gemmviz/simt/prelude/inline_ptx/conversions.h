// Conversions of PTX between types of numbers (PTX ISA, "cvt"); see also ../rounding.h.
#pragma once

namespace gv_ptx {

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
template <class T> GV_DEVICE T without_sign(T v) { return (float)v > 0 || v != v ? v : (T)0.0f; } // .relu

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
