// gemmviz/simd.h for the recorder. It models a CPU with vectors of 256 bits, unless a kernel sets another width, so
// that the recording is the same on every machine. A vector is one access; a prefetch is none.
#pragma once
#include "../../runtime/kernel_calls/c_kernels.h"
#include <stdint.h>
#include <string.h>

#if defined(BITS) && BITS >= 512
#define SIMD_BITS 512
#elif !defined(BITS) || BITS == 0 || BITS >= 256
#define SIMD_BITS 256
#else
#define SIMD_BITS 128
#endif

typedef float floats __attribute__((vector_size(SIMD_BITS / 8)));
enum { FLOATS = SIMD_BITS / 32, SIMD_LINE = 16, SIMD_REGISTERS = SIMD_BITS == 512 ? 32 : 16 };

#define SIMD_INLINE static inline __attribute__((always_inline))
#define SIMD_UNROLL

#define GV_VECTOR static __attribute__((noinline, no_sanitize("thread")))
#define GV_VECTOR_PC ((uintptr_t)__builtin_return_address(0) - 1)

GV_VECTOR floats simd_load(const float *from)
{
    floats value;
    gv_vector_access(from, sizeof value, 0, GV_VECTOR_PC);
    memcpy(&value, from, sizeof value);
    return value;
}

GV_VECTOR void simd_store(float *to, floats value)
{
    gv_vector_access(to, sizeof value, 1, GV_VECTOR_PC);
    memcpy(to, &value, sizeof value);
}

// In parts of a register, a half, a quarter, as long as they fit: 14 floats are 32, 16 and 8 bytes. Each part is
// written before the next access is reported, because the next access reads the value of this one.
GV_VECTOR void simd_store_first(float *to, floats value, int count)
{
    int bytes = sizeof value, all = count * (int)sizeof(float);
    for (int done = 0; done < all; done += bytes) {
        while (done + bytes > all) bytes /= 2;
        gv_vector_access((char *)to + done, bytes, 1, GV_VECTOR_PC);
        memcpy((char *)to + done, (char *)&value + done, bytes);
    }
}

// In registers: no access.
__attribute__((no_sanitize("thread"))) static void simd_transpose(floats row[FLOATS])
{
    for (int i = 0; i < FLOATS; i++) {
        for (int j = 0; j < i; j++) {
            float kept = row[i][j];
            row[i][j] = row[j][i];
            row[j][i] = kept;
        }
    }
}

SIMD_INLINE void simd_prefetch(const float *at) { (void)at; }
SIMD_INLINE void simd_prefetch_write(const float *at) { (void)at; }
