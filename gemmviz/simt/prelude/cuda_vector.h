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
GV_VECTOR_2(long)
GV_VECTOR_2(ulong)

// Vectors of 32 bytes are aligned to 16 on a GPU, which copies them in two halves.
#define GV_LONG_VECTOR(type) \
    struct alignas(16) type##4 { \
        typedef type gv_half __attribute__((vector_size(16), may_alias)); \
        type x, y, z, w; \
        type##4() = default; \
        GV_METHOD type##4(type x, type y = 0, type z = 0, type w = 0) : x(x), y(y), z(z), w(w) {} \
        GV_METHOD type##4(const type##4 &v) { *this = v; } \
        GV_METHOD type##4 &operator=(const type##4 &v) \
        { \
            *(gv_half *)&x = *(const gv_half *)&v.x; \
            *(gv_half *)&z = *(const gv_half *)&v.z; \
            return *this; \
        } \
    }; \
    GV_DEVICE type##4 make_##type##4(type x, type y, type z, type w) { return type##4(x, y, z, w); }
GV_LONG_VECTOR(double)
GV_LONG_VECTOR(long)
GV_LONG_VECTOR(ulong)
GV_LONG_VECTOR(longlong)
GV_LONG_VECTOR(ulonglong)

// Vectors of one number and of three are as aligned as their numbers, and copied one by one.
#define GV_SINGLE_NUMBERS(type) \
    struct type##1 { \
        type x; \
    }; \
    GV_DEVICE type##1 make_##type##1(type x) { return {x}; }
#define GV_THREE_NUMBERS(type) \
    struct type##3 { \
        type x, y, z; \
    }; \
    GV_DEVICE type##3 make_##type##3(type x, type y, type z) { return {x, y, z}; }
#define GV_ODD_VECTORS(type) GV_SINGLE_NUMBERS(type) GV_THREE_NUMBERS(type)
GV_ODD_VECTORS(float)
GV_ODD_VECTORS(double)
GV_ODD_VECTORS(int)
GV_ODD_VECTORS(short)
GV_ODD_VECTORS(ushort)
GV_ODD_VECTORS(char)
GV_ODD_VECTORS(uchar)
GV_ODD_VECTORS(long)
GV_ODD_VECTORS(ulong)
GV_ODD_VECTORS(longlong)
GV_ODD_VECTORS(ulonglong)
GV_SINGLE_NUMBERS(uint) // uint3 is the type of threadIdx
GV_DEVICE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
