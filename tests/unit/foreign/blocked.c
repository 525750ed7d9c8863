/* C in double precision: loops in blocks, the order of arguments turned round, sizes of type long. */
#include <stddef.h>
#include <string.h>

enum { SIDE = 16 };
static long smaller(long a, long b) { return a < b ? a : b; }

void gemm_blocked(long n, long m, long k, const double b[], const double a[], double c[])
{
    memset(c, 0, sizeof(double) * (size_t) m * (size_t) n);
    for (long i0 = 0; i0 < m; i0 += SIDE)
        for (long l0 = 0; l0 < k; l0 += SIDE)
            for (long j0 = 0; j0 < n; j0 += SIDE)
                for (long i = i0; i < smaller(i0 + SIDE, m); i++)
                    for (long l = l0; l < smaller(l0 + SIDE, k); l++) {
                        const double value = a[i * k + l];
                        for (long j = j0; j < smaller(j0 + SIDE, n); j++)
                            c[i * n + j] += value * b[l * n + j];
                    }
}
