// Vectors of C as wide as a register of the CPU.
//
// `floats` is a vector of GCC and Clang: + and * work element by element, a float counts as FLOATS equal ones, and
// a * b + c becomes one instruction where the CPU has one. It is one register: of 512 bits (AVX-512), 256 (AVX2 with
// FMA) or 128 (SSE, NEON), as wide as the compiler may use. BITS of a kernel, if it is not 0, is the most.
// GCC keeps a vector that is wider than a register in memory, and is then ten times slower.
#pragma once
#include <string.h>

#if !defined(BITS) || BITS == 0
#define SIMD_MOST 512
#else
#define SIMD_MOST BITS
#endif
#if defined(__AVX512F__) && SIMD_MOST >= 512
#define SIMD_BITS 512
#elif defined(__AVX2__) && defined(__FMA__) && SIMD_MOST >= 256
#define SIMD_BITS 256
#else
#define SIMD_BITS 128
#endif

typedef float floats __attribute__((vector_size(SIMD_BITS / 8)));
enum { FLOATS = SIMD_BITS / 32, SIMD_LINE = 16 }; // of a vector, and of a line of the cache

// How many such registers a CPU has.
#if SIMD_BITS == 512 || defined(__aarch64__)
enum { SIMD_REGISTERS = 32 };
#else
enum { SIMD_REGISTERS = 16 };
#endif

// Before a function: it becomes a part of its callers. Before a loop of few steps: write all of them out, so that arrays
// indexed by it can stay in registers.
#define SIMD_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

// Reads, or writes, a vector at any address.
SIMD_INLINE floats simd_load(const float *from)
{
    floats value;
    memcpy(&value, from, sizeof value);
    return value;
}
SIMD_INLINE void simd_store(float *to, floats value) { memcpy(to, &value, sizeof value); }

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SIMD_SHUFFLES 1
#endif
#endif

// Writes the first `count` floats of a vector, in halves and quarters of it: a copy of 14 floats would go by way of the
// stack with GCC.
SIMD_INLINE void simd_store_first(float *to, floats value, int count)
{
    if (count >= FLOATS) {
        simd_store(to, value);
        return;
    }
#if defined(SIMD_SHUFFLES) && SIMD_BITS == 512
    typedef float eight __attribute__((vector_size(32)));
    eight half = __builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7);
    if (count & 8) {
        memcpy(to, &half, sizeof half);
        half = __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15);
        to += 8;
    }
#elif defined(SIMD_SHUFFLES) && SIMD_BITS == 256
    floats half = value;
#endif
#if defined(SIMD_SHUFFLES) && SIMD_BITS >= 256
    typedef float four __attribute__((vector_size(16)));
    four rest = __builtin_shufflevector(half, half, 0, 1, 2, 3);
    if (count & 4) {
        memcpy(to, &rest, sizeof rest);
        rest = __builtin_shufflevector(half, half, 4, 5, 6, 7);
        to += 4;
    }
    memcpy(to, &rest, (count & 3) * sizeof(float));
#else
    memcpy(to, &value, count * sizeof(float));
#endif
}

// Turns FLOATS rows of FLOATS floats into columns: row[i][j] and row[j][i] change places. In each step two rows exchange
// some neighbours: first a half of each row, at last every other float. All of it stays in registers.
#ifdef SIMD_SHUFFLES
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
SIMD_INLINE void simd_transpose(floats row[FLOATS])
{
#if defined(SIMD_SHUFFLES) && SIMD_BITS == 512
    SIMD_EXCHANGE(8, (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                  (8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
    SIMD_EXCHANGE(4, (0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
                  (4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
    SIMD_EXCHANGE(2, (0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                  (2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
    SIMD_EXCHANGE(1, (0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
                  (1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
#elif defined(SIMD_SHUFFLES) && SIMD_BITS == 256
    SIMD_EXCHANGE(4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
    SIMD_EXCHANGE(2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
    SIMD_EXCHANGE(1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15))
#elif defined(SIMD_SHUFFLES)
    SIMD_EXCHANGE(2, (0, 1, 4, 5), (2, 3, 6, 7))
    SIMD_EXCHANGE(1, (0, 4, 2, 6), (1, 5, 3, 7))
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
