// The common mma with AVX-512; without it see mma_avx2.c.
#include "mma_tiles.h"
#include "mma_rows.h"
#if defined(__x86_64__)

static numbers known_a[KNOWN], known_b[KNOWN];
static uint32_t next_a, next_b, last_a, last_b;

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

int gv_is_common_mma(const gv_product_kind *kind)
{
    static const gv_product_kind *last; // the kind of the product before, and whether it has the form
    static int fits;
    if (kind != last) {
        last = kind;
        fits = has_form(kind) && gv_has_avx2();
    }
    return fits;
}

// Sixteen elements of 16 bits as floats.
static GV_AVX512 inline __m512 floats(__m256i all, int type)
{
    return type == GV_HALF ? _mm512_cvtph_ps(all)
                           : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(all), 16));
}

static GV_AVX512 inline __m256i upper_half(__m512i all) { return _mm512_extracti64x4_epi64(all, 1); }

static GV_AVX512 void work_out_a(numbers *n)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
    for (uint32_t g = 0; g < GROUPS; g++) {
        __m512i rows = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(n->words + 4 * QUAD * g));
        _mm512_store_ps(n->number[g], floats(_mm512_castsi512_si256(rows), n->type));
        _mm512_store_ps(n->number[g + 8], floats(upper_half(rows), n->type));
    }
}

// A word has an element of a row and one of the next row: register r of lane l those of rows 8 r + 2 (l % 4), column
// l / 4.
static GV_AVX512 void work_out_b(numbers *n)
{
    uint32_t by_rows[2 * QUAD][COLUMNS] __attribute__((aligned(64)));
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t r = 0; r < 2; r++) by_rows[QUAD * r + lane % QUAD][lane / QUAD] = n->words[2 * lane + r];
    for (uint32_t k = 0; k < DEPTH; k += 4) {
        __m512i words = _mm512_load_si512(by_rows[k / 2]);
        __m512 first = floats(_mm512_cvtepi32_epi16(words), n->type);
        __m512 second = floats(_mm512_cvtepi32_epi16(_mm512_srli_epi32(words, 16)), n->type);
        float *to = n->number[0] + k * COLUMNS;
        _mm256_store_ps(to, _mm512_castps512_ps256(first));
        _mm256_store_ps(to + COLUMNS, _mm512_castps512_ps256(second));
        _mm256_store_ps(to + 2 * COLUMNS, _mm256_castsi256_ps(upper_half(_mm512_castps_si512(first))));
        _mm256_store_ps(to + 3 * COLUMNS, _mm256_castsi256_ps(upper_half(_mm512_castps_si512(second))));
    }
}

static GV_AVX512 float most_of(const float *number, uint32_t count)
{
    __m512 most = _mm512_setzero_ps();
    __mmask16 whole = 0xffff;
    for (uint32_t i = 0; i < count; i += 16) {
        __m512 x = _mm512_loadu_ps(number + i);
        whole &= _mm512_cmp_ps_mask(x, _mm512_roundscale_ps(x, 0), _CMP_EQ_OQ);
        most = _mm512_max_ps(most, _mm512_abs_ps(x));
    }
    return whole == 0xffff ? _mm512_reduce_max_ps(most) : __builtin_nanf("");
}

// Returns the numbers of an operand of this number of words, sixteen in each vector.
static GV_AVX512 inline __attribute__((always_inline)) const numbers *numbers_of(
    numbers *known, uint32_t *next, uint32_t *last, const __m512i *words, uint32_t count, int type)
{
    for (uint32_t i = 0; i < KNOWN; i++) { // the last one first, then those beside it
        uint32_t number = (*last + (i % 2 ? KNOWN - (i + 1) / 2 : i / 2)) % KNOWN;
        numbers *n = &known[number];
        if (n->type != type || _mm512_cmpneq_epi32_mask(words[0], _mm512_loadu_si512(n->words))) continue;
        __mmask16 differ = 0;
        for (uint32_t w = 1; w < count / 16; w++)
            differ |= _mm512_cmpneq_epi32_mask(words[w], _mm512_loadu_si512(n->words + 16 * w));
        if (differ) continue;
        *last = number;
        return n;
    }
    numbers *n = &known[*next];
    *last = *next;
    *next = (*next + 1) % KNOWN;
    n->type = type;
    for (uint32_t w = 0; w < count / 16; w++) _mm512_storeu_si512(n->words + 16 * w, words[w]);
    if (count == GV_WARP * 4) work_out_a(n);
    else work_out_b(n);
    n->most = most_of(n->number[0], 2 * count);
    return n;
}

