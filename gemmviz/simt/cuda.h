// CUDA's words for a C++ compiler that knows none of them: a kernel's source compiles for the CPU as it stands.
// It is included before the kernel. Whatever is not declared here is refused by name, by the compiler.
#pragma once

// Clang's C++ library asks __has_attribute(__noinline__), which no macro of that name survives: let it ask first.
#if __has_include(<__config>)
#include <__config>
#endif

typedef __SIZE_TYPE__ size_t;

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// Functions rather than variables: reading an index must not be recorded as an access to memory.
// They never change while a thread runs, hence `const`: the compiler asks once.
extern "C" uint3 gv_thread_index(void) noexcept __attribute__((const));
extern "C" uint3 gv_block_index(void) noexcept __attribute__((const));
extern "C" uint3 gv_block_shape(void) noexcept __attribute__((const));
extern "C" uint3 gv_grid_shape(void) noexcept __attribute__((const));
// Two barriers in the source stay two: which of them a thread waits at is part of what is recorded.
#if defined(__clang__)
extern "C" void gv_barrier(void) noexcept __attribute__((nomerge, convergent));
#else
extern "C" void gv_barrier(void) noexcept;
#endif

#define threadIdx gv_thread_index()
#define blockIdx gv_block_index()
#define blockDim dim3(gv_block_shape())
#define gridDim dim3(gv_grid_shape())
#define warpSize 32

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
// Empty, as the system's own headers say __attribute__((__noinline__)).
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __constant__ static
// One copy per OS thread, and a block runs on one OS thread: this is what "shared by a block" means here.
// The arrays stand far apart, so that an index which runs out of one does not land in the next.
#define __shared__ thread_local __attribute__((aligned(65536)))

#define __syncthreads() gv_barrier()

// Without debug information of its own, what is inlined counts as the kernel's line that calls it.
#if defined(__clang__)
#define GV_METHOD inline __attribute__((always_inline, nodebug))
#else
#define GV_METHOD inline __attribute__((always_inline, artificial))
#endif
#define GV_DEVICE static GV_METHOD

template <class T> GV_DEVICE T __ldg(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldcg(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldcs(const T *p) { return *p; }
template <class T> GV_DEVICE void __stcg(T *p, T v) { *p = v; }
template <class T> GV_DEVICE void __stcs(T *p, T v) { *p = v; }

#include "cuda_math.h"
#include "cuda_vector.h"
#include "cuda_warp.h"
#include "cuda_atomic.h"

// A pointer argument whose type the kernel's own prototype decides.
struct gv_pointer {
    void *p;
    template <class T> operator T *() const { return (T *)p; }
};
