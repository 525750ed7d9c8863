// Elements of operands and sums as doubles. Adjacent ones are converted eight at a time: by themselves they take longer
// than the products do.
#include "elements.h"
#include "kernel_calls/wmma.h"
#include "processor.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
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

// Converts adjacent elements. A tf32 operand that was not rounded loses the bits after its tenth: the hardware ignores
// them.
#define EACH(type, value) \
    for (uint32_t i = 0; i < count; i++) { \
        type x; \
        memcpy(&x, (const char *)from + i * sizeof x, sizeof x); \
        to[i * step] = value; \
    } \
    return;
#define CONVERT(name, real) \
    static inline __attribute__((always_inline)) void name( \
        real *to, uint32_t step, const void *from, uint32_t count, int type, int fast) \
    { \
        const float *floats = type == GV_E4M3 || type == GV_E5M2 ? small_floats(type) : NULL; \
        switch (type) { \
        case GV_HALF: EACH(uint16_t, of_half(x, fast)) \
        case GV_BFLOAT16: EACH(uint16_t, from_bits((uint32_t)x << 16)) \
        case GV_FLOAT: EACH(float, x) \
        case GV_TF32: EACH(uint32_t, from_bits(x & 0xffffe000)) \
        case GV_S8: EACH(int8_t, x) \
        case GV_U8: EACH(uint8_t, x) \
        case GV_DOUBLE: EACH(double, x) \
        case GV_E4M3: \
        case GV_E5M2: EACH(uint8_t, floats[x]) \
        default: EACH(int32_t, x) \
        } \
    }
CONVERT(convert, double)
#if defined(__x86_64__)
CONVERT(convert_to_floats, float)
#endif
#undef CONVERT
#undef EACH

#if defined(__x86_64__)
static GV_AVX2 inline void put_eight(double *to, __m256 eight)
{
    _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(eight)));
    _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(eight, 1)));
}

static GV_AVX2 inline void put_eight_floats(float *to, __m256 eight) { _mm256_storeu_ps(to, eight); }

// Eight 8-bit floats: as halves, whose exponent has 8 more for GV_E4M3.
static GV_AVX2 inline __m256 eight_small(const uint8_t *from, int type)
{
    __m128i wide = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)from));
    if (type == GV_E5M2) return _mm256_cvtph_ps(_mm_slli_epi16(wide, 8));
    __m128i sign = _mm_slli_epi16(_mm_and_si128(wide, _mm_set1_epi16(0x80)), 8);
    __m128i size = _mm_and_si128(wide, _mm_set1_epi16(0x7f)), none = _mm_cmpeq_epi16(size, _mm_set1_epi16(0x7f));
    __m256 found = _mm256_cvtph_ps(_mm_or_si128(sign, _mm_slli_epi16(size, 7)));
    found = _mm256_mul_ps(found, _mm256_set1_ps(0x1p8f));
    __m256 no_number = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_ps(found, no_number, _mm256_castsi256_ps(_mm256_cvtepi16_epi32(none)));
}

#define BY_AVX2(name, real, put, convert) \
    static GV_AVX2 void name(real *to, uint32_t step, const void *from, uint32_t count, int type) \
    { \
        uint32_t i = 0; \
        if (step == 1 && type == GV_HALF) { \
            for (; i + 8 <= count; i += 8) \
                put(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((const uint16_t *)from + i)))); \
        } else if (step == 1 && type == GV_BFLOAT16) { \
            for (; i + 8 <= count; i += 8) { \
                __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)((const uint16_t *)from + i))); \
                put(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))); \
            } \
        } else if (step == 1 && (type == GV_FLOAT || type == GV_TF32)) { \
            __m256 kept = _mm256_castsi256_ps(_mm256_set1_epi32(type == GV_TF32 ? (int)0xffffe000 : -1)); \
            for (; i + 8 <= count; i += 8) \
                put(to + i, _mm256_and_ps(_mm256_loadu_ps((const float *)from + i), kept)); \
        } else if (step == 1 && (type == GV_E4M3 || type == GV_E5M2)) { \
            for (; i + 8 <= count; i += 8) put(to + i, eight_small((const uint8_t *)from + i, type)); \
        } \
        if (i < count) \
            convert(to + i * step, step, (const char *)from + (size_t)i * gv_itemsize(type), count - i, type, 1); \
    }
BY_AVX2(convert_by_avx2, double, put_eight, convert)
BY_AVX2(convert_to_floats_by_avx2, float, put_eight_floats, convert_to_floats)
#undef BY_AVX2

static GV_AVX2 void round_by_avx2(float *to, const double *from, uint32_t count)
{
    for (uint32_t i = 0; i + 4 <= count; i += 4) _mm_storeu_ps(to + i, _mm256_cvtpd_ps(_mm256_loadu_pd(from + i)));
    for (uint32_t i = count / 4 * 4; i < count; i++) to[i] = (float)from[i];
}
#endif

