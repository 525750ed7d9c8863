// Words that nvcc has from the host's headers, which NVRTC does not read. It stands in front of every kernel.
#pragma once
#include "cstdint"
#include "type_traits"
// Spellings of asm that nvcc takes from the host's compiler.
#define __asm__ asm
// nvcc reads over it; for NVRTC it is an error since C++17.
#define register
#define __volatile__ volatile
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define M_PI 3.14159265358979323846
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#include "float.h"
#include "limits.h"
// Of cuBLAS, for kernels that take its words for layouts.
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
namespace std {
typedef decltype(sizeof(0)) size_t;
template <class T> constexpr __host__ __device__ const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr __host__ __device__ const T &max(const T &a, const T &b) { return a < b ? b : a; }
using ::abs;
using ::ceil;
using ::cos;
using ::exp;
using ::exp2;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log2;
using ::pow;
using ::round;
using ::sin;
using ::sqrt;
using ::tanh;
using ::trunc;
}
