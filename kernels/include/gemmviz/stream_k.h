// Parts of rung 67, as it writes them out: shares of k-steps, the flags between clusters, and the store that can add.
// Rung 68a and those from 69 on include them. New here: a tile may have more than two parts.
#pragma once
#include <gemmviz/box_store.h>
#include <gemmviz/ptx.h>
#include <gemmviz/tile_order.h>

namespace gemmviz {

enum { MOST_BLOCKS = 264, MOST_GROUPS = 3 };
// Whether a group of a block has stored its part of a tile that the next cluster adds to. A cluster waits only for the one
// before it: GPUs start that first, though CUDA does not promise it. The group that has waited lowers the flag, so the next
// launch finds all of them down; two launches at one time would not.
__device__ volatile int begun[MOST_BLOCKS][MOST_GROUPS];

// One thread of a group tells the next cluster that the sums which it has sent are in C.
GEMMVIZ_PTX void tell(int group)
{
    ptx::tma_store_wait_written();
    __threadfence();
    begun[blockIdx.x][group] = 1;
}

// The same thread waits until the cluster before has stored its part.
template <int CLUSTER> GEMMVIZ_PTX void wait_for_first_part(int group)
{
    volatile int &first_part = begun[blockIdx.x - CLUSTER][group];
    while (!first_part) {}
    first_part = 0;
    __threadfence();
    ptx::global_read();
}

// Where a tile is, in tiles, and which k-steps of it are meant.
struct piece {
    int row, col, from, to;
};

// The pieces of a cluster. With SPLIT > 1 each tile has so many parts, and each cluster has one: every SPLIT-th k-step, from
// its number on. So the parts of a tile read side by side, whole rows of DRAM. Clusters with successive numbers have one tile.
// Else whole tiles, wave by wave, keep all clusters busy until the last wave. If that one would leave a quarter of the
// clusters or more without a tile, the tiles of it and of one wave more are divided into equal shares of k-steps (to one
// step), which come before the whole tiles. Each share runs from its end to its beginning: so the first part of a tile is
// stored long before the cluster with the rest adds to it. No share is shorter than a tile, so a tile has two parts at most.
template <int GROUP, int SPLIT = 1> struct share {
    int down, across, steps, me, workers, begin, end, tile, whole;

    __device__ share(int down, int across, int steps, int me, int workers)
        : down(down), across(across), steps(steps), me(me), workers(workers)
    {
        int tiles = down * across;
        whole = me;
        begin = end = 0;
        tile = -1;
        if (SPLIT > 1) {
            tile = (unsigned)me / SPLIT;
            begin = tile * steps + (unsigned)me % SPLIT;
            end = tile * steps + steps;
            whole = tiles;
        } else if (tiles > workers) {
            // Divisions of unsigned numbers are shorter, and the fewer tiles there are, the more does the start count.
            unsigned rest = (unsigned)tiles % (unsigned)workers, split = workers + rest;
            if (rest && 4 * rest <= 3 * (unsigned)workers) {
                unsigned each = split * steps / (unsigned)workers, more = split * steps - each * workers;
                whole += split;
                begin = each * me + min(me, (int)more);
                end = begin + each + (me < (int)more);
                tile = (unsigned)(end - 1) / (unsigned)steps;
            }
        }
    }
    // Whether this cluster adds up the parts of its piece's tile. It has the tile's last step; with SPLIT > 1, the last part.
    __device__ bool adds_up(const piece &p) const { return SPLIT > 1 ? (unsigned)me % SPLIT == SPLIT - 1 : p.to == steps; }
    // How many clusters with lower numbers have the other parts of a tile which this one adds up, and which.
    __device__ int others() const { return SPLIT > 1 ? SPLIT - 1 : 1; }
    __device__ int other(int part) const { return me - 1 - part; }
    __device__ bool next(piece &p)
    {
        bool part = tile >= 0 && (tile + 1) * steps > begin;
        int t = part ? tile : whole;
        if (t >= down * across)
            return false;
        tile_place at = tile_at<GROUP>(t, down, across);
        p = {at.row, at.col, 0, steps};
        if (part) {
            p.from = max(begin - t * steps, 0);
            p.to = min(end - t * steps, steps);
            tile--;
        } else
            whole += workers;
        return true;
    }
};

// Stores a warpgroup's sums, which begin at (row, col) of C, or adds them to C, through the group's boxes of 64 rows
// and 32 columns: one is written while the copy engine reads the other. A policy, if there is one, says what L2 does with
// stored lines.
template <int BN, typename... Policy>
GEMMVIZ_PTX void store(const ptx::tensor_map &C, int row, int col, const float (&sum)[BN / 2], float (*boxes)[64][32],
                       bool add, Policy... policy)
{
    int group = threadIdx.x / 128, r = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    bool sends = threadIdx.x % 128 == 0;
    #pragma unroll
    for (int part = 0; part < BN; part += 32) {
        auto &box = boxes[part / 32 % 2];
        // The copy engine has to have read the box: all stores but the last one, or that too where it used this box.
        if (sends)
            BN % 64 && part == 0 ? ptx::tma_store_wait<0>() : ptx::tma_store_wait<1>();
        ptx::threads_meet(group, 128);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < 4; j++)
                put(&box, r, h, j, &sum[part / 2]);
        }
        ptx::shared_written();
        ptx::threads_meet(group, 128);
        if (sends) {
            if (add)
                ptx::tma_add(C, col + part, row, box);
            else
                ptx::tma_store(C, col + part, row, box, policy...);
            ptx::tma_store_commit();
        }
    }
}

} // namespace gemmviz
