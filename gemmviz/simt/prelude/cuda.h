// CUDA's words for a plain C++ compiler, so that the unchanged source of a kernel compiles for the CPU.
// It is included before the kernel. The compiler refuses a word of CUDA that is not declared here, with its name.
#pragma once

// Clang's C++ library tests __has_attribute(__noinline__), which fails after a macro of that name: include it before.
#if __has_include(<__config>)
#include <__config>
#endif

// Words that nvcc takes from the headers of the host.
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <type_traits>
typedef __SIZE_TYPE__ size_t;
typedef unsigned long ulong;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;

// Of cuBLAS, for kernels that take its words for layouts.
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };

// A file tests these macros for nvcc and for the GPU: here they stand for a GPU with all features.
#define __CUDACC__ 1
#define __NVCC__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

// The output of a kernel is dropped: its lines would have another order than on a GPU.
extern "C" inline __attribute__((visibility("hidden"), no_sanitize("thread"))) int printf(const char *, ...)
{
    return 0;
}
#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#endif

#include "../runtime/kernel_calls/threads.h"
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// Functions and not variables, because a read of an index must not be recorded as an access to memory.
#define threadIdx gv_thread_index()
#ifdef GV_BATCH_COUNT
#define blockIdx gv_block()
#define gridDim dim3(gv_grid())
#else
#define blockIdx gv_block_index()
#define gridDim dim3(gv_grid_shape())
#endif
#define blockDim dim3(gv_block_shape())
// A variable and no macro, because kernels also declare a constant of this name.
static constexpr int warpSize = 32;

#define __global__
#define __device__
#define __managed__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
// Empty, because the headers of the system use __attribute__((__noinline__)).
#define __noinline__
#ifdef GV_SHARED_START // see checking/shared_alignment.py
#define __align__(bytes) __attribute__((aligned((bytes) < GV_SHARED_START ? (bytes) : GV_SHARED_START)))
#else
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#define gvalign __align__ // see build.py
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __nv_pure__
// Words of CUDA's own headers, which kernels copy.
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_align__ __align__
#define __grid_constant__
#define __constant__ static
// There is one copy per OS thread, and a block runs on one OS thread: so the block shares the array.
// The arrays are far apart, so that an index out of bounds of one array does not reach the next array.
#ifdef GV_SHARED_START // they follow the anchor of build.py, which has so many bytes
#define __shared__ thread_local __attribute__((aligned(GV_SHARED_START)))
#else
#define __shared__ thread_local __attribute__((aligned(65536)))
#endif

#define __syncthreads() gv_barrier()
// Without its brackets it is a statement that does nothing, which nvcc takes, too: the barrier is missing then.
static constexpr struct {
} __syncthreads;

// Inlined code without debug information gets the line of the call in the kernel.
#if defined(__clang__)
#define GV_METHOD inline __attribute__((always_inline, nodebug))
#else
#define GV_METHOD inline __attribute__((always_inline, artificial))
#endif
#define GV_DEVICE static GV_METHOD

// __syncthreads, and how many threads said yes.
GV_DEVICE int __syncthreads_count(int yes) { return (int)gv_barrier_votes(0, 0, yes); }
GV_DEVICE int __syncthreads_and(int yes) { return gv_barrier_votes(0, 0, !yes) == 0; }
GV_DEVICE int __syncthreads_or(int yes) { return gv_barrier_votes(0, 0, yes) != 0; }

// Of a batch, the blocks of one entry are recorded: they are the grid of the recording, and one layer of the kernel's.
#ifdef GV_BATCH_COUNT
GV_DEVICE uint3 gv_block() { return {gv_block_index().x, gv_block_index().y, GV_BATCH_ENTRY}; }
GV_DEVICE uint3 gv_grid() { return {gv_grid_shape().x, gv_grid_shape().y, GV_BATCH_COUNT}; }
#else
GV_DEVICE uint3 gv_block() { return gv_block_index(); }
GV_DEVICE uint3 gv_grid() { return gv_grid_shape(); }
#endif

