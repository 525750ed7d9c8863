// Results that are not rounded to nearest: .rz, .rm and .rp of PTX (PTX ISA, "Floating Point Instructions", "cvt").
#pragma once

namespace gv_ptx {

// `nearest` is the result rounded to nearest, and `rest` has the sign of what it lacks. If an operand is infinite, the
// rest is no number, and the result is exact.
GV_DEVICE float directed(float nearest, double rest, int rounding)
{
    const float most = __builtin_inff();
    if (rounding == TO_ZERO) return nearest > 0 ? directed(nearest, rest, DOWN) : directed(nearest, rest, UP);
    if (rounding == DOWN) return rest < 0 ? __builtin_nextafterf(nearest, -most) : nearest;
    return rest > 0 ? __builtin_nextafterf(nearest, most) : nearest;
}
// The sum of two doubles has the two parts `high` and `low`, without an error.
GV_DEVICE float directed_sum(float nearest, double a, double b, int rounding)
{
    double high = a + b, of_b = high - a, low = (a - (high - of_b)) + (b - of_b);
    if (high == 0 && a != 0) return rounding == DOWN ? -0.0f : 0.0f;
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

// A float as a number of 16 bits: the next one in the direction has the next bits.
template <class T> GV_DEVICE T narrowed(float v, int rounding)
{
    T nearest = (T)v;
    float as_float = (float)nearest, rest = v - as_float;
    bool up = rest > 0 && (rounding == UP || (rounding == TO_ZERO && v < 0));
    bool down = rest < 0 && (rounding == DOWN || (rounding == TO_ZERO && v > 0));
    if (!up && !down) return nearest;
    unsigned short bits = as<unsigned short>(nearest);
    if (as_float == 0) bits = up ? 0x0001 : 0x8001;
    else bits = (unsigned short)((as_float > 0) == up ? bits + 1 : bits - 1);
    return as<T>(bits);
}
template <class T> GV_DEVICE T without_sign(T v) { return (float)v > 0 || v != v ? v : (T)0.0f; } // .relu

} // namespace gv_ptx
