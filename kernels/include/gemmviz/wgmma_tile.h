// Parts of a kernel that computes tiles of C with wgmma, as rungs 60 to 63 write them out. The rungs from 64 on include
// them. GPU compiler and recorder read this same file: each function is inlined, and its accesses are recorded on the line
// of the kernel that calls it.
#pragma once
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>

namespace gemmviz {

// Rungs 60 and 61. Starts sum = a b, or sum += a b: 64 rows of A, 16 deep, and BN columns of B. T is the type of their
// elements.
template <typename T, int BN>
GEMMVIZ_PTX void multiply(float (&sum)[BN / 2], ptx::operand a, ptx::operand b, int add)
{
    if constexpr (BN <= 256)
        ptx::wgmma_m64k16_f32<T, BN, ptx::ACROSS_K>(sum, a, b, add);
    else { // no instruction is as wide: two of them, and b's boxes of 64 rows and columns follow each other
        static_assert(BN == 320, "up to 256 columns, or 320");
        using ptx::operator+;
        ptx::wgmma_m64n192k16_f32<T, ptx::ACROSS_K>(*(float (*)[96])&sum[0], a, b, add);
        ptx::wgmma_m64n128k16_f32<T, ptx::ACROSS_K>(*(float (*)[64])&sum[96], a, b + (unsigned)(3 * 64 * 64 * sizeof(T)), add);
    }
}

// Rungs 60 and 61. Writes a warpgroup's sums, which begin at (row, col) of C. wgmma gives each of the 4 warps 16 of the 64
// rows; lane l of a warp has row l / 4 and the row 8 below (h), and of each 8 columns (j) column l % 4 * 2 and the next one.
template <int BN> GEMMVIZ_PTX void store(float *C, int M, int N, int row, int col, const float (&sum)[BN / 2])
{
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    col += threadIdx.x % 4 * 2;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        #pragma unroll
        for (int j = 0; j < BN / 8; j++) {
            if (row + 8 * h < M && col + 8 * j < N)
                *(float2 *)&C[(size_t)(row + 8 * h) * N + col + 8 * j] =
                    make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
        }
    }
}

// Rung 62. The place of a thread in the ring of stages. The parity is that of the phase in which the stage is filled.
template <int STAGES> struct ring {
    int stage = 0;
    unsigned parity = 0;
    __device__ __forceinline__ void next()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Rungs 62 and 63. One thread initialises the barriers of the stages: a stage is full after one arrival and the bytes that
// it announces, and empty after as many arrivals as it has readers.
template <int STAGES>
GEMMVIZ_PTX void ring_init(ptx::barrier (&full)[STAGES], ptx::barrier (&empty)[STAGES], unsigned readers)
{
    for (int s = 0; s < STAGES; s++) {
        ptx::barrier_init(full[s], 1);
        ptx::barrier_init(empty[s], readers);
    }
    ptx::barriers_ready();
}

} // namespace gemmviz