// A false assertion ends the run; the message has the line and the thread.
#undef NDEBUG
#define __assert_fail gv_assert_fail
#include <assert.h>
extern "C" GV_METHOD void gv_assert_fail(const char *, const char *, unsigned, const char *) noexcept
{
    gv_assertion();
}

template <class T> GV_DEVICE T __ldg(const T *p) { return *p; }
// Caches are not recorded: a load or store with a cache hint is one access.
template <class T> GV_DEVICE T __ldca(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldcg(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldcs(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldlu(const T *p) { return *p; }
template <class T> GV_DEVICE T __ldcv(const T *p) { return *p; }
template <class T, class V> GV_DEVICE void __stwb(T *p, const V &v) { *p = v; }
template <class T, class V> GV_DEVICE void __stwt(T *p, const V &v) { *p = v; }
template <class T, class V> GV_DEVICE void __stcg(T *p, const V &v) { *p = v; }
template <class T, class V> GV_DEVICE void __stcs(T *p, const V &v) { *p = v; }

// A fence orders accesses for other threads, and no thread waits at it. The recorder keeps the order of each thread
// anyway. Fences that other blocks can rely on are reported.
GV_DEVICE void __threadfence() { gv_thread_fence(); }
GV_DEVICE void __threadfence_block() {}
GV_DEVICE void __threadfence_system() { gv_thread_fence(); }
GV_DEVICE void __nanosleep(unsigned) {}
GV_DEVICE long long clock64() { return 0; }
GV_DEVICE int clock() { return 0; }
GV_DEVICE void __trap() { gv_trap(); }
GV_DEVICE void __brkpt() {}

// All addresses are generic here: there are no separate windows for kinds of memory.
GV_DEVICE size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
// The compiler's own name for it, which a file declares itself.
extern "C" GV_METHOD unsigned __nvvm_get_smem_pointer(void *p) { return (unsigned)(size_t)p; }
GV_DEVICE size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
GV_DEVICE void *__cvta_shared_to_generic(size_t p) { return (void *)p; }

#include "cuda_math.h"
#include "cuda_conversions.h"
#include "whole_numbers.h"
#include "cuda_vector.h"
#include "cuda_warp.h"
#include "cuda_atomic.h"

// A number as a member of a structure. It converts as a cast does, where a plain number in braces must not be narrowed.
template <class N> struct gv_number {
    N n;
    template <class T, class = decltype(static_cast<T>(N()))> operator T() const { return static_cast<T>(n); }
    template <class T> operator T *() const { return (T *)(size_t)n; }
};
// A pointer argument. The prototype of the kernel decides its type.
#define GV_INLINE __attribute__((always_inline, no_sanitize("thread")))
struct gv_pointer {
    void *p;
    template <class T> GV_INLINE operator T *() const { return (T *)p; }
};
template <class T> struct gv_without_const {
    typedef T type;
};
template <class T> struct gv_without_const<const T> {
    typedef T type;
};
// A pointer to a structure that is filled in; it lives as long as the run. The kernel's prototype decides its type.
template <class F> struct gv_made_by {
    F fill;
    template <class T> operator T *() const
    {
        static typename gv_without_const<T>::type made;
        fill(&made);
        return &made;
    }
};
template <class F> gv_made_by<F> gv_made(F fill)
{
    return {fill};
}
template <int Bytes> struct gv_if_map {};
template <> struct gv_if_map<128> {
    typedef int type;
};
// A tensor map, by value, by reference or by a pointer. The prototype of the kernel decides its type.
struct gv_tensor_map_at {
    void *p;
    template <class T, typename gv_if_map<sizeof(T)>::type = 0> GV_INLINE operator T &() const { return *(T *)p; }
    template <class T> GV_INLINE operator T *() const { return (T *)p; }
};
