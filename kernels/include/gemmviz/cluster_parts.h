// Parts of a block in a cluster, as rungs 66 and 67 write them out, and of tiles along K, as rung 69 writes them out. The
// rungs from 69 on include them.
#pragma once
#include <gemmviz/ptx.h>
#include <gemmviz/stream_k.h>
#include <gemmviz/wgmma_tile.h>

namespace gemmviz {

// Rung 67. Initialises the barriers of the stages, and asks for the tensor maps. Before a stage is overwritten, the groups of
// all blocks that share it have read it: so many readers does a stage have.
template <int STAGES>
GEMMVIZ_PTX void begin(ptx::barrier (&full)[STAGES], ptx::barrier (&empty)[STAGES], unsigned readers,
                       const ptx::tensor_map &A, const ptx::tensor_map &B, const ptx::tensor_map &C)
{
    if (threadIdx.x == 0) {
        ring_init(full, empty, readers);
        ptx::tma_prefetch(A);
        ptx::tma_prefetch(B);
    } else if (threadIdx.x == 128)
        ptx::tma_prefetch(C);
}

// Rung 66. A call of it by a warpgroup returns the stage `before` to all blocks of the cluster.
template <int CLUSTER, int STAGES> struct returned_stages {
    ptx::barrier (&empty)[STAGES];
    ring<STAGES> &before;
    __device__ __forceinline__ void operator()() const
    {
        if (threadIdx.x % 128 < CLUSTER)
            ptx::barrier_arrive_at(empty[before.stage], threadIdx.x % 128);
        before.next();
    }
};

// Rung 67. The end of a block, for all its threads. No block leaves while others copy to its shared memory, or arrive at its
// barriers.
template <int CLUSTER> GEMMVIZ_PTX void leave()
{
    if (CLUSTER > 1)
        ptx::cluster_meet();
}

// Rung 69. Dynamic shared memory. A row has the 128 bytes of K that the tensor cores read swizzled: those of a row of A, or of
// a column of B. C leaves in boxes of 32 floats.
template <typename T, int BM, int BN, int STAGES> struct tiles_along_k {
    enum { DEEP = 128 / sizeof(T) };
    T a[STAGES][BM][DEEP], b[STAGES][BN][DEEP];
    float c[BM / 64][2][64][32];
};

// As rung 69, but without its cache policies and early copies. Asks for the tiles of a piece, stage by stage. Each block of a
// cluster copies an equal part of B's columns, for all.
template <int CLUSTER, typename T, int BM, int BN, int STAGES>
GEMMVIZ_PTX void load(tiles_along_k<T, BM, BN, STAGES> &tile, const piece &p, int rank, ring<STAGES> &at,
                      ptx::barrier (&full)[STAGES], ptx::barrier (&empty)[STAGES], const ptx::tensor_map &A,
                      const ptx::tensor_map &B)
{
    enum { DEEP = 128 / sizeof(T), PART = BN / CLUSTER };
    for (int t = p.from * DEEP; t < p.to * DEEP; t += DEEP, at.next()) {
        ptx::barrier_wait(empty[at.stage], at.parity ^ 1);
        ptx::barrier_arrive_expect(full[at.stage], sizeof(tile.a[0]) + sizeof(tile.b[0]));
        ptx::tma_load(tile.a[at.stage], A, t, (p.row * CLUSTER + rank) * BM, full[at.stage]);
        auto &part = tile.b[at.stage][rank * PART];
        int col = p.col * BN + rank * PART;
        if (CLUSTER == 1)
            ptx::tma_load(part, B, t, col, full[at.stage]);
        else
            ptx::tma_load_multicast(part, B, t, col, full[at.stage], (1 << CLUSTER) - 1);
    }
}

} // namespace gemmviz
