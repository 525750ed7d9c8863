// The operands of the common mma as numbers, and its sums by rows.
//
// Lane 4 g + t has in register 0 of A the elements 2 t and 2 t + 1 of row g, in register 1 those of row g + 8, in the
// next two the same 8 elements further on; of B, two elements of column g in each register; of the sums, columns 2 t
// and 2 t + 1 of the rows g and g + 8. So the registers of four lanes, side by side, are a part of a row.
#pragma once
#include "mma_tiles.h"
#include "processor.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16, QUAD = 4, GROUPS = 8 };
enum { KNOWN = 8 /* operands whose numbers are kept, as each is used by several products in a row */ };
#define EXACT 0x1p24f // whole numbers up to it are exact in a float

// An operand, lane by lane, as numbers: A by rows, and B, of which half is used, by rows of columns. `most`: what each
// is at most without its sign, if all are whole numbers; else a NaN.
typedef struct {
    uint32_t words[GV_WARP * 4];
    float number[ROWS][DEPTH] __attribute__((aligned(64)));
    float most;
    int type;
} numbers;

// Row g of the sums, and the one 8 rows further on.
static GV_AVX2 inline __attribute__((always_inline)) void load_rows(__m256 *upper, __m256 *lower, float *const *sums)
{
    __m128 s[QUAD];
    for (int t = 0; t < QUAD; t++) s[t] = _mm_loadu_ps(sums[t]);
    *upper = _mm256_set_m128(_mm_movelh_ps(s[2], s[3]), _mm_movelh_ps(s[0], s[1]));
    *lower = _mm256_set_m128(_mm_movehl_ps(s[3], s[2]), _mm_movehl_ps(s[1], s[0]));
}

static GV_AVX2 inline __attribute__((always_inline)) void store_rows(float *const *sums, __m256 upper, __m256 lower)
{
    __m128 left = _mm256_castps256_ps128(upper), right = _mm256_extractf128_ps(upper, 1);
    __m128 left_below = _mm256_castps256_ps128(lower), right_below = _mm256_extractf128_ps(lower, 1);
    _mm_storeu_ps(sums[0], _mm_movelh_ps(left, left_below));
    _mm_storeu_ps(sums[1], _mm_movehl_ps(left_below, left));
    _mm_storeu_ps(sums[2], _mm_movelh_ps(right, right_below));
    _mm_storeu_ps(sums[3], _mm_movehl_ps(right_below, right));
}

// Whole numbers, if each sum is exact in a float. Returns 0 and does nothing if it may not be.
static GV_AVX2 inline __attribute__((always_inline)) int add_whole(
    float *const *sums, const numbers *a, const numbers *b)
{
    enum { AT_ONCE = 8 };
    float bound = a->most * b->most * DEPTH;
    if (!(bound < EXACT)) return 0;
    __m256 s[ROWS], most = _mm256_setzero_ps(), whole = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    for (uint32_t g = 0; g < GROUPS; g++) load_rows(&s[g], &s[g + 8], sums + QUAD * g);
    for (uint32_t row = 0; row < ROWS; row++) {
        __m256 rounded = _mm256_round_ps(s[row], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        whole = _mm256_and_ps(whole, _mm256_cmp_ps(s[row], rounded, _CMP_EQ_OQ)); // false for a NaN
        most = _mm256_max_ps(_mm256_and_ps(s[row], no_sign), most);
    }
    whole = _mm256_and_ps(whole, _mm256_cmp_ps(most, _mm256_set1_ps(EXACT - bound), _CMP_LE_OQ));
    if (_mm256_movemask_ps(whole) != 0xff) return 0;
    const float *rows_of_b = b->number[0];
    for (uint32_t row = 0; row < ROWS; row += AT_ONCE) {
        __m256 sum[AT_ONCE];
        for (uint32_t r = 0; r < AT_ONCE; r++) sum[r] = s[row + r];
        for (uint32_t k = 0; k < DEPTH; k++) {
            __m256 of_b = _mm256_load_ps(rows_of_b + k * COLUMNS);
            for (uint32_t r = 0; r < AT_ONCE; r++)
                sum[r] = _mm256_fmadd_ps(_mm256_broadcast_ss(&a->number[row + r][k]), of_b, sum[r]);
        }
        for (uint32_t r = 0; r < AT_ONCE; r++) s[row + r] = sum[r];
    }
    for (uint32_t g = 0; g < GROUPS; g++) store_rows(sums + QUAD * g, s[g], s[g + 8]);
    return 1;
}
#endif
