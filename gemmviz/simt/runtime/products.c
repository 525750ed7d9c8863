#include "products.h"
#include "kernel_calls/wmma.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Scaled as a float, whose exponent has 112 more.
static inline float from_half(uint16_t bits)
{
    float size = from_bits((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
    uint32_t all;
    memcpy(&all, &size, sizeof all);
    if ((bits & 0x7c00) == 0x7c00) all |= 0x7f800000;
    return from_bits(all | (uint32_t)(bits & 0x8000) << 16);
}

// An 8-bit float with 4 bits for the exponent and 3 after the point; it has no infinity, and one NaN of each sign.
// (PTX ISA, "Alternate Floating-Point Data Formats".)
static float from_e4m3(uint8_t bits)
{
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    if (exponent == 15 && fraction == 7) return from_bits(0x7fffffff);
    float size = exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return bits >> 7 ? -size : size;
}

// An 8-bit float that is the upper byte of a half.
static float from_e5m2(uint8_t bits) { return from_half((uint16_t)(bits << 8)); }

static const float *small_floats(int type)
{
    static float e4m3[256], e5m2[256];
    if (!e4m3[1])
        for (int i = 0; i < 256; i++) {
            e4m3[i] = from_e4m3((uint8_t)i);
            e5m2[i] = from_e5m2((uint8_t)i);
        }
    return type == GV_E4M3 ? e4m3 : e5m2;
}

// By the processor's own instruction where there is one; `fast` is a constant.
static inline __attribute__((always_inline)) double of_half(uint16_t bits, int fast)
{
#if defined(__x86_64__)
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    if (fast) return (double)(float)half;
#endif
    return from_half(bits);
}

// Converts the elements at each `from[lane]`; element i becomes to[at[lane][i]]. A tf32 operand that was not rounded
// loses the bits after its tenth: the hardware ignores them.
#define EACH(type, value) \
    for (uint32_t lane = 0; lane < lanes; lane++) \
        for (uint32_t i = 0; i < count; i++) { \
            type x; \
            memcpy(&x, (const char *)from[lane] + i * sizeof x, sizeof x); \
            to[at ? at[lane][i] : i * step] = value; \
        } \
    return;
static inline __attribute__((always_inline)) void convert(double *to, uint32_t step,
    const uint16_t (*at)[GV_MOST_ELEMENTS], const void *const *from, uint32_t lanes, uint32_t count, int type, int fast)
{
    const float *floats = type == GV_E4M3 || type == GV_E5M2 ? small_floats(type) : NULL;
    switch (type) {
    case GV_HALF: EACH(uint16_t, of_half(x, fast))
    case GV_BFLOAT16: EACH(uint16_t, from_bits((uint32_t)x << 16))
    case GV_FLOAT: EACH(float, x)
    case GV_TF32: EACH(uint32_t, from_bits(x & 0xffffe000))
    case GV_S8: EACH(int8_t, x)
    case GV_U8: EACH(uint8_t, x)
    case GV_DOUBLE: EACH(double, x)
    case GV_E4M3:
    case GV_E5M2: EACH(uint8_t, floats[x])
    default: EACH(int32_t, x)
    }
}
#undef EACH

enum { ROWS = 4, WIDE = 4 };
typedef double wide __attribute__((vector_size(WIDE * sizeof(double)), aligned(sizeof(double))));

static inline __attribute__((always_inline)) void add(
    double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    for (uint32_t row = 0; row < rows; row += ROWS)
        for (uint32_t column = 0; column < columns; column += 2 * WIDE) {
            wide s[ROWS][2];
            for (uint32_t r = 0; r < ROWS; r++) {
                s[r][0] = *(const wide *)&sum[(row + r) * columns + column];
                s[r][1] = *(const wide *)&sum[(row + r) * columns + column + WIDE];
            }
            for (uint32_t k = 0; k < depth; k++) {
                wide low = *(const wide *)&b[k * columns + column];
                wide high = *(const wide *)&b[k * columns + column + WIDE];
                for (uint32_t r = 0; r < ROWS; r++) {
                    double x = a[(row + r) * depth + k];
                    wide all = {x, x, x, x};
                    s[r][0] += all * low;
                    s[r][1] += all * high;
                }
            }
            for (uint32_t r = 0; r < ROWS; r++) {
                *(wide *)&sum[(row + r) * columns + column] = s[r][0];
                *(wide *)&sum[(row + r) * columns + column + WIDE] = s[r][1];
            }
        }
}

#if defined(__x86_64__)
#define GV_AVX2 __attribute__((target("avx2,fma,f16c")))
static GV_AVX2 void add_by_avx2(
    double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    add(sum, a, b, rows, columns, depth);
}

static GV_AVX2 void convert_by_avx2(double *to, uint32_t step, const void *from, uint32_t count, int type)
{
    convert(to, step, NULL, &from, 1, count, type, 1);
}

static GV_AVX2 void tile_by_avx2(
    double *tile, const uint16_t (*at)[GV_MOST_ELEMENTS], const void *const *from, uint32_t count, int type)
{
    convert(tile, 0, at, from, GV_WARP, count, type, 1);
}

// Whether the processor has AVX2, FMA and F16C, and the system keeps their registers.
static int has_avx2(void)
{
    static int known;
    unsigned a, b, c, d, low = 0, high;
    if (known) return known > 1;
    known = 1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || ~c & (bit_FMA | bit_F16C | bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2) known = 2;
    return known > 1;
}
#endif

void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        add_by_avx2(sum, a, b, rows, columns, depth);
        return;
    }
#endif
    add(sum, a, b, rows, columns, depth);
}

void gv_to_doubles(double *to, uint32_t step, const void *from, uint32_t count, int type)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        convert_by_avx2(to, step, from, count, type);
        return;
    }
#endif
    convert(to, step, NULL, &from, 1, count, type, 0);
}

void gv_to_tile(double *tile, const uint16_t at[GV_WARP][GV_MOST_ELEMENTS], const void *const from[GV_WARP],
    uint32_t count, int type)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        tile_by_avx2(tile, at, from, count, type);
        return;
    }
#endif
    convert(tile, 0, at, from, GV_WARP, count, type, 0);
}
