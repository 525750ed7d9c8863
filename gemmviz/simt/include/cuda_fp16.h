// Half precision: the compiler's own 16-bit type, which rounds after each operation as CUDA's does.
#pragma once

typedef _Float16 __half;
typedef _Float16 nv_half;
typedef _Float16 __nv_half;
typedef _Float16 half;

GV_DEVICE half __float2half(float v) { return (half)v; }
GV_DEVICE half __float2half_rn(float v) { return (half)v; }
GV_DEVICE half __double2half(double v) { return (half)v; }
GV_DEVICE float __half2float(half v) { return (float)v; }
GV_DEVICE unsigned short __half_as_ushort(half v) { return __builtin_bit_cast(unsigned short, v); }
GV_DEVICE short __half_as_short(half v) { return __builtin_bit_cast(short, v); }
GV_DEVICE half __ushort_as_half(unsigned short v) { return __builtin_bit_cast(half, v); }
GV_DEVICE half __short_as_half(short v) { return __builtin_bit_cast(half, v); }
GV_DEVICE half __hadd(half a, half b) { return a + b; }
GV_DEVICE half __hsub(half a, half b) { return a - b; }
GV_DEVICE half __hmul(half a, half b) { return a * b; }
// The ones with _rn stay as they are written: the compiler joins none with another to a fused one.
GV_DEVICE half __hadd_rn(half a, half b) { return __hadd(a, b); }
GV_DEVICE half __hsub_rn(half a, half b) { return __hsub(a, b); }
GV_DEVICE half __hmul_rn(half a, half b) { return __hmul(a, b); }
GV_DEVICE half __hdiv(half a, half b) { return a / b; }
GV_DEVICE half __hneg(half v) { return -v; }
GV_DEVICE half __habs(half v) { return v < (half)0 ? -v : v; }
GV_DEVICE half __hmax(half a, half b) { return b > a ? b : a; }
GV_DEVICE half __hmin(half a, half b) { return b < a ? b : a; }
GV_DEVICE half __hfma(half a, half b, half c) { return (half)((double)a * (double)b + (double)c); }

struct alignas(4) __half2 {
    typedef half gv_whole __attribute__((vector_size(4), may_alias));
    half x, y;
    __half2() = default;
    GV_METHOD __half2(half x, half y) : x(x), y(y) {}
    GV_METHOD __half2(const __half2 &v) { *(gv_whole *)this = *(const gv_whole *)&v; }
    GV_METHOD __half2 &operator=(const __half2 &v)
    {
        *(gv_whole *)this = *(const gv_whole *)&v;
        return *this;
    }
};
typedef __half2 half2;
typedef __half2 nv_half2;
typedef __half2 __nv_half2;

GV_DEVICE half2 make_half2(half x, half y) { return half2(x, y); }
GV_DEVICE half2 __halves2half2(half x, half y) { return half2(x, y); }
GV_DEVICE half2 __half2half2(half v) { return half2(v, v); }
GV_DEVICE half2 __float2half2_rn(float v) { return half2((half)v, (half)v); }
GV_DEVICE half2 __floats2half2_rn(float x, float y) { return half2((half)x, (half)y); }
GV_DEVICE half2 __float22half2_rn(float2 v) { return half2((half)v.x, (half)v.y); }
GV_DEVICE float2 __half22float2(half2 v) { return float2((float)v.x, (float)v.y); }
GV_DEVICE half __low2half(half2 v) { return v.x; }
GV_DEVICE half __high2half(half2 v) { return v.y; }
GV_DEVICE half2 __low2half2(half2 v) { return half2(v.x, v.x); }
GV_DEVICE half2 __high2half2(half2 v) { return half2(v.y, v.y); }
GV_DEVICE half2 __lows2half2(half2 a, half2 b) { return half2(a.x, b.x); }
GV_DEVICE half2 __highs2half2(half2 a, half2 b) { return half2(a.y, b.y); }
GV_DEVICE float __low2float(half2 v) { return (float)v.x; }
GV_DEVICE float __high2float(half2 v) { return (float)v.y; }
GV_DEVICE half2 __hadd2(half2 a, half2 b) { return half2(a.x + b.x, a.y + b.y); }
GV_DEVICE half2 __hsub2(half2 a, half2 b) { return half2(a.x - b.x, a.y - b.y); }
GV_DEVICE half2 __hmul2(half2 a, half2 b) { return half2(a.x * b.x, a.y * b.y); }
GV_DEVICE half2 __hadd2_rn(half2 a, half2 b) { return __hadd2(a, b); }
GV_DEVICE half2 __hsub2_rn(half2 a, half2 b) { return __hsub2(a, b); }
GV_DEVICE half2 __hmul2_rn(half2 a, half2 b) { return __hmul2(a, b); }
GV_DEVICE half2 __hfma2(half2 a, half2 b, half2 c) { return half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
GV_DEVICE half2 __hmax2(half2 a, half2 b) { return half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
GV_DEVICE half2 __hmin2(half2 a, half2 b) { return half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
GV_DEVICE half2 operator+(half2 a, half2 b) { return __hadd2(a, b); }
GV_DEVICE half2 operator-(half2 a, half2 b) { return __hsub2(a, b); }
GV_DEVICE half2 operator*(half2 a, half2 b) { return __hmul2(a, b); }
GV_DEVICE half2 &operator+=(half2 &a, half2 b) { return a = __hadd2(a, b); }
GV_DEVICE half2 &operator-=(half2 &a, half2 b) { return a = __hsub2(a, b); }
GV_DEVICE half2 &operator*=(half2 &a, half2 b) { return a = __hmul2(a, b); }

#include "cuda_cxx/narrow_functions.h"
#include "cuda_cxx/narrow_conversions.h"
GV_NARROW_FUNCTIONS(half, half2)
GV_NARROW_CONVERSIONS(half, half)
GV_NARROW_RAW(half, half2, __half_raw, __half2_raw)
