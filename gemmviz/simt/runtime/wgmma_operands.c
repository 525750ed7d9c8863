#include "wgmma_operands.h"
#include "block_memory.h"
#include "elements.h"
#include "processor.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Brings an operand's memory: groups of 8 rows of memory, as pieces change their places in them.
static void bring(gv_operand o, int across, uint32_t rows, uint32_t depth, uint32_t size)
{
    uint32_t group = 8 * o.row_bytes, columns = across ? rows * size / o.row_bytes : 1;
    uint32_t groups = across ? depth / 8 : rows / 8, piece = 16 / size;
    int adjacent = o.group_bytes == group; // then all groups are brought at once
    for (uint32_t c = 0; o.row_bytes > 16 && c < columns; c++)
        for (uint32_t g = 0; g < (adjacent ? 1 : groups); g++) {
            uintptr_t at = o.at + c * (uintptr_t)o.next_bytes * across + g * (uintptr_t)o.group_bytes;
            gv_bring((void *)(at / group * group), ((adjacent ? groups : 1) + 1) * group);
        }
    if (o.row_bytes > 16) return;
    for (uint32_t r = 0; r < rows; r += across ? piece : 1)
        for (uint32_t k = 0; k < depth; k += across ? 1 : piece)
            gv_bring((void *)gv_operand_place(o, across, size, r, k), 16);
}

static void bring_both(const gv_wgmma_product *p, uint32_t depth)
{
    if (!gv_now.brings) return;
    if (!p->registers) bring(p->a, p->a_across, GV_WGMMA_ROWS, depth, gv_operand_itemsize(p->type_a));
    bring(p->b, p->b_across, p->n, depth, gv_operand_itemsize(p->type_b));
}

// Reads the operands, 16 bytes of shared memory at a time: element (r, k) of A becomes a[r * depth + k], and that of B
// becomes b[k * n + r]. In registers, A has the fragments of mma, warp by warp: see kernel_calls/mma.h.
#define READ(name, real, converted, columns) \
    static void name##_shared(real *to, uint32_t r_step, uint32_t k_step, gv_operand o, int across, uint32_t rows, \
        uint32_t depth, int type) \
    { \
        uint32_t size = gv_operand_itemsize(type), piece = 16 / size; \
        if (columns(to, r_step, k_step, o, across, rows, depth, type)) return; \
        for (uint32_t r = 0; r < rows; r += across ? piece : 1) \
            for (uint32_t k = 0; k < depth; k += across ? 1 : piece) \
                converted(&to[r * r_step + k * k_step], across ? r_step : k_step, \
                    (const void *)gv_operand_place(o, across, size, r, k), piece, type); \
    } \
    static void name(real *a, real *b, const gv_wgmma_product *const of[GV_WARPGROUP]) \
    { \
        const gv_wgmma_product *p = of[0]; \
        uint32_t size = gv_operand_itemsize(p->type_a), depth = GV_WGMMA_DEPTH_BYTES / size, each = 4 / size; \
        bring_both(p, depth); \
        for (uint32_t t = 0; p->registers && t < GV_WARPGROUP; t++) \
            for (uint32_t i = 0; i < 4; i++) { \
                uint32_t row = t / GV_WARP * 16 + t % GV_WARP / 4 + i % 2 * 8; \
                uint32_t k = t % 4 * each + i / 2 * 4 * each; \
                converted(&a[row * depth + k], 1, &of[t]->registers[i], each, p->type_a); \
            } \
        if (!p->registers) name##_shared(a, depth, 1, p->a, p->a_across, GV_WGMMA_ROWS, depth, p->type_a); \
        name##_shared(b, 1, p->n, p->b, p->b_across, p->n, depth, p->type_b); \
    }
#define NEVER(...) 0
READ(read_doubles, double, gv_to_doubles, NEVER)

void gv_read_operands(double *a, double *b, const gv_wgmma_product *const of[GV_WARPGROUP]) { read_doubles(a, b, of); }

#if defined(__x86_64__)
// Elements that are adjacent in memory, but not as numbers, are converted in pieces of eight columns.
static inline int read_columns(float *to, uint32_t r_step, uint32_t k_step, gv_operand o, int across, uint32_t rows,
    uint32_t depth, int type)
{
    uint32_t size = gv_operand_itemsize(type), piece = 16 / size;
    uint32_t r_each = across ? piece : GV_COLUMNS, k_each = across ? GV_COLUMNS : piece;
    if ((across ? k_step : r_step) != 1 || depth % k_each) return 0;
    for (uint32_t r = 0; r < rows; r += r_each)
        for (uint32_t k = 0; k < depth; k += k_each) {
            const void *from[GV_COLUMNS];
            for (uint32_t c = 0; c < GV_COLUMNS; c++)
                from[c] = (const void *)gv_operand_place(o, across, size, across ? r : r + c, across ? k + c : k);
            gv_as_columns(&to[r * r_step + k * k_step], across ? r_step : k_step, from, piece, type);
        }
    return 1;
}
READ(read_floats, float, gv_as_floats, read_columns)

// Whether a multiple of eight numbers are whole; the largest one without its sign. 2^23 and more, and NaN, do not count
// as whole.
static GV_AVX2 int are_whole(const float *x, uint32_t count, float *largest)
{
    const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)), most = _mm256_set1_ps(0x1p23f);
    __m256 whole = _mm256_castsi256_ps(_mm256_set1_epi32(-1)), found = _mm256_setzero_ps();
    for (uint32_t i = 0; i < count; i += 8) {
        __m256 v = _mm256_and_ps(_mm256_loadu_ps(x + i), no_sign);
        whole = _mm256_and_ps(whole, _mm256_cmp_ps(v, _mm256_floor_ps(v), _CMP_EQ_OQ));
        whole = _mm256_and_ps(whole, _mm256_cmp_ps(v, most, _CMP_LT_OQ));
        found = _mm256_max_ps(found, v);
    }
    float all[8];
    _mm256_storeu_ps(all, found);
    *largest = 0;
    for (int i = 0; i < 8; i++) *largest = all[i] > *largest ? all[i] : *largest;
    return _mm256_movemask_ps(whole) == 0xff;
}

double gv_read_whole_operands(float *a, float *b, const gv_wgmma_product *const of[GV_WARPGROUP])
{
    float most_a, most_b;
    if (!gv_has_avx2()) return -1;
    uint32_t depth = GV_WGMMA_DEPTH_BYTES / gv_operand_itemsize(of[0]->type_a);
    read_floats(a, b, of);
    if (!are_whole(a, GV_WGMMA_ROWS * depth, &most_a) || !are_whole(b, of[0]->n * depth, &most_b)) return -1;
    return (double)most_a * most_b * depth;
}
#else
double gv_read_whole_operands(float *a, float *b, const gv_wgmma_product *const of[GV_WARPGROUP])
{
    (void)a;
    (void)b;
    (void)of;
    return -1;
}
#endif
