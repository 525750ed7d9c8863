#include "products.h"
#include "processor.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS = 4 };
typedef double doubles4 __attribute__((vector_size(32), aligned(sizeof(double))));
typedef double doubles8 __attribute__((vector_size(64), aligned(sizeof(double))));
typedef float floats8 __attribute__((vector_size(32), aligned(sizeof(float))));
typedef float floats16 __attribute__((vector_size(64), aligned(sizeof(float))));

// For multiples of two vectors of columns. Each sum adds its products in the same order, for vectors of any width.
#define ADD(name, real, wide) \
    static inline __attribute__((always_inline)) void name( \
        real *sum, const real *a, const real *b, uint32_t rows, uint32_t columns, uint32_t depth) \
    { \
        enum { WIDE = sizeof(wide) / sizeof(real) }; \
        for (uint32_t row = 0; row < rows; row += ROWS) \
            for (uint32_t column = 0; column < columns; column += 2 * WIDE) { \
                wide s[ROWS][2]; \
                for (uint32_t r = 0; r < ROWS; r++) { \
                    s[r][0] = *(const wide *)&sum[(row + r) * columns + column]; \
                    s[r][1] = *(const wide *)&sum[(row + r) * columns + column + WIDE]; \
                } \
                for (uint32_t k = 0; k < depth; k++) { \
                    wide low = *(const wide *)&b[k * columns + column]; \
                    wide high = *(const wide *)&b[k * columns + column + WIDE]; \
                    for (uint32_t r = 0; r < ROWS; r++) { \
                        wide all = a[(row + r) * depth + k] - (wide){0}; \
                        s[r][0] += all * low; \
                        s[r][1] += all * high; \
                    } \
                } \
                for (uint32_t r = 0; r < ROWS; r++) { \
                    *(wide *)&sum[(row + r) * columns + column] = s[r][0]; \
                    *(wide *)&sum[(row + r) * columns + column + WIDE] = s[r][1]; \
                } \
            } \
    }
ADD(add, double, doubles4)

#if defined(__x86_64__)
ADD(add_eights, double, doubles8)
ADD(add_floats, float, floats8)
ADD(add_sixteen_floats, float, floats16)

#define FOR(processor, name, add, real) \
    static processor void name( \
        real *sum, const real *a, const real *b, uint32_t rows, uint32_t columns, uint32_t depth) \
    { \
        add(sum, a, b, rows, columns, depth); \
    }
FOR(GV_AVX2, add_by_avx2, add, double)
FOR(GV_AVX512, add_by_avx512, add_eights, double)
FOR(GV_AVX2, add_floats_by_avx2, add_floats, float)
FOR(GV_AVX512, add_floats_by_avx512, add_sixteen_floats, float)

// Whole numbers as pairs, of two adjacent ones along K. `outside` gets a bit above the lower 16 if one has more.
enum { SIXTEEN = 16, MOST_PAIRS = 16 /* along K */, MOST_COLUMNS = 256, MOST_ROWS = 64 };
static GV_VNNI inline __attribute__((always_inline)) __m512i paired(__m512 first, __m512 second, __m512i *outside)
{
    const __m512i half = _mm512_set1_epi32(1 << 15), low = _mm512_set1_epi32(0xffff);
    __m512i x = _mm512_cvtps_epi32(first), y = _mm512_cvtps_epi32(second);
    *outside = _mm512_or_si512(*outside, _mm512_or_si512(_mm512_add_epi32(x, half), _mm512_add_epi32(y, half)));
    return _mm512_or_si512(_mm512_and_si512(x, low), _mm512_slli_epi32(y, 16));
}

// Adds whole products of which each sum has at most 24 bits. Returns 0 and does nothing if a number has more than 16.
static GV_VNNI int add_pairs(
    float *sum, const float *a, const float *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    static int of_a[MOST_ROWS * MOST_PAIRS] __attribute__((aligned(64)));
    static int of_b[MOST_PAIRS * MOST_COLUMNS] __attribute__((aligned(64)));
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    __m512i outside = _mm512_setzero_si512();
    uint32_t pairs = depth / 2;
    if (depth % 2 || pairs > MOST_PAIRS || columns > MOST_COLUMNS || rows > MOST_ROWS || rows * pairs % SIXTEEN)
        return 0;
    for (uint32_t i = 0; i < rows * pairs; i += SIXTEEN) {
        __m512 left = _mm512_loadu_ps(a + 2 * i), right = _mm512_loadu_ps(a + 2 * i + SIXTEEN);
        __m512 first = _mm512_permutex2var_ps(left, even, right), second = _mm512_permutex2var_ps(left, odd, right);
        _mm512_store_si512(of_a + i, paired(first, second, &outside));
    }
    for (uint32_t k = 0; k < pairs; k++)
        for (uint32_t column = 0; column < columns; column += SIXTEEN) {
            const float *from = b + 2 * k * columns + column;
            __m512i both = paired(_mm512_loadu_ps(from), _mm512_loadu_ps(from + columns), &outside);
            _mm512_store_si512(of_b + k * columns + column, both);
        }
    if (_mm512_test_epi32_mask(outside, _mm512_set1_epi32(~0xffff))) return 0;
    for (uint32_t row = 0; row < rows; row += ROWS)
        for (uint32_t column = 0; column < columns; column += 2 * SIXTEEN) {
            __m512i s[ROWS][2];
            for (uint32_t r = 0; r < ROWS; r++) s[r][0] = s[r][1] = _mm512_setzero_si512();
            for (uint32_t k = 0; k < pairs; k++) {
                __m512i low = _mm512_load_si512(of_b + k * columns + column);
                __m512i high = _mm512_load_si512(of_b + k * columns + column + SIXTEEN);
                for (uint32_t r = 0; r < ROWS; r++) {
                    __m512i both = _mm512_set1_epi32(of_a[(row + r) * pairs + k]);
                    s[r][0] = _mm512_dpwssd_epi32(s[r][0], both, low);
                    s[r][1] = _mm512_dpwssd_epi32(s[r][1], both, high);
                }
            }
            for (uint32_t r = 0; r < ROWS; r++)
                for (uint32_t n = 0; n < 2; n++) {
                    float *to = &sum[(row + r) * columns + column + n * SIXTEEN];
                    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), _mm512_cvtepi32_ps(s[r][n])));
                }
        }
    return 1;
}
#endif

void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (columns % 16 == 0 && gv_has_avx512()) {
        add_by_avx512(sum, a, b, rows, columns, depth);
        return;
    }
    if (gv_has_avx2()) {
        add_by_avx2(sum, a, b, rows, columns, depth);
        return;
    }
#endif
    add(sum, a, b, rows, columns, depth);
}

int gv_add_whole_products(float *sum, const float *a, const float *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (columns % 32 == 0 && gv_has_vnni() && add_pairs(sum, a, b, rows, columns, depth)) return 1;
    if (columns % 32 == 0 && gv_has_avx512()) {
        add_floats_by_avx512(sum, a, b, rows, columns, depth);
        return 1;
    }
    if (columns % 16 == 0 && gv_has_avx2()) {
        add_floats_by_avx2(sum, a, b, rows, columns, depth);
        return 1;
    }
#endif
    return 0;
}
