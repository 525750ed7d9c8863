// The order in which rung 64 hands out the tiles of C. The rungs from 65 on include it.
#pragma once
#include <gemmviz/ptx.h>

namespace gemmviz {

struct tile_place {
    int row, col;
};

// The place in C of tile number t: GROUP rows of tiles make a band, which is walked column by column. So the tiles that
// the blocks compute at one time share a few rows of A and columns of B, which are found in L2.
template <int GROUP> GEMMVIZ_PTX tile_place tile_at(int t, int down, int across)
{
    int top = t / (GROUP * across) * GROUP, high = min(GROUP, down - top), in_band = t - top * across;
    return {top + in_band % high, in_band / high};
}

} // namespace gemmviz