void gv_to_doubles(double *to, uint32_t step, const void *from, uint32_t count, int type)
{
#if defined(__x86_64__)
    if (gv_has_avx2()) {
        convert_by_avx2(to, step, from, count, type);
        return;
    }
#endif
    convert(to, step, from, count, type, 0);
}

#if defined(__x86_64__)
void gv_as_floats(float *to, uint32_t step, const void *from, uint32_t count, int type)
{
    convert_to_floats_by_avx2(to, step, from, count, type);
}

// Eight columns of eight elements with 16 bits each.
static GV_AVX2 void eight_columns(float *to, uint32_t step, const void *const from[GV_COLUMNS], int type)
{
    __m256 column[8], pair[8], four[8];
    for (int c = 0; c < 8; c++) {
        __m128i bits = _mm_loadu_si128(from[c]);
        column[c] = type == GV_HALF ? _mm256_cvtph_ps(bits)
                                    : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
    }
    for (int c = 0; c < 8; c += 2) {
        pair[c] = _mm256_unpacklo_ps(column[c], column[c + 1]);
        pair[c + 1] = _mm256_unpackhi_ps(column[c], column[c + 1]);
    }
    for (int c = 0; c < 8; c += 4)
        for (int i = 0; i < 2; i++) {
            four[c + 2 * i] = _mm256_shuffle_ps(pair[c + i], pair[c + 2 + i], 0x44);
            four[c + 2 * i + 1] = _mm256_shuffle_ps(pair[c + i], pair[c + 2 + i], 0xee);
        }
    for (uint32_t i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + i * step, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * step, _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

GV_AVX2 void gv_as_columns(float *to, uint32_t step, const void *const from[GV_COLUMNS], uint32_t count, int type)
{
    if (count == 8 && (type == GV_HALF || type == GV_BFLOAT16)) {
        eight_columns(to, step, from, type);
        return;
    }
    float all[GV_COLUMNS][16];
    for (uint32_t c = 0; c < GV_COLUMNS; c++) convert_to_floats_by_avx2(all[c], 1, from[c], count, type);
    for (uint32_t c = 0; c < GV_COLUMNS; c += 4)
        for (uint32_t i = 0; i < count; i += 4) {
            __m128 r[4];
            for (int k = 0; k < 4; k++) r[k] = _mm_loadu_ps(&all[c + k][i]);
            _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
            for (uint32_t k = 0; k < 4; k++) _mm_storeu_ps(to + (i + k) * step + c, r[k]);
        }
}
#endif

static void round_to_floats(float *to, const double *from, uint32_t count)
{
#if defined(__x86_64__)
    if (gv_has_avx2()) {
        round_by_avx2(to, from, count);
        return;
    }
#endif
    for (uint32_t i = 0; i < count; i++) to[i] = (float)from[i];
}

// Moves the elements of all lanes between their registers and a tile, `run` adjacent ones at a time. The numbers are
// constants, so that each case is a few moves.
#define MOVE(bytes, times) \
    for (uint32_t lane = 0; lane < GV_WARP; lane++) { \
        char *mine = registers[lane]; \
        for (uint32_t i = 0; i < (times); i++) { \
            char *there = tile + at[lane][i * run] * (size_t)size; \
            memcpy(to_tile ? there : mine + i * (bytes), to_tile ? mine + i * (bytes) : there, bytes); \
        } \
    }
#define MOVES(bytes) \
    switch (times) { \
    case 2: MOVE(bytes, 2) break; \
    case 4: MOVE(bytes, 4) break; \
    case 8: MOVE(bytes, 8) break; \
    default: MOVE(bytes, times) \
    }
static inline __attribute__((always_inline)) void move(char *tile, const uint16_t at[GV_WARP][GV_MOST_ELEMENTS],
    char *const registers[GV_WARP], uint32_t count, uint32_t size, uint32_t run, int to_tile)
{
    uint32_t times = count / run;
    switch (run * size) {
    case 1: MOVES(1) break;
    case 2: MOVES(2) break;
    case 4: MOVES(4) break;
    case 8: MOVES(8) break;
    default: MOVE(run * size, times)
    }
}

void gv_to_tile(double *tile, const gv_places *p, const void *const from[GV_WARP], int type)
{
    static char kept[GV_MOST_IN_TILE * sizeof(double)];
    move(kept, p->at, (char *const *)from, p->count, gv_itemsize(type), p->run, 1);
    gv_to_doubles(tile, 1, kept, p->elements, type);
}

void gv_to_floats(float *const to[GV_WARP], const gv_places *p, const double *tile)
{
    static float kept[GV_MOST_IN_TILE];
    round_to_floats(kept, tile, p->elements);
    move((char *)kept, p->at, (char *const *)to, p->count, sizeof *kept, p->run, 0);
}
