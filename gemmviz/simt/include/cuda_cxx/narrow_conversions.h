// Conversions between whole numbers and half precision or bfloat16, with the rounding in their names. Names: CUDA Math
// API, "Half Precision Conversion and Data Movement", "Bfloat16 Precision Conversion and Data Movement".
#pragma once

#define GV_NARROW_WHOLE(element, name, number, type) \
    GV_ALL_ROUNDED(type, __##name##2##number, GV_ARGUMENTS(element v), gv_ptx::whole<type>(v, how)) \
    GV_ALL_ROUNDED(element, __##number##2##name, GV_ARGUMENTS(type v), \
        gv_ptx::narrowed<element>(gv_ptx::with_rest(v), how))
#define GV_NARROW_CONVERSIONS(element, name) \
    GV_NARROW_WHOLE(element, name, short, short) \
    GV_NARROW_WHOLE(element, name, ushort, unsigned short) \
    GV_NARROW_WHOLE(element, name, int, int) \
    GV_NARROW_WHOLE(element, name, uint, unsigned) \
    GV_NARROW_WHOLE(element, name, ll, long long) \
    GV_NARROW_WHOLE(element, name, ull, unsigned long long) \
    GV_DIRECTED(element, __float2##name, GV_ARGUMENTS(float v), gv_ptx::narrowed<element>(v, how)) \
    GV_DEVICE signed char __##name##2char_rz(element v) { return gv_ptx::whole<signed char>(v, gv_ptx::TO_ZERO); } \
    GV_DEVICE unsigned char __##name##2uchar_rz(element v) { return gv_ptx::whole<unsigned char>(v, gv_ptx::TO_ZERO); }
// The bits of one number and of a pair, as C has them.
#define GV_NARROW_RAW(element, pair, raw, raw_pair) \
    struct alignas(2) raw { \
        unsigned short x; \
        raw() = default; \
        GV_METHOD raw(element v) { __builtin_memcpy(&x, &v, 2); } \
        GV_METHOD operator element() const \
        { \
            element v; \
            __builtin_memcpy(&v, &x, 2); \
            return v; \
        } \
    }; \
    struct alignas(4) raw_pair { \
        unsigned short x, y; \
        raw_pair() = default; \
        GV_METHOD raw_pair(pair v) : x(raw(v.x).x), y(raw(v.y).x) {} \
        GV_METHOD operator pair() const { return *(const pair *)this; } \
    };
