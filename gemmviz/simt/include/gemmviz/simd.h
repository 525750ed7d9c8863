// gemmviz/simd.h for the recorder. It models a CPU with vectors of 256 bits, unless a kernel sets another width, so
// that the recording is the same on every machine.
//
// A vector of 16 floats moves as on that CPU: one access for each register that it needs, of 64, 32 or 16 bytes. A
// prefetch is no access.
#pragma once
#include "../../runtime/kernel_calls/c_kernels.h"
#include <stdint.h>
#include <string.h>

typedef float floats __attribute__((vector_size(64)));
enum { FLOATS = sizeof(floats) / sizeof(float) };

#define SIMD_INLINE static inline __attribute__((always_inline))
#define SIMD_512
#define SIMD_256
#define SIMD_UNROLL

#define GV_VECTOR static __attribute__((noinline, no_sanitize("thread")))
#define GV_VECTOR_PC ((uintptr_t)__builtin_return_address(0) - 1)
static int gv_vector_bits = 256;

GV_VECTOR floats simd_load(const float *from)
{
    floats value;
    int bytes = gv_vector_bits / 8;
    for (int done = 0; done < (int)sizeof value; done += bytes) {
        gv_vector_access((const char *)from + done, bytes, 0, GV_VECTOR_PC);
        memcpy((char *)&value + done, (const char *)from + done, bytes);
    }
    return value;
}

// Each part is written before the next access is reported, because the next access reads the value of this one.
GV_VECTOR void simd_store(float *to, floats value)
{
    int bytes = gv_vector_bits / 8;
    for (int done = 0; done < (int)sizeof value; done += bytes) {
        gv_vector_access((char *)to + done, bytes, 1, GV_VECTOR_PC);
        memcpy((char *)to + done, (char *)&value + done, bytes);
    }
}

// In parts of a register, a half, a quarter, as long as they fit: 14 floats are 32, 16 and 8 bytes.
GV_VECTOR void simd_store_first(float *to, floats value, int count)
{
    int bytes = gv_vector_bits / 8, all = count * (int)sizeof(float);
    for (int done = 0; done < all; done += bytes) {
        while (done + bytes > all)
            bytes /= 2;
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

SIMD_INLINE int simd_width(int limit)
{
    return gv_vector_bits = limit >= 512 ? 512 : !limit || limit >= 256 ? 256 : 128;
}
