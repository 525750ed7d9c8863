"""The tiles of a block against the recorded rows: its part of C, and the shared arrays that it fills from A and B."""

import numpy as np
import pytest
from demo_recordings import at_demo

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.lenses.block_tiles import block_tiles


@pytest.mark.parametrize("name", ["gputiled", "matmul_kernel_2d_thread_tiling"])
def test_a_block_has_a_rectangle_of_c_and_a_tile_of_a_and_of_b(name: str) -> None:
    playable = at_demo(name)
    recording, log = playable.recording, playable.recording.accesses
    for block in range(recording.blocks):
        found = block_tiles(playable, block)
        assert found is not None
        written = log.element[(log.block == block) & (log.array == C) & log.write]
        rows, columns = np.divmod(np.unique(written.astype(np.int64)), recording.n)
        assert (rows.min(), rows.max() + 1, columns.min(), columns.max() + 1) == (*found.rows, *found.columns)
        assert {recording.arrays[at].name for at in (found.of_a, found.of_b)} == {"As", "Bs"}
        for array, matrix in ((found.of_a, A), (found.of_b, B)):
            mine = np.isin(playable.staged.row, np.flatnonzero((log.block == block) & (log.array == array)))
            read = playable.staged.read[mine]
            assert set(log.array[read[read >= 0]].tolist()) == {matrix}


@pytest.mark.parametrize("name", ["gpumult0", "hostmult0", "stream_k"])
def test_a_block_without_a_shared_array_for_each_matrix_has_no_tiles(name: str) -> None:
    assert block_tiles(at_demo(name), 0) is None
