// CUDA's vector types. A copy of a vector is a single access of 8 or 16 bytes, as on a GPU.
#pragma once

// clang-format off: pieces of a structure.
// A C++ compiler copies a struct member by member. Through a type of the full width it must copy at once.
#define GV_VECTOR(type, n, align_bytes, ...) \
    struct alignas(align_bytes) type##n { \
        typedef type gv_whole __attribute__((vector_size(n * sizeof(type)), may_alias)); \
        type __VA_ARGS__; \
        type##n() = default; \
        GV_METHOD type##n(const type##n &v) { *(gv_whole *)this = *(const gv_whole *)&v; } \
        GV_METHOD type##n &operator=(const type##n &v) \
        { \
            *(gv_whole *)this = *(const gv_whole *)&v; \
            return *this; \
        }
#define GV_VECTOR_2(type) \
    GV_VECTOR(type, 2, 2 * sizeof(type), x, y) \
        GV_METHOD type##2(type x, type y = 0) : x(x), y(y) {} \
    }; \
    GV_DEVICE type##2 make_##type##2(type x, type y) { return type##2(x, y); }
#define GV_VECTOR_4(type) \
    GV_VECTOR(type, 4, 4 * sizeof(type), x, y, z, w) \
        GV_METHOD type##4(type x, type y = 0, type z = 0, type w = 0) : x(x), y(y), z(z), w(w) {} \
    }; \
    GV_DEVICE type##4 make_##type##4(type x, type y, type z, type w) { return type##4(x, y, z, w); }
// clang-format on

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
GV_VECTOR_2(float)
GV_VECTOR_2(double)
GV_VECTOR_2(int)
GV_VECTOR_2(uint)
GV_VECTOR_2(short)
GV_VECTOR_2(ushort)
GV_VECTOR_2(char)
GV_VECTOR_2(uchar)
typedef long long longlong;
typedef unsigned long long ulonglong;
GV_VECTOR_2(longlong)
GV_VECTOR_2(ulonglong)
GV_VECTOR_4(float)
GV_VECTOR_4(int)
GV_VECTOR_4(uint)
GV_VECTOR_4(short)
GV_VECTOR_4(ushort)
GV_VECTOR_4(char)
GV_VECTOR_4(uchar)

struct float1 {
    float x;
};
struct int1 {
    int x;
};
struct uint1 {
    unsigned x;
};
struct float3 {
    float x, y, z;
};
struct int3 {
    int x, y, z;
};
GV_DEVICE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
GV_DEVICE int3 make_int3(int x, int y, int z) { return {x, y, z}; }
GV_DEVICE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
