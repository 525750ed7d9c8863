// Arithmetic of PTX on registers for which C++ has no operators. Rules: PTX ISA, "Instruction Set".
#pragma once

namespace gv_ptx {

// clang-format off: one line each.
#define GV_TWO(op) \
    template <class T> GV_DEVICE two<T> operator op(two<T> a, two<T> b) { return {a.x op b.x, a.y op b.y}; }
GV_TWO(+)
GV_TWO(-)
GV_TWO(*)
#undef GV_TWO
// clang-format on

GV_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GV_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
GV_DEVICE _Float16 fma(_Float16 a, _Float16 b, _Float16 c) { return __hfma(a, b, c); }
GV_DEVICE nv_bfloat16 fma(nv_bfloat16 a, nv_bfloat16 b, nv_bfloat16 c) { return __hfma(a, b, c); }
template <class T> GV_DEVICE two<T> fma(two<T> a, two<T> b, two<T> c)
{
    return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)};
}

// For a number and a NaN both return the number.
template <class T> GV_DEVICE T least(T a, T b) { return b < a || a != a ? b : a; }
template <class T> GV_DEVICE T most(T a, T b) { return a < b || a != a ? b : a; }
template <class T> GV_DEVICE two<T> least(two<T> a, two<T> b) { return {least(a.x, b.x), least(a.y, b.y)}; }
template <class T> GV_DEVICE two<T> most(two<T> a, two<T> b) { return {most(a.x, b.x), most(a.y, b.y)}; }
template <class T> GV_DEVICE T least_or_nan(T a, T b) { return a != a || a < b ? a : b; }
template <class T> GV_DEVICE T most_or_nan(T a, T b) { return a != a || b < a ? a : b; }
template <class T> GV_DEVICE two<T> least_or_nan(two<T> a, two<T> b)
{
    return {least_or_nan(a.x, b.x), least_or_nan(a.y, b.y)};
}
template <class T> GV_DEVICE two<T> most_or_nan(two<T> a, two<T> b)
{
    return {most_or_nan(a.x, b.x), most_or_nan(a.y, b.y)};
}
template <class T> GV_DEVICE T negated(T v) { return -v; }
template <class T> GV_DEVICE two<T> negated(two<T> v) { return {-v.x, -v.y}; }
template <class T> GV_DEVICE T magnitude(T v) { return v < T(0) ? T(-v) : v; }
GV_DEVICE float magnitude(float v) { return __builtin_fabsf(v); }
GV_DEVICE double magnitude(double v) { return __builtin_fabs(v); }
template <class T> GV_DEVICE two<T> magnitude(two<T> v) { return {magnitude(v.x), magnitude(v.y)}; }
// A function of C, which computes in floats.
template <class T> GV_DEVICE T of_each(T v, float (*f)(float)) { return (T)f((float)v); }
template <class T> GV_DEVICE two<T> of_each(two<T> v, float (*f)(float)) { return {of_each(v.x, f), of_each(v.y, f)}; }
GV_DEVICE float saturated(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }

// A shift by the width or more gives zero, or copies of the sign.
template <class T> GV_DEVICE T shifted_left(T v, unsigned by) { return by >= 8 * sizeof(T) ? T(0) : T(v << by); }
template <class T> GV_DEVICE T shifted_right(T v, unsigned by)
{
    return by >= 8 * sizeof(T) ? T(v < T(0) ? -1 : 0) : T(v >> by);
}
template <class T> struct twice;
template <> struct twice<unsigned short> {
    typedef unsigned type;
};
template <> struct twice<short> {
    typedef int type;
};
template <> struct twice<unsigned> {
    typedef unsigned long long type;
};
template <> struct twice<int> {
    typedef long long type;
};
template <> struct twice<unsigned long long> {
    typedef unsigned __int128 type;
};
template <> struct twice<long long> {
    typedef __int128 type;
};
template <class T> GV_DEVICE typename twice<T>::type wide(T a, T b) { return (typename twice<T>::type)a * b; }
template <class T> GV_DEVICE T high(T a, T b) { return (T)(wide(a, b) >> (8 * sizeof(T))); }

