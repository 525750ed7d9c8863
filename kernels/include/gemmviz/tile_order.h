// The order in which rung 64 hands out the tiles of C. The rungs from 65 on include it.
#pragma once
#include <gemmviz/ptx.h>

namespace gemmviz {

struct tile_place {
    int row, col;
};

// The place in C of tile number t: GROUP rows of tiles make a band, which is walked column by column. So the tiles that
// the blocks compute at one time share a few rows of A and columns of B, which are found in L2.
template <int GROUP> GEMMVIZ_PTX tile_place tile_at(unsigned t, int down, int across)
{
    // A division takes some hundred cycles, which counts at the start: one band, and bands of full height, do without.
    int top = down > GROUP ? t / (unsigned)(GROUP * across) * GROUP : 0, high = min(GROUP, down - top);
    unsigned in_band = t - top * across;
    if (high == GROUP)
        return {top + (int)(in_band % GROUP), (int)(in_band / GROUP)};
    return {top + (int)(in_band % (unsigned)high), (int)(in_band / (unsigned)high)};
}

} // namespace gemmviz
