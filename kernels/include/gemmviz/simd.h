// Vectors of 16 floats in C, and how wide the CPU's own vectors are: which code to take is asked at run time.
//
// `floats` is a vector of GCC and Clang: + and * work element by element, a float counts as 16 equal ones, and
// a * b + c becomes one instruction where the CPU has one. One vector is one register of AVX-512, two of AVX2, four of
// NEON or SSE.
#pragma once
#include <string.h>

typedef float floats __attribute__((vector_size(64)));
enum { FLOATS = sizeof(floats) / sizeof(float) };

// Before a function: compile it for AVX-512, or for AVX2, whatever the rest of the file is compiled for. Before a loop
// of few steps: write all of them out, so that arrays indexed by it can stay in registers.
#define SIMD_INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__clang__)
#define SIMD_512 __attribute__((target("avx512f"), min_vector_width(512))) // else Clang makes two of 256 bits of it
#elif defined(__x86_64__)
#define SIMD_512 __attribute__((target("avx512f")))
#else
#define SIMD_512
#endif
#if defined(__x86_64__)
#define SIMD_256 __attribute__((target("avx2,fma")))
#else
#define SIMD_256
#endif
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

// Reads, or writes, 16 floats at any address.
SIMD_INLINE floats simd_load(const float *from)
{
    floats value;
    memcpy(&value, from, sizeof value);
    return value;
}
SIMD_INLINE void simd_store(float *to, floats value) { memcpy(to, &value, sizeof value); }

// Prefetches the line of the cache that an address lies in, and nothing waits for it: into the second cache, to be read
// later on, or into the first, to be written soon. Any address will do.
SIMD_INLINE void simd_prefetch(const float *at) { __builtin_prefetch(at, 0, 2); }
SIMD_INLINE void simd_prefetch_write(const float *at) { __builtin_prefetch(at, 1); }

// Returns how many bits the widest vectors have that this CPU and its system offer, at most `limit` (0: no limit): 512
// (AVX-512), 256 (AVX2 with FMA), or 128.
#if defined(__x86_64__)
#include <cpuid.h>
static int simd_width(int limit)
{
    unsigned a = 0, b = 0, c = 0, d = 0, saved = 0, high;
    if (__get_cpuid(1, &a, &b, &c, &d) && c >> 27 & 1) // whether xgetbv can list the registers that the system saves
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    int fma = c >> 12 & 1;
    int has256 = 0, has512 = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        has256 = fma && b >> 5 & 1 && (saved & 0x06) == 0x06;
        has512 = has256 && b >> 16 & 1 && (saved & 0xe6) == 0xe6;
    }
    int most = has512 ? 512 : has256 ? 256 : 128;
    return limit && limit < most ? limit : most;
}
#else
static int simd_width(int limit)
{
    (void)limit;
    return 128;
}
#endif
