// The arithmetic that CUDA offers without an include.
#pragma once

extern "C" { // as math.h declares them, which a kernel may include
float fmaf(float a, float b, float c) noexcept;
float fminf(float a, float b) noexcept;
float fmaxf(float a, float b) noexcept;
float fabsf(float v) noexcept;
float sqrtf(float v) noexcept;
float expf(float v) noexcept;
int abs(int v) noexcept;
}

template <class T> GV_DEVICE T min(T a, T b) { return b < a ? b : a; }
template <class T> GV_DEVICE T max(T a, T b) { return a < b ? b : a; }
GV_DEVICE unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
GV_DEVICE unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
GV_DEVICE unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
GV_DEVICE unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
// The product of two floats is exact in double, so that one rounding decides. Ties are rounded to even by the cast.
GV_DEVICE float gv_next(float v, float towards) { return __builtin_nextafterf(v, towards); }
GV_DEVICE float __fmul_rn(float a, float b) { return a * b; }
GV_DEVICE float __fmul_rd(float a, float b)
{
    double exact = (double)a * b;
    float near = (float)exact;
    return near > exact ? gv_next(near, -__builtin_inff()) : near;
}
GV_DEVICE float __fmul_ru(float a, float b)
{
    double exact = (double)a * b;
    float near = (float)exact;
    return near < exact ? gv_next(near, __builtin_inff()) : near;
}
GV_DEVICE float __fmul_rz(float a, float b) { return (double)a * b < 0 ? __fmul_ru(a, b) : __fmul_rd(a, b); }
GV_DEVICE float __fadd_rn(float a, float b) { return a + b; }
GV_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GV_DEVICE float __fdividef(float a, float b) { return a / b; }
GV_DEVICE int __mul24(int a, int b) { return a * b; }
GV_DEVICE int __float2int_rn(float v) { return (int)__builtin_rintf(v); }
GV_DEVICE float __int2float_rn(int v) { return (float)v; }
GV_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
GV_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
GV_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
