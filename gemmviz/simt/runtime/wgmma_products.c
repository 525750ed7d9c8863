// Products of a warpgroup: each is added to the sums of its threads. Those of whole numbers are made in floats, if each
// sum is exact: so the order in which it is made does not matter.
#include "wgmma_products.h"
#include "processor.h"
#include "products.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS = GV_WGMMA_ROWS, DEPTH_BYTES = GV_WGMMA_DEPTH_BYTES, DEPTHS = DEPTH_BYTES };
#define EXACT 0x1p24 // whole numbers up to it are exact in a float

static int whole;    // whether all operands of the running blocks were whole numbers so far
static int together; // whether all products to the same sums could be added at once so far

void gv_wgmma_products_begin(void) { whole = together = 1; }

static inline __attribute__((always_inline)) void add_up(
    const gv_wgmma_work *p, uint32_t thread, const double *sum, int type)
{
    uint32_t n = p->of->n, row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    for (uint32_t i = 0; i < n / 2; i += 4) {
        const double *more[2] = {&sum[row * n + column + 2 * i], &sum[(row + 8) * n + column + 2 * i]};
        for (uint32_t e = 0; e < 4; e++) {
            double before = p->of->add ? old_sum(p->d, type, i + e) : 0, x = more[e / 2][e % 2];
            put_sum(p->d, type, i + e, p->of->minus ? before - x : before + x);
        }
    }
}

#if defined(__x86_64__)
// The same for sums in floats, four at a time.
static GV_AVX2 void add_up_by_avx2(const gv_wgmma_work *p, uint32_t thread, const double *sum)
{
    uint32_t n = p->of->n, row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    const double *upper = &sum[row * n + column], *lower = upper + 8 * n;
    float *d = p->d->value.real;
    for (uint32_t i = 0; i < n / 2; i += 4) {
        __m256d more = _mm256_set_m128d(_mm_loadu_pd(lower + 2 * i), _mm_loadu_pd(upper + 2 * i));
        __m256d before = p->of->add ? _mm256_cvtps_pd(_mm_loadu_ps(d + i)) : _mm256_setzero_pd();
        _mm_storeu_ps(
            d + i, _mm256_cvtpd_ps(p->of->minus ? _mm256_sub_pd(before, more) : _mm256_add_pd(before, more)));
    }
}

// The sum of two floats is the same when it is rounded from their sum as doubles.
static GV_AVX2 void add_up_whole(const gv_wgmma_work *p, uint32_t thread, const float *sum)
{
    uint32_t n = p->of->n, row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    const float *upper = &sum[row * n + column], *lower = upper + 8 * n;
    float *d = p->d->value.real;
    for (uint32_t i = 0; i < n / 2; i += 4) {
        const double *two = (const double *)(upper + 2 * i), *next_two = (const double *)(lower + 2 * i);
        __m128 more = _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd(two), next_two));
        __m128 before = p->of->add ? _mm_loadu_ps(d + i) : _mm_setzero_ps();
        _mm_storeu_ps(d + i, p->of->minus ? _mm_sub_ps(before, more) : _mm_add_ps(before, more));
    }
}

// Whether these sums are whole numbers, and so small that they stay exact if others up to `bound` are added.
static GV_AVX2 int stay_exact(const sums *d, uint32_t count, double bound)
{
    const __m128 no_sign = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff)), most = _mm_set1_ps((float)(EXACT - bound));
    __m128 exact = _mm_castsi128_ps(_mm_set1_epi32(-1));
    for (uint32_t i = 0; i < count; i += 4) {
        __m128 v = _mm_and_ps(_mm_loadu_ps(d->value.real + i), no_sign);
        exact = _mm_and_ps(exact, _mm_and_ps(_mm_cmpeq_ps(v, _mm_floor_ps(v)), _mm_cmple_ps(v, most)));
    }
    return _mm_movemask_ps(exact) == 0xf;
}
#endif

