// Results that are rounded in a chosen direction: for CUDA's functions (__fadd_rd, __float2int_ru) and for PTX (.rm,
// .rp, .rz). Rules: PTX ISA, "Floating Point Instructions" and "cvt".
#pragma once

namespace gv_ptx {

enum { NEAREST, TO_ZERO, DOWN, UP };

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

// Converts a float to a whole number. A number out of range becomes the nearest one in range. NaN becomes zero; if one
// of the two types has 64 bits, only the highest bit is set.
template <class T, class F> GV_DEVICE T whole(F given, int rounding)
{
    double v = (double)(float)given;
    if constexpr (sizeof(F) == 8) v = given;
    constexpr unsigned long long of_nan = sizeof(F) == 8 || sizeof(T) == 8 ? 1ull << (8 * sizeof(T) - 1) : 0;
    if (v != v) return (T)of_nan;
    v = rounding == NEAREST ? __builtin_rint(v)
        : rounding == DOWN  ? __builtin_floor(v)
        : rounding == UP    ? __builtin_ceil(v)
                            : __builtin_trunc(v);
    if (v <= limits<T>::low) return (T)limits<T>::low;
    if (v >= limits<T>::high) return T(-1) < T(0) ? (T)(~0ull >> 1 >> (64 - 8 * sizeof(T))) : (T) ~0ull;
    return (T)v;
}

// `nearest` is the result rounded to nearest, and `rest` has the sign of what it lacks. If an operand is infinite, the
// rest is no number, and the result is exact.
template <class F> GV_DEVICE F directed(F nearest, double rest, int rounding)
{
    const double most = __builtin_inf();
    if (rounding == TO_ZERO) rounding = nearest > 0 ? DOWN : nearest < 0 ? UP : NEAREST;
    double towards = rounding == DOWN && rest < 0 ? -most : rounding == UP && rest > 0 ? most : 0;
    if (towards == 0) return nearest;
    if constexpr (sizeof(F) == 8) return __builtin_nextafter(nearest, towards);
    else return __builtin_nextafterf(nearest, (float)towards);
}
// The sum of two doubles has the two parts `high` and `low`, without an error.
GV_DEVICE float directed_sum(float nearest, double a, double b, int rounding)
{
    double high = a + b, of_b = high - a, low = (a - (high - of_b)) + (b - of_b);
    if (high == 0 && (a != 0 || __builtin_signbit(a) != __builtin_signbit(b))) return rounding == DOWN ? -0.0f : 0.0f;
    return directed(nearest, (high - nearest) + low, rounding);
}
GV_DEVICE float sum(float a, float b, int rounding) { return directed_sum(a + b, a, b, rounding); }
GV_DEVICE float difference(float a, float b, int rounding) { return sum(a, -b, rounding); }
GV_DEVICE float times(float a, float b, int rounding) { return directed(a * b, (double)a * b - a * b, rounding); }
GV_DEVICE float fma(float a, float b, float c, int rounding)
{
    return directed_sum(__builtin_fmaf(a, b, c), (double)a * b, c, rounding);
}
GV_DEVICE float quotient(float a, float b, int rounding)
{
    float nearest = a / b;
    double rest = __builtin_fma(-(double)nearest, b, a);
    return directed(nearest, b < 0 ? -rest : rest, rounding);
}
GV_DEVICE float reciprocal(float v, int rounding) { return quotient(1, v, rounding); }
GV_DEVICE float root(float v, int rounding)
{
    float nearest = __builtin_sqrtf(v);
    return directed(nearest, __builtin_fma(-(double)nearest, nearest, v), rounding);
}

// A number as one of 16 bits: the next one in the direction has the next bits.
template <class T> GV_DEVICE T narrowed(double v, int rounding)
{
    T nearest = (T)v;
    double as_double = (float)nearest, rest = v - as_double;
    bool up = rest > 0 && (rounding == UP || (rounding == TO_ZERO && v < 0));
    bool down = rest < 0 && (rounding == DOWN || (rounding == TO_ZERO && v > 0));
    if (!up && !down) return nearest;
    unsigned short bits;
    __builtin_memcpy(&bits, &nearest, 2);
    if (as_double == 0) bits = up ? 0x0001 : 0x8001;
    else bits = (unsigned short)((as_double > 0) == up ? bits + 1 : bits - 1);
    __builtin_memcpy(&nearest, &bits, 2);
    return nearest;
}

// A whole number as a double. If it has too many bits, the last one is set for those that are left out: the double is
// rounded to a smaller type as the whole number would be.
template <class W> GV_DEVICE double with_rest(W v)
{
    if constexpr (sizeof(W) < 8) return (double)v;
    else {
        unsigned long long size = v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v;
        if (size >> 53 && size & 0x7ff) size = (size & ~0x7ffull) | 0x800;
        return v < 0 ? -(double)size : (double)size;
    }
}
// A whole number as a float or as a double.
template <class W> GV_DEVICE float as_float(W v, int rounding)
{
    double exact = with_rest(v);
    float nearest = (float)exact;
    return directed(nearest, exact - nearest, rounding);
}
template <class W> GV_DEVICE double as_double(W v, int rounding)
{
    double nearest = (double)v;
    return directed(nearest, (double)((__int128)v - (__int128)nearest), rounding);
}

} // namespace gv_ptx
