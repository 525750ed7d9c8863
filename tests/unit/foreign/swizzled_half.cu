/* Half precision, macros instead of templates, a one-dimensional grid whose blocks take tiles in groups of rows. */
#include <cuda_fp16.h>

#define BM 32
#define BN 32
#define BK 16
#define GROUP 2
#define THREADS (BM * BN / 4)
#define OFFSET(row, col, ld) ((row) * (ld) + (col))

extern "C" __global__ void __launch_bounds__(THREADS)
hgemm_swizzled(const __half *__restrict__ x, const __half *__restrict__ w, float *__restrict__ out, int rows, int cols,
               int inner)
{
    __shared__ __half xs[BM][BK + 2];
    __shared__ __half ws[BK][BN];

    int tiles_m = (rows + BM - 1) / BM, tiles_n = (cols + BN - 1) / BN;
    int per_group = GROUP * tiles_n;
    int group = blockIdx.x / per_group, place = blockIdx.x % per_group;
    int first = group * GROUP;
    int height = min(tiles_m - first, GROUP);
    int row0 = (first + place % height) * BM;
    int col0 = (place / height) * BN;

    int tid = threadIdx.x;
    int r = tid / (BN / 2), c = tid % (BN / 2);
    float acc[2][2] = {};

    for (int k0 = 0; k0 < inner; k0 += BK) {
        for (int e = tid; e < BM * BK; e += THREADS) {
            int i = e / BK, k = e % BK;
            xs[i][k] = row0 + i < rows && k0 + k < inner ? x[OFFSET(row0 + i, k0 + k, inner)] : __float2half(0.0f);
        }
        for (int e = tid; e < BK * BN; e += THREADS) {
            int k = e / BN, j = e % BN;
            ws[k][j] = k0 + k < inner && col0 + j < cols ? w[OFFSET(k0 + k, col0 + j, cols)] : __float2half(0.0f);
        }
        __syncthreads();
        for (int k = 0; k < BK; k++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    acc[i][j] += __half2float(xs[r * 2 + i][k]) * __half2float(ws[k][c * 2 + j]);
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (row0 + r * 2 + i < rows && col0 + c * 2 + j < cols)
                out[OFFSET(row0 + r * 2 + i, col0 + c * 2 + j, cols)] = acc[i][j];
}