static void add_up_floats(const gv_wgmma_work *p, uint32_t thread, const double *sum)
{
#if defined(__x86_64__)
    if (gv_has_avx2()) {
        add_up_by_avx2(p, thread, sum);
        return;
    }
#endif
    add_up(p, thread, sum, GV_FLOAT); // by itself it is faster
}

// Adds whole products to the same sums; returns 0 and does nothing if they, or their sums, may not be exact.
static int multiply_whole(const gv_wgmma_work *const all[][GV_WARPGROUP], uint32_t count)
{
#if defined(__x86_64__)
    static float a[ROWS * DEPTHS], b[DEPTHS * COLUMNS], sum[ROWS * COLUMNS];
    const gv_wgmma_product *first = all[0][0]->of;
    uint32_t n = first->n;
    double bound = 0;
    if (!whole || first->type_d != GV_FLOAT) return 0;
    memset(sum, 0, ROWS * n * sizeof *sum);
    for (uint32_t i = 0; i < count; i++) {
        const gv_wgmma_product *its[GV_WARPGROUP];
        for (uint32_t t = 0; t < GV_WARPGROUP; t++) its[t] = all[i][t]->of;
        double largest = gv_read_whole_operands(a, b, its);
        bound += largest;
        if (largest < 0 || largest > EXACT) whole = 0;
        if (!whole || bound > EXACT) return 0;
        if (!gv_add_whole_products(sum, a, b, ROWS, n, DEPTH_BYTES / gv_operand_itemsize(its[0]->type_a))) return 0;
    }
    for (uint32_t t = 0; count > 1 && t < GV_WARPGROUP; t++)
        if (all[0][t]->of->add && !stay_exact(all[0][t]->d, n / 2, bound)) return 0;
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) add_up_whole(all[0][t], t, sum);
    return 1;
#else
    return 0;
#endif
}

static void multiply(const gv_wgmma_work *const posted[GV_WARPGROUP])
{
    static double a[ROWS * DEPTHS], b[DEPTHS * COLUMNS], sum[ROWS * COLUMNS];
    const gv_wgmma_product *its[GV_WARPGROUP], *first = posted[0]->of;
    if (gv_now.run->count_only) { // A and B are zeros, and so are the products
        for (uint32_t t = 0; !first->add && t < GV_WARPGROUP; t++)
            memset(posted[t]->d->value.bits, 0, posted[t]->d->count * 4);
        return;
    }
    if (multiply_whole((const gv_wgmma_work *const(*)[GV_WARPGROUP])posted, 1)) return;
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) its[t] = posted[t]->of;
    uint32_t depth = DEPTH_BYTES / gv_operand_itemsize(first->type_a), n = first->n;
    gv_read_operands(a, b, its);
    memset(sum, 0, ROWS * n * sizeof *sum);
    gv_add_products(sum, a, b, ROWS, n, depth);
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) {
        if (first->type_d == GV_FLOAT) add_up_floats(posted[t], t, sum);
        else add_up(posted[t], t, sum, first->type_d);
    }
}

// Whether a product is added to the same sums as the one before.
static int continues(const gv_wgmma_work *const before[GV_WARPGROUP], const gv_wgmma_work *const next[GV_WARPGROUP])
{
    for (uint32_t t = 0; t < GV_WARPGROUP; t++) {
        const gv_wgmma_product *p = before[t]->of, *q = next[t]->of;
        if (before[t]->d != next[t]->d || p->n != q->n || p->minus || q->minus || !q->add) return 0;
    }
    return 1;
}

void gv_multiply(const gv_wgmma_work *const all[][GV_WARPGROUP], uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && continues(all[end - 1], all[end]);) end++;
        if (end == i + 1 || !together || gv_now.run->count_only) end = i + 1;
        else together = multiply_whole(all + i, end - i);
        if (end > i + 1 && together) continue;
        for (; i < end; i++) multiply(all[i]);
    }
}
