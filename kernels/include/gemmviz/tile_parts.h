// The products of a piece, as rung 67 writes them out, and the sums of a tile's parts in memory, as rung 68a does. Rung 84
// includes them.
#pragma once
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>

namespace gemmviz {

// Rung 67. sum = the products of a piece; a and b are the operands in the first stage. give_back() returns the stage before, when
// its products have ended.
template <typename T, int BN, int STAGES, typename Tiles, typename Function>
GEMMVIZ_PTX void multiply_piece(float (&sum)[BN / 2], ptx::operand a, ptx::operand b, Tiles &tile, const piece &p,
                                ring<STAGES> &at, ptx::barrier (&full)[STAGES], Function give_back)
{
    using ptx::operator+;
    for (int t = p.from; t < p.to; t++, at.next()) {
        ptx::barrier_wait(full[at.stage], at.parity);
        ptx::wgmma_begin();
        #pragma unroll
        for (int k = 0; k < 64; k += 16)
            multiply<T, BN>(sum, a + (at.stage * sizeof(tile.a[0]) + k * sizeof(T)),
                            b + (at.stage * sizeof(tile.b[0]) + k * sizeof(tile.b[0][0][0])), t > p.from || k);
        ptx::wgmma_commit();
        ptx::wgmma_wait<1>();
        if (t > p.from)
            give_back();
    }
    ptx::wgmma_wait<0>();
    give_back();
}

// Rung 68a. Keeps the sums of a part that another block finishes: each thread from its place in `part` on, at every STEP-th one.
template <int STEP, int COUNT> GEMMVIZ_PTX void keep(float4 *part, const float (&sum)[COUNT])
{
    #pragma unroll
    for (int i = 0; i < COUNT / 4; i++)
        part[i * STEP] = make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
}

// Rung 68a. Adds the sums that `keep` has kept.
template <int STEP, int COUNT> GEMMVIZ_PTX void add_kept(float (&sum)[COUNT], const float4 *part)
{
    #pragma unroll
    for (int i = 0; i < COUNT / 4; i++) {
        float4 v = __ldcg(part + i * STEP);
        sum[4 * i] += v.x, sum[4 * i + 1] += v.y, sum[4 * i + 2] += v.z, sum[4 * i + 3] += v.w;
    }
}

} // namespace gemmviz
