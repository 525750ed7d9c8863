// The common mma on a processor that has AVX2, but not AVX-512.
#include "mma_rows.h"
#if defined(__x86_64__)

static numbers known_a[KNOWN], known_b[KNOWN];
static uint32_t next_a, next_b, last_a, last_b;

// Eight elements of 16 bits as floats.
static GV_AVX2 inline __m256 floats(__m128i all, int type)
{
    return type == GV_HALF ? _mm256_cvtph_ps(all)
                           : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(all), 16));
}

static GV_AVX2 inline void put_row(float *to, __m128 left, __m128 right, int type)
{
    _mm256_store_ps(to, floats(_mm_castps_si128(left), type));
    _mm256_store_ps(to + 8, floats(_mm_castps_si128(right), type));
}

static GV_AVX2 void work_out_a(numbers *n)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        __m128 r[QUAD]; // the registers of four lanes; then register 0 of all four, and so on
        for (uint32_t t = 0; t < QUAD; t++) r[t] = _mm_loadu_ps((const float *)n->words + QUAD * (QUAD * g + t));
        _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
        put_row(n->number[g], r[0], r[2], n->type);
        put_row(n->number[g + 8], r[1], r[3], n->type);
    }
}

// A word has an element of a row and one of the next row: register r of lane l those of rows 8 r + 2 (l % 4), column
// l / 4.
static GV_AVX2 void work_out_b(numbers *n)
{
    uint32_t by_rows[2 * QUAD][COLUMNS] __attribute__((aligned(32)));
    for (uint32_t lane = 0; lane < GV_WARP; lane++)
        for (uint32_t r = 0; r < 2; r++) by_rows[QUAD * r + lane % QUAD][lane / QUAD] = n->words[2 * lane + r];
    for (uint32_t k = 0; k < DEPTH; k += 2) {
        __m256i words = _mm256_load_si256((const __m256i *)by_rows[k / 2]);
        __m256i first = _mm256_and_si256(words, _mm256_set1_epi32(0xffff)), second = _mm256_srli_epi32(words, 16);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
        float *to = n->number[0] + k * COLUMNS;
        _mm256_store_ps(to, floats(_mm256_castsi256_si128(both), n->type));
        _mm256_store_ps(to + COLUMNS, floats(_mm256_extracti128_si256(both, 1), n->type));
    }
}

static GV_AVX2 float most_of(const float *number, uint32_t count)
{
    const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 most = _mm256_setzero_ps(), whole = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (uint32_t i = 0; i < count; i += 8) {
        __m256 x = _mm256_load_ps(number + i);
        __m256 rounded = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        whole = _mm256_and_ps(whole, _mm256_cmp_ps(x, rounded, _CMP_EQ_OQ)); // false for a NaN
        most = _mm256_max_ps(most, _mm256_and_ps(x, no_sign));
    }
    if (_mm256_movemask_ps(whole) != 0xff) return __builtin_nanf("");
    float all[8], found = 0;
    _mm256_storeu_ps(all, most);
    for (uint32_t i = 0; i < 8; i++) found = all[i] > found ? all[i] : found;
    return found;
}

static GV_AVX2 inline __attribute__((always_inline)) int are_same(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    __m256i differ = _mm256_setzero_si256();
    for (uint32_t i = 0; i < count; i += 8) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(a + i)), y = _mm256_loadu_si256((const __m256i *)(b + i));
        differ = _mm256_or_si256(differ, _mm256_xor_si256(x, y));
    }
    return _mm256_testz_si256(differ, differ);
}

// Returns the numbers of an operand of this number of words.
static GV_AVX2 inline __attribute__((always_inline)) const numbers *numbers_of(
    numbers *known, uint32_t *next, uint32_t *last, const uint32_t *words, uint32_t count, int type)
{
    for (uint32_t i = 0; i < KNOWN; i++) { // the last one first, then those beside it
        uint32_t number = (*last + (i % 2 ? KNOWN - (i + 1) / 2 : i / 2)) % KNOWN;
        numbers *n = &known[number];
        if (n->type != type || !are_same(words, n->words, 8) || !are_same(words, n->words, count)) continue;
        *last = number;
        return n;
    }
    numbers *n = &known[*next];
    *last = *next;
    *next = (*next + 1) % KNOWN;
    n->type = type;
    memcpy(n->words, words, count * sizeof *words);
    if (count == GV_WARP * 4) work_out_a(n);
    else work_out_b(n);
    n->most = most_of(n->number[0], 2 * count);
    return n;
}

