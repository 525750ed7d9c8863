// bfloat16: the upper half of a float. Every operation rounds to nearest, ties to even, as CUDA's does.
#pragma once

GV_DEVICE unsigned short gv_bfloat16_bits(double exact)
{
    float near = (float)exact;
    unsigned bits = __builtin_bit_cast(unsigned, near);
    if (near != near) return 0x7fff;
    // A number that became a tie only by rounding to float must not be rounded as a tie.
    if ((bits & 0xffff) == 0x8000 && (double)near != exact) bits += ((double)near < exact) == (near > 0) ? 1 : -1;
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct alignas(2) __nv_bfloat16 {
    unsigned short gv_bits;
    __nv_bfloat16() = default;
    GV_METHOD __nv_bfloat16(float v) : gv_bits(gv_bfloat16_bits(v)) {}
    GV_METHOD __nv_bfloat16(double v) : gv_bits(gv_bfloat16_bits(v)) {}
    GV_METHOD __nv_bfloat16(int v) : gv_bits(gv_bfloat16_bits(v)) {}
    GV_METHOD __nv_bfloat16(unsigned v) : gv_bits(gv_bfloat16_bits(v)) {}
    GV_METHOD __nv_bfloat16(long v) : gv_bits(gv_bfloat16_bits((double)v)) {}
    GV_METHOD __nv_bfloat16(unsigned long v) : gv_bits(gv_bfloat16_bits((double)v)) {}
    GV_METHOD operator float() const { return __builtin_bit_cast(float, (unsigned)gv_bits << 16); }
#if !defined(__clang__) // GCC reports the write of a whole structure before the read of its new value
    __nv_bfloat16(const __nv_bfloat16 &) = default;
    GV_METHOD __nv_bfloat16 &operator=(const __nv_bfloat16 &v)
    {
        gv_bits = v.gv_bits;
        return *this;
    }
#endif
};
typedef __nv_bfloat16 nv_bfloat16;

GV_DEVICE nv_bfloat16 __float2bfloat16(float v) { return nv_bfloat16(v); }
GV_DEVICE nv_bfloat16 __float2bfloat16_rn(float v) { return nv_bfloat16(v); }
GV_DEVICE nv_bfloat16 __double2bfloat16(double v) { return nv_bfloat16(v); }
GV_DEVICE float __bfloat162float(nv_bfloat16 v) { return (float)v; }
GV_DEVICE unsigned short __bfloat16_as_ushort(nv_bfloat16 v) { return v.gv_bits; }
GV_DEVICE short __bfloat16_as_short(nv_bfloat16 v) { return (short)v.gv_bits; }
GV_DEVICE nv_bfloat16 __ushort_as_bfloat16(unsigned short v)
{
    nv_bfloat16 number;
    number.gv_bits = v;
    return number;
}
GV_DEVICE nv_bfloat16 __short_as_bfloat16(short v) { return __ushort_as_bfloat16((unsigned short)v); }

GV_DEVICE nv_bfloat16 operator+(const nv_bfloat16 &a, const nv_bfloat16 &b)
{
    return nv_bfloat16((double)(float)a + (float)b);
}
GV_DEVICE nv_bfloat16 operator-(const nv_bfloat16 &a, const nv_bfloat16 &b)
{
    return nv_bfloat16((double)(float)a - (float)b);
}
GV_DEVICE nv_bfloat16 operator*(const nv_bfloat16 &a, const nv_bfloat16 &b)
{
    return nv_bfloat16((double)(float)a * (float)b);
}
GV_DEVICE nv_bfloat16 operator/(const nv_bfloat16 &a, const nv_bfloat16 &b)
{
    return nv_bfloat16((double)(float)a / (float)b);
}
GV_DEVICE nv_bfloat16 operator-(const nv_bfloat16 &v) { return __ushort_as_bfloat16(v.gv_bits ^ 0x8000); }
GV_DEVICE nv_bfloat16 &operator+=(nv_bfloat16 &a, const nv_bfloat16 &b) { return a = a + b; }
GV_DEVICE nv_bfloat16 &operator-=(nv_bfloat16 &a, const nv_bfloat16 &b) { return a = a - b; }
GV_DEVICE nv_bfloat16 &operator*=(nv_bfloat16 &a, const nv_bfloat16 &b) { return a = a * b; }
GV_DEVICE nv_bfloat16 &operator/=(nv_bfloat16 &a, const nv_bfloat16 &b) { return a = a / b; }
GV_DEVICE bool operator==(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a == (float)b; }
GV_DEVICE bool operator!=(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a != (float)b; }
GV_DEVICE bool operator<(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a < (float)b; }
GV_DEVICE bool operator<=(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a <= (float)b; }
GV_DEVICE bool operator>(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a > (float)b; }
GV_DEVICE bool operator>=(const nv_bfloat16 &a, const nv_bfloat16 &b) { return (float)a >= (float)b; }
GV_DEVICE nv_bfloat16 __hadd(nv_bfloat16 a, nv_bfloat16 b) { return a + b; }
GV_DEVICE nv_bfloat16 __hsub(nv_bfloat16 a, nv_bfloat16 b) { return a - b; }
GV_DEVICE nv_bfloat16 __hmul(nv_bfloat16 a, nv_bfloat16 b) { return a * b; }
// The ones with _rn stay as they are written: the compiler joins none with another to a fused one.
GV_DEVICE nv_bfloat16 __hadd_rn(nv_bfloat16 a, nv_bfloat16 b) { return __hadd(a, b); }
GV_DEVICE nv_bfloat16 __hsub_rn(nv_bfloat16 a, nv_bfloat16 b) { return __hsub(a, b); }
GV_DEVICE nv_bfloat16 __hmul_rn(nv_bfloat16 a, nv_bfloat16 b) { return __hmul(a, b); }
GV_DEVICE nv_bfloat16 __hdiv(nv_bfloat16 a, nv_bfloat16 b) { return a / b; }
GV_DEVICE nv_bfloat16 __hneg(nv_bfloat16 v) { return -v; }
GV_DEVICE nv_bfloat16 __habs(nv_bfloat16 v) { return __ushort_as_bfloat16(v.gv_bits & 0x7fff); }
GV_DEVICE nv_bfloat16 __hmax(nv_bfloat16 a, nv_bfloat16 b) { return b > a ? b : a; }
GV_DEVICE nv_bfloat16 __hmin(nv_bfloat16 a, nv_bfloat16 b) { return b < a ? b : a; }
GV_DEVICE nv_bfloat16 __hfma(nv_bfloat16 a, nv_bfloat16 b, nv_bfloat16 c)
{
    return nv_bfloat16((double)(float)a * (float)b + (float)c);
}

struct alignas(4) __nv_bfloat162 {
    typedef unsigned gv_whole __attribute__((may_alias));
    nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    GV_METHOD __nv_bfloat162(nv_bfloat16 x, nv_bfloat16 y) : x(x), y(y) {}
    GV_METHOD __nv_bfloat162(const __nv_bfloat162 &v) { *(gv_whole *)this = *(const gv_whole *)&v; }
    GV_METHOD __nv_bfloat162 &operator=(const __nv_bfloat162 &v)
    {
        *(gv_whole *)this = *(const gv_whole *)&v;
        return *this;
    }
};
typedef __nv_bfloat162 nv_bfloat162;

GV_DEVICE nv_bfloat162 make_bfloat162(nv_bfloat16 x, nv_bfloat16 y) { return nv_bfloat162(x, y); }
GV_DEVICE nv_bfloat162 __halves2bfloat162(nv_bfloat16 x, nv_bfloat16 y) { return nv_bfloat162(x, y); }
GV_DEVICE nv_bfloat162 __bfloat162bfloat162(nv_bfloat16 v) { return nv_bfloat162(v, v); }
GV_DEVICE nv_bfloat162 __float2bfloat162_rn(float v) { return nv_bfloat162(v, v); }
GV_DEVICE nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return nv_bfloat162(x, y); }
GV_DEVICE nv_bfloat162 __float22bfloat162_rn(float2 v) { return nv_bfloat162(v.x, v.y); }
GV_DEVICE float2 __bfloat1622float2(nv_bfloat162 v) { return float2((float)v.x, (float)v.y); }
GV_DEVICE nv_bfloat16 __low2bfloat16(nv_bfloat162 v) { return v.x; }
GV_DEVICE nv_bfloat16 __high2bfloat16(nv_bfloat162 v) { return v.y; }
GV_DEVICE nv_bfloat162 __low2bfloat162(nv_bfloat162 v) { return nv_bfloat162(v.x, v.x); }
GV_DEVICE nv_bfloat162 __high2bfloat162(nv_bfloat162 v) { return nv_bfloat162(v.y, v.y); }
GV_DEVICE float __low2float(nv_bfloat162 v) { return (float)v.x; }
GV_DEVICE float __high2float(nv_bfloat162 v) { return (float)v.y; }
GV_DEVICE nv_bfloat162 __hadd2(nv_bfloat162 a, nv_bfloat162 b) { return nv_bfloat162(a.x + b.x, a.y + b.y); }
GV_DEVICE nv_bfloat162 __hsub2(nv_bfloat162 a, nv_bfloat162 b) { return nv_bfloat162(a.x - b.x, a.y - b.y); }
GV_DEVICE nv_bfloat162 __hmul2(nv_bfloat162 a, nv_bfloat162 b) { return nv_bfloat162(a.x * b.x, a.y * b.y); }
GV_DEVICE nv_bfloat162 __hadd2_rn(nv_bfloat162 a, nv_bfloat162 b) { return __hadd2(a, b); }
GV_DEVICE nv_bfloat162 __hsub2_rn(nv_bfloat162 a, nv_bfloat162 b) { return __hsub2(a, b); }
GV_DEVICE nv_bfloat162 __hmul2_rn(nv_bfloat162 a, nv_bfloat162 b) { return __hmul2(a, b); }
GV_DEVICE nv_bfloat162 __hfma2(nv_bfloat162 a, nv_bfloat162 b, nv_bfloat162 c)
{
    return nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
GV_DEVICE nv_bfloat162 operator+(nv_bfloat162 a, nv_bfloat162 b) { return __hadd2(a, b); }
GV_DEVICE nv_bfloat162 operator-(nv_bfloat162 a, nv_bfloat162 b) { return __hsub2(a, b); }
GV_DEVICE nv_bfloat162 operator*(nv_bfloat162 a, nv_bfloat162 b) { return __hmul2(a, b); }
GV_DEVICE nv_bfloat162 &operator+=(nv_bfloat162 &a, nv_bfloat162 b) { return a = __hadd2(a, b); }

#include "cuda_cxx/narrow_functions.h"
#include "cuda_cxx/narrow_conversions.h"
GV_NARROW_FUNCTIONS(nv_bfloat16, nv_bfloat162)
GV_NARROW_CONVERSIONS(nv_bfloat16, bfloat16)
GV_NARROW_RAW(nv_bfloat16, nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw)
