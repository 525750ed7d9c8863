"""The tiles that a block works on: its part of C, and the shared arrays with its tiles of A and of B."""

from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.playable import Playable


@dataclass(frozen=True)
class BlockTiles:
    """The tiles of one block.

    Attributes
    ----------
    rows, columns
        Of C that the block writes: the first one, and the one after the last.
    of_a, of_b
        The shared arrays with tiles of A and of B, as indices of `Recording.arrays`: two, or one that has both.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    of_a: int
    of_b: int


@per_recording
def block_tiles(playable: Playable, block: int) -> BlockTiles | None:
    """Find the tiles of a block.

    Parameters
    ----------
    playable, block
        The recording, and the block.

    Returns
    -------
    BlockTiles or None
        None where the block's part of C is no rectangle or all of C, or where the block's shared arrays are not one
        with values of A and one with values of B, or a single one with both.
    """
    recording = playable.recording
    if recording.backend != "cuda" or recording.blocks < 2 or recording.sharing is not None:
        return None
    mine = recording.owners[0] == block
    rows, columns = (np.flatnonzero(mine.any(axis=axis)) for axis in (1, 0))
    if not len(rows) or mine.all():
        return None
    (top, bottom), (left, right) = ((int(found[0]), int(found[-1]) + 1) for found in (rows, columns))
    if not mine[top:bottom, left:right].all():
        return None
    shared = [index for index, array in enumerate(recording.arrays) if array.space == "shared"]
    of_a, of_b = (playable.feeding[matrix] for matrix in (A, B))
    if len(of_a) != 1 or len(of_b) != 1 or shared != sorted({*of_a, *of_b}):
        return None
    return BlockTiles((top, bottom), (left, right), of_a[0], of_b[0])
