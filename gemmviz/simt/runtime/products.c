#include "products.h"
#include "processor.h"

enum { ROWS = 4, WIDE = 4 };
typedef double wide __attribute__((vector_size(WIDE * sizeof(double)), aligned(sizeof(double))));

static inline __attribute__((always_inline)) void add(
    double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    for (uint32_t row = 0; row < rows; row += ROWS)
        for (uint32_t column = 0; column < columns; column += 2 * WIDE) {
            wide s[ROWS][2];
            for (uint32_t r = 0; r < ROWS; r++) {
                s[r][0] = *(const wide *)&sum[(row + r) * columns + column];
                s[r][1] = *(const wide *)&sum[(row + r) * columns + column + WIDE];
            }
            for (uint32_t k = 0; k < depth; k++) {
                wide low = *(const wide *)&b[k * columns + column];
                wide high = *(const wide *)&b[k * columns + column + WIDE];
                for (uint32_t r = 0; r < ROWS; r++) {
                    double x = a[(row + r) * depth + k];
                    wide all = {x, x, x, x};
                    s[r][0] += all * low;
                    s[r][1] += all * high;
                }
            }
            for (uint32_t r = 0; r < ROWS; r++) {
                *(wide *)&sum[(row + r) * columns + column] = s[r][0];
                *(wide *)&sum[(row + r) * columns + column + WIDE] = s[r][1];
            }
        }
}

#if defined(__x86_64__)
static GV_AVX2 void add_by_avx2(
    double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    add(sum, a, b, rows, columns, depth);
}

enum { WIDEST = 8 };
typedef double widest __attribute__((vector_size(WIDEST * sizeof(double)), aligned(sizeof(double))));

// The same for multiples of 16 columns, with vectors of twice the width. Each sum adds its products in the same order.
static GV_AVX512 void add_by_avx512(
    double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
    for (uint32_t row = 0; row < rows; row += ROWS)
        for (uint32_t column = 0; column < columns; column += 2 * WIDEST) {
            widest s[ROWS][2];
            for (uint32_t r = 0; r < ROWS; r++) {
                s[r][0] = *(const widest *)&sum[(row + r) * columns + column];
                s[r][1] = *(const widest *)&sum[(row + r) * columns + column + WIDEST];
            }
            for (uint32_t k = 0; k < depth; k++) {
                widest low = *(const widest *)&b[k * columns + column];
                widest high = *(const widest *)&b[k * columns + column + WIDEST];
                for (uint32_t r = 0; r < ROWS; r++) {
                    double x = a[(row + r) * depth + k];
                    widest all = {x, x, x, x, x, x, x, x};
                    s[r][0] += all * low;
                    s[r][1] += all * high;
                }
            }
            for (uint32_t r = 0; r < ROWS; r++) {
                *(widest *)&sum[(row + r) * columns + column] = s[r][0];
                *(widest *)&sum[(row + r) * columns + column + WIDEST] = s[r][1];
            }
        }
}
#endif

void gv_add_products(double *sum, const double *a, const double *b, uint32_t rows, uint32_t columns, uint32_t depth)
{
#if defined(__x86_64__)
    if (columns % (2 * WIDEST) == 0 && gv_has_avx512()) {
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