// A product of two elements is exact in a double, so it may be added without being rounded before.
static GV_AVX2 void add_doubles(float *const *sums, const numbers *a, const numbers *b)
{
    enum { FOUR = 4 };
    double of_b[DEPTH][COLUMNS] __attribute__((aligned(32)));
    for (uint32_t k = 0; k < DEPTH; k++)
        for (uint32_t column = 0; column < COLUMNS; column += FOUR)
            _mm256_store_pd(&of_b[k][column], _mm256_cvtps_pd(_mm_load_ps(b->number[0] + k * COLUMNS + column)));
    for (uint32_t g = 0; g < GROUPS; g++) {
        __m256 row[2];
        __m256d sum[2][2]; // of row g, and of the one 8 rows further on: columns 0 to 3, and 4 to 7
        load_rows(&row[0], &row[1], sums + QUAD * g);
        for (uint32_t r = 0; r < 2; r++) {
            sum[r][0] = _mm256_cvtps_pd(_mm256_castps256_ps128(row[r]));
            sum[r][1] = _mm256_cvtps_pd(_mm256_extractf128_ps(row[r], 1));
        }
        for (uint32_t k = 0; k < DEPTH; k++)
            for (uint32_t r = 0; r < 2; r++) {
                __m256d of_a = _mm256_set1_pd(a->number[g + 8 * r][k]);
                sum[r][0] = _mm256_fmadd_pd(of_a, _mm256_load_pd(of_b[k]), sum[r][0]);
                sum[r][1] = _mm256_fmadd_pd(of_a, _mm256_load_pd(of_b[k] + FOUR), sum[r][1]);
            }
        for (uint32_t r = 0; r < 2; r++)
            row[r] = _mm256_set_m128(_mm256_cvtpd_ps(sum[r][1]), _mm256_cvtpd_ps(sum[r][0]));
        store_rows(sums + QUAD * g, row[0], row[1]);
    }
}

GV_AVX2 void gv_multiply_by_avx2(
    const gv_lane_mma *lanes, const gv_lane_a *a, uint32_t apart, int type, uint64_t round)
{
    static struct {
        uint64_t round, number;
        const numbers *a;
    } before; // the last product whose lanes all had the same number of A
    uint32_t of_a[GV_WARP * 4], of_b[GV_WARP * 2];
    uint64_t number[GV_WARP], differ = 0;
    float *sums[GV_WARP];
    for (uint32_t lane = 0; lane < GV_WARP; lane++) {
        const gv_lane_mma *l = lanes + lane * (size_t)apart;
        memcpy(of_b + 2 * lane, l->b, sizeof l->b);
        sums[lane] = (float *)(l->sums & ((1ull << GV_NUMBER_SHIFT) - 1));
        number[lane] = l->sums >> GV_NUMBER_SHIFT;
        differ |= number[lane] ^ number[0];
    }
    const numbers *as_before = before.a;
    if (!round || differ || before.round != round || before.number != number[0]) {
        for (uint32_t lane = 0; lane < GV_WARP; lane++)
            memcpy(of_a + 4 * lane, a[lane * (size_t)apart + number[lane]].a, sizeof a->a);
        as_before = numbers_of(known_a, &next_a, &last_a, of_a, GV_WARP * 4, type);
        before.round = differ ? 0 : round;
        before.number = number[0];
        before.a = as_before;
    }
    const numbers *b = numbers_of(known_b, &next_b, &last_b, of_b, GV_WARP * 2, type);
    if (!add_whole(sums, as_before, b)) add_doubles(sums, as_before, b);
}
#endif