// A product of two elements is exact in a double, so it may be added without being rounded before.
static GV_AVX512 void add_doubles(float *const *sums, const numbers *a, const numbers *b)
{
    __m512d of_b[DEPTH];
    for (int k = 0; k < DEPTH; k++) of_b[k] = _mm512_cvtps_pd(_mm256_load_ps(b->number[0] + k * COLUMNS));
    for (uint32_t g = 0; g < GROUPS; g++) {
        __m256 row, row_below;
        load_rows(&row, &row_below, sums + QUAD * g);
        __m512d sum = _mm512_cvtps_pd(row), below = _mm512_cvtps_pd(row_below);
        double upper[DEPTH], lower[DEPTH];
        for (int k = 0; k < DEPTH; k += 8) {
            _mm512_storeu_pd(upper + k, _mm512_cvtps_pd(_mm256_load_ps(&a->number[g][k])));
            _mm512_storeu_pd(lower + k, _mm512_cvtps_pd(_mm256_load_ps(&a->number[g + 8][k])));
        }
        for (int k = 0; k < DEPTH; k++) {
            sum = _mm512_fmadd_pd(_mm512_set1_pd(upper[k]), of_b[k], sum);
            below = _mm512_fmadd_pd(_mm512_set1_pd(lower[k]), of_b[k], below);
        }
        store_rows(sums + QUAD * g, _mm512_cvtpd_ps(sum), _mm512_cvtpd_ps(below));
    }
}

static GV_AVX512 inline __m512i side_by_side(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m512i lower = _mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1);
    return _mm512_inserti64x4(lower, _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1), 1);
}

// The registers of A of all lanes, as numbers.
static GV_AVX512 const numbers *numbers_of_a(const gv_lane_a *const its[GV_WARP], int type)
{
    __m512i of_a[GV_WARP / QUAD];
    for (uint32_t i = 0; i < GV_WARP / QUAD; i++) {
        const gv_lane_a *const *four = its + QUAD * i;
        of_a[i] = side_by_side(_mm_loadu_si128((const void *)four[0]), _mm_loadu_si128((const void *)four[1]),
            _mm_loadu_si128((const void *)four[2]), _mm_loadu_si128((const void *)four[3]));
    }
    return numbers_of(known_a, &next_a, &last_a, of_a, GV_WARP * 4, type);
}

static GV_AVX512 void multiply_by_avx512(
    const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round)
{
    static struct {
        uint64_t round, number;
        const numbers *a;
    } before; // the last product whose lanes all had the same number of A
    enum { EIGHT = 8 };
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                  odd = _mm512_add_epi64(even, _mm512_set1_epi64(1));
    const __m512i place = _mm512_set1_epi64((1ll << GV_NUMBER_SHIFT) - 1);
    __m512i of_b[GV_WARP / EIGHT];
    uint64_t first = lanes->sums >> GV_NUMBER_SHIFT, number[GV_WARP] __attribute__((aligned(64)));
    float *sums[GV_WARP] __attribute__((aligned(64)));
    __mmask8 differ = 0;
    for (uint32_t i = 0; i < GV_WARP / EIGHT; i++) {
        __m512i four[2];
        for (uint32_t n = 0; n < 2; n++) {
            const gv_lane_mma *l = lanes + (EIGHT * i + QUAD * n) * (size_t)apart;
            four[n] = side_by_side(_mm_loadu_si128((const void *)l), _mm_loadu_si128((const void *)(l + apart)),
                _mm_loadu_si128((const void *)(l + 2 * (size_t)apart)),
                _mm_loadu_si128((const void *)(l + 3 * (size_t)apart)));
        }
        __m512i places = _mm512_permutex2var_epi64(four[0], odd, four[1]);
        __m512i numbers_here = _mm512_srli_epi64(places, GV_NUMBER_SHIFT);
        of_b[i] = _mm512_permutex2var_epi64(four[0], even, four[1]);
        _mm512_store_si512((void *)(sums + EIGHT * i), _mm512_and_si512(places, place));
        _mm512_store_si512(number + EIGHT * i, numbers_here);
        differ |= _mm512_cmpneq_epi64_mask(numbers_here, _mm512_set1_epi64((long long)first));
    }
    const numbers *of_a = before.a;
    if (!round || differ || before.round != round || before.number != first) {
        const gv_lane_a *its[GV_WARP];
        for (uint32_t lane = 0; lane < GV_WARP; lane++) its[lane] = a + lane * (size_t)apart + number[lane];
        of_a = numbers_of_a(its, type);
        before.round = differ ? 0 : round;
        before.number = first;
        before.a = of_a;
    }
    const numbers *b = numbers_of(known_b, &next_b, &last_b, of_b, GV_WARP * 2, type);
    if (!add_whole(sums, of_a, b)) add_doubles(sums, of_a, b);
}

void gv_multiply_common(const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round)
{
    if (gv_has_avx512()) multiply_by_avx512(lanes, a, apart, type, round);
    else gv_multiply_by_avx2(lanes, a, apart, type, round);
}
#else
int gv_is_common_mma(const gv_product_kind *kind)
{
    (void)kind;
    return 0;
}

void gv_multiply_common(const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round)
{
    (void)lanes;
    (void)a;
    (void)apart;
    (void)type;
    (void)round;
}
#endif
