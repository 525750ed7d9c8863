// 8-bit floats (OCP 8-bit Floating Point Specification 1.0): E4M3 without infinities, and E5M2.
// A number that is too large becomes the largest finite number, as with CUDA's types.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

GV_DEVICE float gv_power_of_two(int exponent) { return __builtin_bit_cast(float, (unsigned)(exponent + 127) << 23); }

GV_DEVICE __nv_fp8_storage_t gv_fp8_bits(float v, int digits, int bias, float largest)
{
    unsigned bits = __builtin_bit_cast(unsigned, v), sign = bits >> 24 & 0x80;
    if (v != v) return 0x7f;
    float size = __builtin_bit_cast(float, bits & 0x7fffffff);
    if (size > largest) size = largest;
    int exponent = (int)(__builtin_bit_cast(unsigned, size) >> 23) - 127;
    if (exponent < 1 - bias) exponent = 1 - bias;
    // In units of the last bit; a carry increases the exponent.
    int units = (int)__builtin_rintf(size * gv_power_of_two(digits - exponent));
    return (__nv_fp8_storage_t)(sign | (unsigned)(((exponent + bias - 1) << digits) + units));
}
GV_DEVICE float gv_fp8_value(__nv_fp8_storage_t bits, int digits, int bias)
{
    int exponent = (bits & 0x7f) >> digits, fraction = bits & ((1 << digits) - 1);
    int units = exponent ? (1 << digits) + fraction : fraction;
    float size = (float)units * gv_power_of_two((exponent ? exponent : 1) - bias - digits);
    return bits & 0x80 ? -size : size;
}
GV_DEVICE __nv_fp8_storage_t gv_e4m3_bits(float v) { return gv_fp8_bits(v, 3, 7, 448.f); }
GV_DEVICE __nv_fp8_storage_t gv_e5m2_bits(float v) { return gv_fp8_bits(v, 2, 15, 57344.f); }
GV_DEVICE float gv_e4m3_value(__nv_fp8_storage_t bits)
{
    return (bits & 0x7f) == 0x7f ? __builtin_nanf("") : gv_fp8_value(bits, 3, 7);
}
// Its bits are the upper bits of a half.
GV_DEVICE float gv_e5m2_value(__nv_fp8_storage_t bits)
{
    return (float)__builtin_bit_cast(half, (unsigned short)(bits << 8));
}

#if defined(__clang__)
#define GV_FP8_COPIES(type)
#else // see cuda_bf16.h
#define GV_FP8_COPIES(type) \
    type(const type &) = default; \
    GV_METHOD type &operator=(const type &v) \
    { \
        __x = v.__x; \
        return *this; \
    }
#endif
#define GV_FP8(type, kind) \
    struct alignas(1) type { \
        __nv_fp8_storage_t __x; \
        type() = default; \
        GV_METHOD explicit type(float v) : __x(gv_##kind##_bits(v)) {} \
        GV_METHOD explicit type(double v) : __x(gv_##kind##_bits((float)v)) {} \
        GV_METHOD explicit type(int v) : __x(gv_##kind##_bits((float)v)) {} \
        GV_METHOD explicit type(half v) : __x(gv_##kind##_bits((float)v)) {} \
        GV_METHOD explicit type(nv_bfloat16 v) : __x(gv_##kind##_bits((float)v)) {} \
        GV_METHOD explicit operator float() const { return gv_##kind##_value(__x); } \
        GV_METHOD explicit operator double() const { return gv_##kind##_value(__x); } \
        GV_METHOD explicit operator half() const { return (half)gv_##kind##_value(__x); } \
        GV_METHOD explicit operator nv_bfloat16() const { return nv_bfloat16(gv_##kind##_value(__x)); } \
        GV_FP8_COPIES(type) \
    }
GV_FP8(__nv_fp8_e4m3, e4m3);
GV_FP8(__nv_fp8_e5m2, e5m2);
#undef GV_FP8
#undef GV_FP8_COPIES

// Several numbers in one word, the first in the lowest byte.
#define GV_FP8_PAIR(type, kind) \
    struct alignas(2) type { \
        __nv_fp8x2_storage_t __x; \
        type() = default; \
        GV_METHOD explicit type(float2 v) \
            : __x((__nv_fp8x2_storage_t)(gv_##kind##_bits(v.x) | gv_##kind##_bits(v.y) << 8)) {} \
        GV_METHOD explicit operator float2() const \
        { \
            __nv_fp8x2_storage_t bits = __x; \
            return float2(gv_##kind##_value(bits & 0xff), gv_##kind##_value(bits >> 8)); \
        } \
    }
GV_FP8_PAIR(__nv_fp8x2_e4m3, e4m3);
GV_FP8_PAIR(__nv_fp8x2_e5m2, e5m2);
#undef GV_FP8_PAIR
#define GV_FP8_QUAD(type, kind) \
    struct alignas(4) type { \
        __nv_fp8x4_storage_t __x; \
        type() = default; \
        GV_METHOD explicit type(float4 v) \
            : __x(gv_##kind##_bits(v.x) | (unsigned)gv_##kind##_bits(v.y) << 8 | \
                  (unsigned)gv_##kind##_bits(v.z) << 16 | (unsigned)gv_##kind##_bits(v.w) << 24) {} \
        GV_METHOD explicit operator float4() const \
        { \
            __nv_fp8x4_storage_t bits = __x; \
            return float4(gv_##kind##_value(bits & 0xff), gv_##kind##_value(bits >> 8 & 0xff), \
                gv_##kind##_value(bits >> 16 & 0xff), gv_##kind##_value(bits >> 24)); \
        } \
    }
GV_FP8_QUAD(__nv_fp8x4_e4m3, e4m3);
GV_FP8_QUAD(__nv_fp8x4_e5m2, e5m2);
#undef GV_FP8_QUAD

// Without saturation a number that is too large becomes NaN (E4M3) or infinite (E5M2).
GV_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    bool narrow = kind == __NV_E4M3;
    float size = __builtin_fabsf(v);
    if (saturate == __NV_NOSAT && (narrow ? size > 464 : size >= 61440))
        return (__nv_fp8_storage_t)((v < 0 ? 0x80 : 0) | (narrow ? 0x7f : 0x7c));
    return narrow ? gv_e4m3_bits(v) : gv_e5m2_bits(v);
}
GV_DEVICE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(
    __half_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)(half)v, saturate, kind);
}
GV_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(
    __nv_bfloat16_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)(nv_bfloat16)v, saturate, kind);
}
GV_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(
    float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, saturate, kind) |
                                  __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
GV_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind)
{
    return (half)(kind == __NV_E4M3 ? gv_e4m3_value(v) : gv_e5m2_value(v));
}
GV_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind)
{
    return half2(__nv_cvt_fp8_to_halfraw(v & 0xff, kind), __nv_cvt_fp8_to_halfraw(v >> 8, kind));
}