// Sums and differences of several registers. The carry of the thread goes from one instruction to the next.
static bool carry;
template <class T> GV_DEVICE T with_carry(T a, T b, bool takes, bool gives)
{
    const T once = a + b, sum = once + (T)(takes && carry);
    if (gives) carry = once < a || sum < once;
    return sum;
}
template <class T> GV_DEVICE T with_borrow(T a, T b, bool takes, bool gives)
{
    const T once = a - b, difference = once - (T)(takes && carry);
    if (gives) carry = a < b || once < difference;
    return difference;
}
// The low 24 bits of a register as a number.
GV_DEVICE unsigned of_24(unsigned v) { return v & 0xffffff; }
GV_DEVICE int of_24(int v) { return (int)((unsigned)v << 8) >> 8; }

// A function of three bits, given by its table of eight results.
GV_DEVICE unsigned by_table(unsigned a, unsigned b, unsigned c, unsigned table)
{
    unsigned result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}
template <class T> GV_DEVICE T field(T v, unsigned at, unsigned length)
{
    at &= 255;
    length &= 255;
    const unsigned width = 8 * sizeof(T);
    if (!length || at >= width) return length && v < T(0) ? T(-1) : T(0);
    if (length > width - at) length = width - at;
    return (T)(v << (width - at - length)) >> (width - length);
}
template <class T> GV_DEVICE T inserted(T into, T v, unsigned at, unsigned length)
{
    at &= 255;
    length &= 255;
    const unsigned width = 8 * sizeof(T);
    T mask = at >= width ? T(0) : (length >= width ? ~T(0) : (T(1) << length) - 1) << at;
    return (into & ~mask) | (at >= width ? T(0) : v << at & mask);
}
GV_DEVICE unsigned bit_mask(unsigned at, unsigned length, bool wraps)
{
    if (wraps) at &= 31, length &= 31;
    if (at > 31) return 0;
    return (length > 31 ? ~0u : (1u << length) - 1) << at;
}
template <class T> GV_DEVICE T extended(T v, unsigned bits, bool wraps)
{
    if (wraps) bits &= 31;
    if (!bits) return 0;
    return bits > 31 ? v : (T)((unsigned)v << (32 - bits)) >> (32 - bits);
}
// The bytes or the halves of two registers, each by itself: together in a register, or added to c.
enum { SUM, DIFFERENCE, AVERAGE, DISTANCE, LEAST, MOST };
struct bounds {
    int low, high;
};
GV_DEVICE bounds no_bounds() { return {-0x7fffffff - 1, 0x7fffffff}; }
template <class T> GV_DEVICE bounds bounds_of()
{
    const int values = 1 << (8 * sizeof(T)), low = T(-1) < T(0) ? -values / 2 : 0;
    return {low, low + values - 1};
}
GV_DEVICE int of_parts(int how, int x, int y)
{
    switch (how) {
    case SUM: return x + y;
    case DIFFERENCE: return x - y;
    case AVERAGE: return (x + y + (x + y >= 0)) >> 1;
    case DISTANCE: return x < y ? y - x : x - y;
    case LEAST: return x < y ? x : y;
    default: return x < y ? y : x;
    }
}
template <class A, class B>
GV_DEVICE unsigned each_part(int how, unsigned a, unsigned b, bounds l, unsigned c, bool adds)
{
    const int bits = 8 * sizeof(A);
    unsigned d = adds ? c : 0;
    for (int i = 0; i < 32; i += bits) {
        unsigned v = (unsigned)limited(of_parts(how, (A)(a >> i), (B)(b >> i)), l.low, l.high);
        d = adds ? d + v : d | (v & ((1u << bits) - 1)) << i;
    }
    return d;
}
GV_DEVICE unsigned zeros_before(unsigned v) { return (unsigned)__clz((int)v); }
GV_DEVICE unsigned zeros_before(word v) { return (unsigned)__clzll((long long)v); }
template <class T> GV_DEVICE unsigned highest(T v, bool shifts)
{
    const int width = 8 * sizeof(T);
    word bits = (word)(v < T(0) ? ~v : v);
    if (width == 32) bits &= 0xffffffff;
    if (!bits) return ~0u;
    int place = 63 - __builtin_clzll(bits);
    return (unsigned)(shifts ? width - 1 - place : place);
}
} // namespace gv_ptx
