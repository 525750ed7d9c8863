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

// Adds to the sums of columns `from` to `end`, in as many steps of `vectors` vectors as they have; returns the next
// column. Each sum adds its products in the same order, for vectors of any width.
#define ADD(name, real, wide) \
    static inline __attribute__((always_inline)) uint32_t name##_in_steps(real *sum, const real *a, const real *b, \
        uint32_t rows, uint32_t columns, uint32_t depth, uint32_t from, uint32_t end, uint32_t vectors) \
    { \
        enum { WIDE = sizeof(wide) / sizeof(real) }; \
        uint32_t step = vectors * WIDE, stop = from + (end - from) / step * step; \
        for (uint32_t row = 0; row < rows; row += ROWS) \
            for (uint32_t column = from; column < stop; column += step) { \
                wide s[ROWS][2]; \
                for (uint32_t r = 0; r < ROWS; r++) \
                    for (uint32_t v = 0; v < vectors; v++) \
                        s[r][v] = *(const wide *)&sum[(row + r) * columns + column + v * WIDE]; \
                for (uint32_t k = 0; k < depth; k++) \
                    for (uint32_t v = 0; v < vectors; v++) { \
                        wide some = *(const wide *)&b[k * columns + column + v * WIDE]; \
                        for (uint32_t r = 0; r < ROWS; r++) s[r][v] += (a[(row + r) * depth + k] - (wide){0}) * some; \
                    } \
                for (uint32_t r = 0; r < ROWS; r++) \
                    for (uint32_t v = 0; v < vectors; v++) \
                        *(wide *)&sum[(row + r) * columns + column + v * WIDE] = s[r][v]; \
            } \
        return stop; \
    } \
    static inline __attribute__((always_inline)) uint32_t name(real *sum, const real *a, const real *b, uint32_t rows, \
        uint32_t columns, uint32_t depth, uint32_t from) \
    { \
        from = name##_in_steps(sum, a, b, rows, columns, depth, from, columns, 2); \
        return name##_in_steps(sum, a, b, rows, columns, depth, from, columns, 1); \
    }
ADD(add, double, doubles4)

#if defined(__x86_64__)
ADD(add_eights, double, doubles8)
ADD(add_floats, float, floats8)
ADD(add_sixteen_floats, float, floats16)

#define FOR(processor, name, add, add_rest, real) \
    static processor void name( \
        real *sum, const real *a, const real *b, uint32_t rows, uint32_t columns, uint32_t depth) \
    { \
        uint32_t from = add(sum, a, b, rows, columns, depth, 0); \
        add_rest(sum, a, b, rows, columns, depth, from); \
    }
FOR(GV_AVX2, add_by_avx2, add, add, double)
FOR(GV_AVX512, add_by_avx512, add_eights, add, double)
FOR(GV_AVX2, add_floats_by_avx2, add_floats, add_floats, float)
FOR(GV_AVX512, add_floats_by_avx512, add_sixteen_floats, add_floats, float)

// Whole numbers as pairs, of two adjacent ones along K. `outside` gets a bit above the lower 16 if one has more.
enum { SIXTEEN = 16, MOST_PAIRS = 16 /* along K */, MOST_COLUMNS = 256, MOST_ROWS = 64 };
static GV_VNNI inline __attribute__((always_inline)) __m512i paired(__m512 first, __m512 second, __m512i *outside)
{
    const __m512i half = _mm512_set1_epi32(1 << 15), low = _mm512_set1_epi32(0xffff);
    __m512i x = _mm512_cvtps_epi32(first), y = _mm512_cvtps_epi32(second);
    *outside = _mm512_or_si512(*outside, _mm512_or_si512(_mm512_add_epi32(x, half), _mm512_add_epi32(y, half)));
    return _mm512_or_si512(_mm512_and_si512(x, low), _mm512_slli_epi32(y, 16));
}

static GV_VNNI inline __mmask16 columns_from(uint32_t column, uint32_t columns)
{
    return columns - column >= SIXTEEN ? 0xffff : (__mmask16)((1u << (columns - column)) - 1);
}

// Adds the products of the pairs to the sums of `vectors` times 16 columns from `column` on, or as many as there are.
static GV_VNNI inline __attribute__((always_inline)) void add_some_pairs(float *sum, const int *of_a, const int *of_b,
    uint32_t row, uint32_t column, uint32_t columns, uint32_t wide, uint32_t pairs, uint32_t vectors)
{
    __m512i s[ROWS][2];
    for (uint32_t r = 0; r < ROWS; r++) s[r][0] = s[r][1] = _mm512_setzero_si512();
    for (uint32_t k = 0; k < pairs; k++)
        for (uint32_t v = 0; v < vectors; v++) {
            __m512i some = _mm512_load_si512(of_b + k * wide + column + v * SIXTEEN);
            for (uint32_t r = 0; r < ROWS; r++)
                s[r][v] = _mm512_dpwssd_epi32(s[r][v], _mm512_set1_epi32(of_a[(row + r) * pairs + k]), some);
        }
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t v = 0; v < vectors; v++) {
            float *to = &sum[(row + r) * columns + column + v * SIXTEEN];
            __mmask16 has = columns_from(column + v * SIXTEEN, columns);
            _mm512_mask_storeu_ps(to, has, _mm512_add_ps(_mm512_maskz_loadu_ps(has, to), _mm512_cvtepi32_ps(s[r][v])));
        }
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
    uint32_t pairs = depth / 2, wide = (columns + SIXTEEN - 1) / SIXTEEN * SIXTEEN;
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
            __mmask16 has = columns_from(column, columns);
            __m512 first = _mm512_maskz_loadu_ps(has, from), second = _mm512_maskz_loadu_ps(has, from + columns);
            _mm512_store_si512(of_b + k * wide + column, paired(first, second, &outside));
        }
    if (_mm512_test_epi32_mask(outside, _mm512_set1_epi32(~0xffff))) return 0;
    for (uint32_t row = 0; row < rows; row += ROWS) {
        uint32_t column = 0;
        for (; column + SIXTEEN < wide; column += 2 * SIXTEEN)
            add_some_pairs(sum, of_a, of_b, row, column, columns, wide, pairs, 2);
        if (column < wide) add_some_pairs(sum, of_a, of_b, row, column, columns, wide, pairs, 1);
    }
    return 1;
}
#endif

void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (gv_has_avx512()) {
        add_by_avx512(sum, a, b, rows, columns, depth);
        return;
    }
    if (gv_has_avx2()) {
        add_by_avx2(sum, a, b, rows, columns, depth);
        return;
    }
#endif
    add(sum, a, b, rows, columns, depth, 0);
}

int gv_add_whole_products(float *sum, const float *a, const float *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (gv_has_vnni() && add_pairs(sum, a, b, rows, columns, depth)) return 1;
    if (gv_has_avx512()) {
        add_floats_by_avx512(sum, a, b, rows, columns, depth);
        return 1;
    }
    if (gv_has_avx2()) {
        add_floats_by_avx2(sum, a, b, rows, columns, depth);
        return 1;
    }
#endif
    return 0;
}
