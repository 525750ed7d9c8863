// The arithmetic functions that CUDA has without an include.
#pragma once

extern "C" { // the same declarations as in math.h, which a kernel may include
float fmaf(float a, float b, float c) noexcept;
float fminf(float a, float b) noexcept;
float fmaxf(float a, float b) noexcept;
float fabsf(float v) noexcept;
float sqrtf(float v) noexcept;
float expf(float v) noexcept;
float exp2f(float v) noexcept;
float logf(float v) noexcept;
float log2f(float v) noexcept;
float powf(float base, float exponent) noexcept;
float tanhf(float v) noexcept;
float erff(float v) noexcept;
float floorf(float v) noexcept;
float ceilf(float v) noexcept;
float truncf(float v) noexcept;
float rintf(float v) noexcept;
float fmodf(float a, float b) noexcept;
float copysignf(float a, float b) noexcept;
float roundf(float v) noexcept;
float sinf(float v) noexcept;
float cosf(float v) noexcept;
float cbrtf(float v) noexcept;
float log1pf(float v) noexcept;
float expm1f(float v) noexcept;
float log10f(float v) noexcept;
float hypotf(float a, float b) noexcept;
double ceil(double v) noexcept;
double floor(double v) noexcept;
double round(double v) noexcept;
double trunc(double v) noexcept;
double rint(double v) noexcept;
double exp(double v) noexcept;
double log(double v) noexcept;
double pow(double base, double exponent) noexcept;
double log2(double v) noexcept;
double tanh(double v) noexcept;
double fmod(double a, double b) noexcept;
double fma(double a, double b, double c) noexcept;
double fmin(double a, double b) noexcept;
double fmax(double a, double b) noexcept;
double fabs(double v) noexcept;
double sqrt(double v) noexcept;
int abs(int v) noexcept;
void *memset(void *to, int byte, size_t bytes) noexcept;
void *memcpy(void *to, const void *from, size_t bytes) noexcept;
}
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")

template <class T> GV_DEVICE T min(T a, T b) { return b < a ? b : a; }
template <class T> GV_DEVICE T max(T a, T b) { return a < b ? b : a; }
GV_DEVICE unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
GV_DEVICE unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
GV_DEVICE unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
GV_DEVICE unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
// The product of two floats is exact in double, so the result is rounded once. The cast rounds ties to even.
GV_DEVICE float gv_next(float v, float towards) { return __builtin_nextafterf(v, towards); }
GV_DEVICE float __fmul_rn(float a, float b) { return a * b; }
GV_DEVICE float __fmul_rd(float a, float b)
{
    double exact = (double)a * b;
    float near = (float)exact;
    return near > exact ? gv_next(near, -__builtin_inff()) : near;
}
GV_DEVICE float __fmul_ru(float a, float b)
{
    double exact = (double)a * b;
    float near = (float)exact;
    return near < exact ? gv_next(near, __builtin_inff()) : near;
}
GV_DEVICE float __fmul_rz(float a, float b) { return (double)a * b < 0 ? __fmul_ru(a, b) : __fmul_rd(a, b); }
// Macros, because headers of the C library declare functions with these names.
#define __expf(v) expf(v)
#define __logf(v) logf(v)
#define __powf(base, exponent) powf(base, exponent)
GV_DEVICE float __frsqrt_rn(float v) { return 1 / sqrtf(v); }
// The same declarations as in newer C libraries.
extern "C" GV_METHOD float rsqrtf(float v) noexcept { return 1 / sqrtf(v); }
extern "C" GV_METHOD double rsqrt(double v) noexcept { return 1 / sqrt(v); }
GV_DEVICE float __fadd_rn(float a, float b) { return a + b; }
GV_DEVICE float __fsub_rn(float a, float b) { return a - b; }
GV_DEVICE float __fdiv_rn(float a, float b) { return a / b; }
GV_DEVICE float __frcp_rn(float v) { return 1 / v; }
GV_DEVICE float __fsqrt_rn(float v) { return sqrtf(v); }
GV_DEVICE float __saturatef(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }
GV_DEVICE double __dadd_rn(double a, double b) { return a + b; }
GV_DEVICE double __dmul_rn(double a, double b) { return a * b; }
GV_DEVICE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
GV_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GV_DEVICE float __fdividef(float a, float b) { return a / b; }
GV_DEVICE int __mul24(int a, int b) { return a * b; }
GV_DEVICE int __float2int_rn(float v) { return (int)__builtin_rintf(v); }
GV_DEVICE int __float2int_rz(float v) { return (int)v; }
GV_DEVICE int __float2int_rd(float v) { return (int)floorf(v); }
GV_DEVICE int __float2int_ru(float v) { return (int)ceilf(v); }
GV_DEVICE int __double2int_rn(double v) { return (int)__builtin_rint(v); }
GV_DEVICE float __int2float_rn(int v) { return (float)v; }
GV_DEVICE float __uint2float_rn(unsigned v) { return (float)v; }
GV_DEVICE int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
GV_DEVICE unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
GV_DEVICE float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
GV_DEVICE float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
GV_DEVICE unsigned __umul24(unsigned a, unsigned b) { return a * b; }
GV_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
GV_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
GV_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
GV_DEVICE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
GV_DEVICE int __ffsll(long long v) { return __builtin_ffsll(v); }
// The sum of four products of bytes.
GV_DEVICE int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (signed char)(b >> i);
    return c;
}
GV_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
    return c;
}
GV_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
GV_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
GV_DEVICE int __ffs(int v) { return __builtin_ffs(v); }
