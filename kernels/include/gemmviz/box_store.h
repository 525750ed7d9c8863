// The store of C through boxes of the copy engine, as rung 65 writes it out. The rungs from 66 on include it.
#pragma once
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>

namespace gemmviz {

// Writes two neighbouring sums of a lane to row r + 8 h of a warpgroup's boxes of 64 rows and 32 columns: those of the 8
// columns number j; lane l of a warp has column l % 4 * 2 and the next one. The place is swizzled as the tensor
// map says: the 4 columns of piece p of row r stand at piece p ^ (r % 8). Odd rows take their columns in another order:
// without that, two rows would meet in a bank.
GEMMVIZ_PTX void put(float (*box)[64][32], int r, int h, int j, const float *sum)
{
    const float *even = &sum[4 * j + 2 * h], *odd = &sum[4 * (j ^ 2) + 2 * h];
    int column = (r % 2 ? j ^ 2 : j) * 8 + threadIdx.x % 4 * 2, piece = column % 32 / 4 ^ r % 8;
    *(float2 *)&box[column / 32][r + 8 * h][piece * 4 + column % 4] =
        make_float2(r % 2 ? odd[0] : even[0], r % 2 ? odd[1] : even[1]);
}

// Sends a warpgroup's sums, which begin at (row, col) of C, through the group's two boxes.
template <int BN>
GEMMVIZ_PTX void store(const ptx::tensor_map &C, int row, int col, const float (&sum)[BN / 2], float (*box)[64][32])
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 64) {
        // The copy engine has to have read the boxes.
        if (sends)
            ptx::tma_store_wait<0>();
        ptx::threads_meet(group, 128);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < 8; j++)
                put(box, r, h, j, &sum[part / 2]);
        }
        ptx::shared_written();
        ptx::threads_meet(group, 128);
        if (sends) {
            ptx::tma_store(C, col + part, row, box[0]);
            ptx::tma_store(C, col + part + 32, row, box[1]);
            ptx::tma_store_commit();
        }
    }
}

} // namespace gemmviz
