// The loops over the stages of one tile, as rungs 62 to 64 write them out: the loader's and a warpgroup's. The rungs from 65 on
// include them.
#pragma once
#include <cuda_fp16.h>
#include <gemmviz/ptx.h>
#include <gemmviz/tile_order.h>
#include <gemmviz/wgmma_tile.h>

namespace gemmviz {

// Rung 64. Asks for the boxes of the tile `to`: 128 rows of A and BN columns of B for each 64 of K.
template <int BN, int STAGES, typename Tiles>
GEMMVIZ_PTX void load_tile(Tiles &tile, tile_place to, int K, ring<STAGES> &at, ptx::barrier (&full)[STAGES],
                           ptx::barrier (&empty)[STAGES], const ptx::tensor_map &A, const ptx::tensor_map &B)
{
    for (int t = 0; t < K; t += 64, at.next()) {
        ptx::barrier_wait(empty[at.stage], at.parity ^ 1);
        ptx::barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
        ptx::tma_load(tile.a[at.stage], A, t, to.row * 128, full[at.stage]);
        for (int j = 0; j < BN / 64; j++)
            ptx::tma_load(tile.b[at.stage][j], B, to.col * BN + 64 * j, t, full[at.stage]);
    }
}

// Rungs 62 and 63. sum = the products of a tile: of 64 rows of its A, from `rows` on, and of BN columns of B. give_back() returns
// the stage before, when its products have ended.
template <int BN, int STAGES, typename Tiles, typename Function>
GEMMVIZ_PTX void multiply_tile(float (&sum)[BN / 2], Tiles &tile, int rows, int K, ring<STAGES> &at,
                               ptx::barrier (&full)[STAGES], Function give_back)
{
    for (int t = 0; t < K; t += 64, at.next()) {
        ptx::barrier_wait(full[at.stage], at.parity);
        ptx::wgmma_begin();
        #pragma unroll
        for (int k = 0; k < 64; k += 16)
            multiply<half, BN>(sum, ptx::along_k(&tile.a[at.stage][rows][k]),
                               ptx::across_k(tile.b[at.stage][0][k], sizeof(tile.b[0][0])), t || k);
        ptx::wgmma_commit();
        ptx::wgmma_wait<1>();
        if (t > 0)
            give_back();
    }
    ptx::wgmma_wait<0>();
    give_back();
}

} // namespace gemmviz
