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
float exp10f(float v) noexcept;
float tanf(float v) noexcept;
float asinf(float v) noexcept;
float acosf(float v) noexcept;
float atanf(float v) noexcept;
float atan2f(float y, float x) noexcept;
float sinhf(float v) noexcept;
float coshf(float v) noexcept;
float erfcf(float v) noexcept;
float nearbyintf(float v) noexcept;
float ldexpf(float v, int exponent) noexcept;
void sincosf(float v, float *sine, float *cosine) noexcept;
long lroundf(float v) noexcept;
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
double sin(double v) noexcept;
double cos(double v) noexcept;
double tan(double v) noexcept;
double sinh(double v) noexcept;
double cosh(double v) noexcept;
double erf(double v) noexcept;
double log1p(double v) noexcept;
double cbrt(double v) noexcept;
double nearbyint(double v) noexcept;
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
// Variadic, so that functions of the C++ library with these names are preferred.
template <class T, class... None> GV_DEVICE bool isnan(T v, None...) { return v != v; }
template <class T, class... None> GV_DEVICE bool isinf(T v, None...) { return v == v && v - v != 0; }
template <class T, class... None> GV_DEVICE bool isfinite(T v, None...) { return v - v == 0; }
template <class T, class... None> GV_DEVICE bool signbit(T v, None...) { return __builtin_signbit((double)v); }
// Macros, because headers of the C library declare functions with these names.
#define __expf(v) expf(v)
#define __exp10f(v) exp10f(v)
#define __logf(v) logf(v)
#define __log2f(v) log2f(v)
#define __log10f(v) log10f(v)
#define __powf(base, exponent) powf(base, exponent)
#define __sinf(v) sinf(v)
#define __cosf(v) cosf(v)
#define __tanf(v) tanf(v)
#define __tanhf(v) tanhf(v)
#define __sincosf(v, sine, cosine) sincosf(v, sine, cosine)
// The same declarations as in newer C libraries.
extern "C" GV_METHOD float rsqrtf(float v) noexcept { return 1 / sqrtf(v); }
extern "C" GV_METHOD double rsqrt(double v) noexcept { return 1 / sqrt(v); }
GV_DEVICE float __saturatef(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }
GV_DEVICE float __fdividef(float a, float b) { return a / b; }
GV_DEVICE float fdividef(float a, float b) { return a / b; }
