// Lane 4 g + t has in register 0 of A the elements 2 t and 2 t + 1 of row g, in register 1 those of row g + 8, in the
// next two the same 8 elements further on; of B, two elements of column g in each register; of the sums, columns 2 t
// and 2 t + 1 of the rows g and g + 8. So the registers of four lanes, side by side, are a part of a row.
#include "mma_tiles.h"
#include "processor.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16, QUAD = 4, GROUPS = 8 };

static int is(const gv_fragment *f, int rows, int columns, int count, int across, const int8_t step[3][2])
{
    if (f->rows != rows || f->columns != columns || f->count != count) return 0;
    if (f->across != across || f->spread != 2) return 0;
    for (int bit = 0; 1 << bit < count; bit++)
        if (f->step[bit][0] != step[bit][0] || f->step[bit][1] != step[bit][1]) return 0;
    return 1;
}

static int has_form(const gv_product_kind *kind)
{
    static const int8_t of_a[3][2] = {{0, 1}, {8, 0}, {0, 8}}, of_b[3][2] = {{1, 0}, {8, 0}},
                        of_sums[3][2] = {{0, 1}, {8, 0}};
    int type = kind->a->type;
    if ((type != GV_HALF && type != GV_BFLOAT16) || kind->b->type != type) return 0;
    if (kind->c->type != GV_FLOAT || kind->d->type != GV_FLOAT) return 0;
    return is(kind->a, ROWS, DEPTH, 8, 0, of_a) && is(kind->b, DEPTH, COLUMNS, 4, 1, of_b) &&
           is(kind->c, ROWS, COLUMNS, 4, 0, of_sums) && is(kind->d, ROWS, COLUMNS, 4, 0, of_sums);
}

// Eight elements of 16 bits as doubles.
static GV_AVX512 inline __m512d doubles(__m128i eight, int is_half)
{
    __m256 floats = is_half ? _mm256_cvtph_ps(eight)
                            : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16));
    return _mm512_cvtps_pd(floats);
}

// Row k of B for an even k and the next one, from a word of two elements for each column.
static GV_AVX512 inline void two_rows(__m512d *rows, const uint32_t words[COLUMNS], int is_half)
{
    __m256i all = _mm256_loadu_si256((const __m256i *)words), low = _mm256_and_si256(all, _mm256_set1_epi32(0xffff));
    __m256i high = _mm256_srli_epi32(all, 16);
    rows[0] = doubles(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)), is_half);
    rows[1] = doubles(_mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)), is_half);
}

// A product of two elements is exact in a double, so it may be added without being rounded before.
static GV_AVX512 inline __attribute__((always_inline)) void multiply(const void *const a[GV_WARP],
    const void *const b[GV_WARP], const void *const c[GV_WARP], void *const d[GV_WARP], int is_half)
{
    uint32_t words[DEPTH / 2][COLUMNS];
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        memcpy(&words[lane % QUAD][lane / QUAD], b[lane], 4);
        memcpy(&words[lane % QUAD + QUAD][lane / QUAD], (const char *)b[lane] + 4, 4);
    }
    __m512d of_b[DEPTH];
    for (int k = 0; k < DEPTH; k += 2) two_rows(&of_b[k], words[k / 2], is_half);
    for (uint32_t g = 0; g < GROUPS; g++) {
        __m128i r[QUAD];
        __m128 s[QUAD];
        for (int t = 0; t < QUAD; t++) {
            r[t] = _mm_loadu_si128((const __m128i *)a[QUAD * g + t]);
            s[t] = _mm_loadu_ps((const float *)c[QUAD * g + t]);
        }
        __m128i first = _mm_unpacklo_epi32(r[0], r[1]), second = _mm_unpacklo_epi32(r[2], r[3]);
        __m128i third = _mm_unpackhi_epi32(r[0], r[1]), fourth = _mm_unpackhi_epi32(r[2], r[3]);
        double upper[DEPTH], lower[DEPTH];
        _mm512_storeu_pd(upper, doubles(_mm_unpacklo_epi64(first, second), is_half));
        _mm512_storeu_pd(lower, doubles(_mm_unpackhi_epi64(first, second), is_half));
        _mm512_storeu_pd(upper + 8, doubles(_mm_unpacklo_epi64(third, fourth), is_half));
        _mm512_storeu_pd(lower + 8, doubles(_mm_unpackhi_epi64(third, fourth), is_half));
        __m512d sum = _mm512_cvtps_pd(_mm256_set_m128(_mm_movelh_ps(s[2], s[3]), _mm_movelh_ps(s[0], s[1])));
        __m512d below = _mm512_cvtps_pd(_mm256_set_m128(_mm_movehl_ps(s[3], s[2]), _mm_movehl_ps(s[1], s[0])));
        for (int k = 0; k < DEPTH; k++) {
            sum = _mm512_fmadd_pd(_mm512_set1_pd(upper[k]), of_b[k], sum);
            below = _mm512_fmadd_pd(_mm512_set1_pd(lower[k]), of_b[k], below);
        }
        __m256 row = _mm512_cvtpd_ps(sum), row_below = _mm512_cvtpd_ps(below);
        __m128 left = _mm256_castps256_ps128(row), right = _mm256_extractf128_ps(row, 1);
        __m128 left_below = _mm256_castps256_ps128(row_below), right_below = _mm256_extractf128_ps(row_below, 1);
        _mm_storeu_ps(d[QUAD * g], _mm_movelh_ps(left, left_below));
        _mm_storeu_ps(d[QUAD * g + 1], _mm_movehl_ps(left_below, left));
        _mm_storeu_ps(d[QUAD * g + 2], _mm_movelh_ps(right, right_below));
        _mm_storeu_ps(d[QUAD * g + 3], _mm_movehl_ps(right_below, right));
    }
}

static GV_AVX512 void multiply_halves(const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], void *const d[GV_WARP])
{
    multiply(a, b, c, d, 1);
}

static GV_AVX512 void multiply_bfloats(const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], void *const d[GV_WARP])
{
    multiply(a, b, c, d, 0);
}

int gv_multiply_mma(const gv_product_kind *kind, const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], void *const d[GV_WARP])
{
    static const gv_product_kind *last; // the kind of the product before, and whether it has the form
    static int fits;
    if (!gv_has_avx512()) return 0;
    if (kind != last) {
        last = kind;
        fits = has_form(kind);
    }
    if (!fits) return 0;
    (kind->a->type == GV_HALF ? multiply_halves : multiply_bfloats)(a, b, c, d);
    return 1;
}
#else
int gv_multiply_mma(const gv_product_kind *kind, const void *const a[GV_WARP], const void *const b[GV_WARP],
    const void *const c[GV_WARP], void *const d[GV_WARP])
{
    (void)kind;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return 0;
}
#endif
