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

// Turns 16 rows of 16 floats into columns: row[i][j] and row[j][i] change places. In four steps two rows exchange eight
// neighbours each, then four, two and one; all of it stays in registers.
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SIMD_LIST(...) __VA_ARGS__
#define SIMD_EXCHANGE(apart, upper, lower)                                                                              \
    SIMD_UNROLL for (int i = 0; i < FLOATS; i++)                                                                        \
    {                                                                                                                   \
        if (i & apart)                                                                                                  \
            continue;                                                                                                   \
        floats a = row[i], b = row[i + apart];                                                                          \
        row[i] = __builtin_shufflevector(a, b, SIMD_LIST upper);                                                        \
        row[i + apart] = __builtin_shufflevector(a, b, SIMD_LIST lower);                                                \
    }
#endif
#endif

// Writes the first `count` floats of a vector: by 8, 4, 2 and 1. GCC would write all 16 to the stack, and copy them.
SIMD_INLINE void simd_store_first(float *to, floats value, int count)
{
#ifdef SIMD_EXCHANGE
    typedef float eight __attribute__((vector_size(32)));
    typedef float four __attribute__((vector_size(16)));
    eight half = __builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7);
    if (count & 8) {
        memcpy(to, &half, sizeof half);
        half = __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    four quarter = __builtin_shufflevector(half, half, 0, 1, 2, 3);
    if (count & 4) {
        memcpy(to + (count & 8), &quarter, sizeof quarter);
        quarter = __builtin_shufflevector(half, half, 4, 5, 6, 7);
    }
    memcpy(to + (count & 12), &quarter, (count & 3) * sizeof(float));
#else
    memcpy(to, &value, count * sizeof(float));
#endif
}

SIMD_INLINE void simd_transpose(floats row[FLOATS])
{
#ifdef SIMD_EXCHANGE
    SIMD_EXCHANGE(8, (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                  (8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
    SIMD_EXCHANGE(4, (0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
                  (4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
    SIMD_EXCHANGE(2, (0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                  (2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
    SIMD_EXCHANGE(1, (0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
                  (1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
#else
    for (int i = 0; i < FLOATS; i++)
        for (int j = 0; j < i; j++) {
            float kept = row[i][j];
            row[i][j] = row[j][i];
            row[j][i] = kept;
        }
#endif
}

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
