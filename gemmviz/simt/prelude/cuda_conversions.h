// CUDA's arithmetic with a rounding in its name (_rn, _rz, _rd, _ru), and conversions between whole numbers and floats.
// Names: CUDA Math API, "Single Precision Intrinsics", "Double Precision Intrinsics", "Type Casting Intrinsics".
#pragma once
#include "rounding.h"

// clang-format off: pieces of a function.
#define GV_ARGUMENTS(...) (__VA_ARGS__)
#define GV_ROUNDED(result, name, arguments, value, suffix, direction) \
    GV_DEVICE result name##suffix arguments \
    { \
        constexpr int how = gv_ptx::direction; \
        return value; \
    }
// clang-format on
#define GV_DIRECTED(result, name, arguments, value) \
    GV_ROUNDED(result, name, arguments, value, _rz, TO_ZERO) \
    GV_ROUNDED(result, name, arguments, value, _rd, DOWN) \
    GV_ROUNDED(result, name, arguments, value, _ru, UP)
#define GV_ALL_ROUNDED(result, name, arguments, value) \
    GV_ROUNDED(result, name, arguments, value, _rn, NEAREST) \
    GV_DIRECTED(result, name, arguments, value)

GV_DEVICE float __fadd_rn(float a, float b) { return a + b; }
GV_DEVICE float __fsub_rn(float a, float b) { return a - b; }
GV_DEVICE float __fmul_rn(float a, float b) { return a * b; }
GV_DEVICE float __fdiv_rn(float a, float b) { return a / b; }
GV_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GV_DEVICE float __frcp_rn(float v) { return 1 / v; }
GV_DEVICE float __fsqrt_rn(float v) { return __builtin_sqrtf(v); }
GV_DEVICE float __frsqrt_rn(float v) { return (float)(1 / __builtin_sqrt((double)v)); }
GV_DIRECTED(float, __fadd, GV_ARGUMENTS(float a, float b), gv_ptx::sum(a, b, how))
GV_DIRECTED(float, __fsub, GV_ARGUMENTS(float a, float b), gv_ptx::difference(a, b, how))
GV_DIRECTED(float, __fmul, GV_ARGUMENTS(float a, float b), gv_ptx::times(a, b, how))
GV_DIRECTED(float, __fdiv, GV_ARGUMENTS(float a, float b), gv_ptx::quotient(a, b, how))
GV_DIRECTED(float, __fmaf, GV_ARGUMENTS(float a, float b, float c), gv_ptx::fma(a, b, c, how))
GV_DIRECTED(float, __frcp, GV_ARGUMENTS(float v), gv_ptx::reciprocal(v, how))
GV_DIRECTED(float, __fsqrt, GV_ARGUMENTS(float v), gv_ptx::root(v, how))
GV_DEVICE double __dadd_rn(double a, double b) { return a + b; }
GV_DEVICE double __dsub_rn(double a, double b) { return a - b; }
GV_DEVICE double __dmul_rn(double a, double b) { return a * b; }
GV_DEVICE double __ddiv_rn(double a, double b) { return a / b; }
GV_DEVICE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
GV_DEVICE double __drcp_rn(double v) { return 1 / v; }
GV_DEVICE double __dsqrt_rn(double v) { return __builtin_sqrt(v); }

#define GV_WHOLE(name, type) \
    GV_ALL_ROUNDED(type, __float2##name, GV_ARGUMENTS(float v), gv_ptx::whole<type>(v, how)) \
    GV_ALL_ROUNDED(type, __double2##name, GV_ARGUMENTS(double v), gv_ptx::whole<type>(v, how)) \
    GV_ALL_ROUNDED(float, __##name##2float, GV_ARGUMENTS(type v), gv_ptx::as_float(v, how))
GV_WHOLE(int, int)
GV_WHOLE(uint, unsigned)
GV_WHOLE(ll, long long)
GV_WHOLE(ull, unsigned long long)
#undef GV_WHOLE
GV_DEVICE double __int2double_rn(int v) { return v; }
GV_DEVICE double __uint2double_rn(unsigned v) { return v; }
GV_ALL_ROUNDED(double, __ll2double, GV_ARGUMENTS(long long v), gv_ptx::as_double(v, how))
GV_ALL_ROUNDED(double, __ull2double, GV_ARGUMENTS(unsigned long long v), gv_ptx::as_double(v, how))
GV_ALL_ROUNDED(float, __double2float, GV_ARGUMENTS(double v), gv_ptx::directed((float)v, v - (float)v, how))

GV_DEVICE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
GV_DEVICE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
GV_DEVICE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
GV_DEVICE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
GV_DEVICE long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
GV_DEVICE double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
GV_DEVICE int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
GV_DEVICE int __double2loint(double v) { return (int)__double_as_longlong(v); }
GV_DEVICE double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
