#include "products.h"
#include "processor.h"

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
