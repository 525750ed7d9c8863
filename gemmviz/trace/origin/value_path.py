"""The hops of one value: from global memory, through shared memory, to the thread that multiplies it.

A table of hops can have thousands of rows: it is kept as columns, and a row is made when it is shown.
"""

from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.matrices import A, C
from gemmviz.trace.origin.operand_paths import CellAccesses, OperandPaths
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.playable import Playable

Cell = tuple[int, int]
"""An array's index, and an element in memory order."""


@dataclass(frozen=True)
class PathStop:
    """One access on the path of a value: the cell, the thread, and the step and line (from 1; 0: unknown)."""

    cell: Cell
    block: int
    thread: int
    step: int
    line: int
    value: float


@dataclass(frozen=True)
class Hop:
    """The path of one value of A or B to an element of C.

    Attributes
    ----------
    k
        Its position along K.
    origin
        Its cell in A or B.
    read, write, use
        The read from global memory, the write to shared memory, and the read by the thread that multiplies it; without
        shared memory, `write` is None and `use` is `read`.
    target
        The element of C.
    """

    k: int
    origin: Cell
    read: PathStop
    write: PathStop | None
    use: PathStop
    target: Cell

    @property
    def misread(self) -> bool:
        """Whether the multiplying thread read a value that differs from the one in the cell: a race."""
        return self.write is not None and not same(self.use.value, self.read.value)


def hop_at(playable: Playable, fed: OperandPaths, place: int, target: Cell) -> Hop:
    """Return one path of `OperandPaths` as a `Hop`.

    Parameters
    ----------
    playable, fed
        The recording, and the paths.
    place
        The index of the path.
    target
        The element of C.
    """
    matrix, k = int(fed.matrix[place]), int(fed.k[place])
    read, write, use = (int(column[place]) for column in (fed.read, fed.write, fed.use))
    info = playable.recording.arrays[C]
    row, column = (int(v[0]) for v in info.cells(np.array([target[1]])))
    origin = matrix, element_at(playable, matrix, row if matrix == A else k, k if matrix == A else column)
    if write < 0:
        only = _stop(playable, read, origin)
        return Hop(k, origin, only, None, only, target)
    array = int(playable.recording.accesses.array[use])
    shared = array, _shared_element(playable, read, write, use, origin)
    return Hop(
        k, origin, _stop(playable, read, origin), _stop(playable, write, shared), _stop(playable, use, shared), target
    )


def hops_now(playable: Playable, fed: OperandPaths, target: Cell, step: int, most: int) -> list[Hop]:
    """Return the hops with an access at a step, at most `most` of them."""
    when = playable.timeline.step_of_row
    now = (when[fed.read] == step) | (when[fed.use] == step) | ((fed.write >= 0) & (when[fed.write] == step))
    return [hop_at(playable, fed, place, target) for place in np.flatnonzero(now)[:most].tolist()]


def first_after(playable: Playable, fed: OperandPaths, step: int) -> int:
    """Return the index of the first path that is used at a step or later, else the last index; -1 without paths."""
    if not len(fed.use):
        return -1
    return min(int(np.searchsorted(playable.timeline.step_of_row[fed.use], step)), len(fed.use) - 1)


def touch_at(playable: Playable, touches: CellAccesses, place: int, cell: Cell) -> PathStop:
    """Return one access of a cell as a `PathStop`."""
    return _stop(playable, int(touches.rows[place]), cell)


def element_at(playable: Playable, array: int, row: int, column: int) -> int:
    """Return the index of an element of an array in memory order."""
    return playable.recording.arrays[array].element(row, column)


def _stop(playable: Playable, row: int, cell: Cell) -> PathStop:
    recording, log = playable.recording, playable.recording.accesses
    _, elements, values = recording.covered(np.array([row]))
    mine = np.flatnonzero(elements == cell[1])
    step = int(playable.timeline.step_of_row[row])
    return PathStop(
        cell,
        int(log.block[row]),
        int(log.thread[row]),
        step,
        recording.sites[int(log.site[row])].line,
        float(values[mine[0]]) if len(mine) else float("nan"),
    )


def _shared_element(playable: Playable, read: int, write: int, use: int, origin: Cell) -> int:
    """Return the shared element of a value's path: both accesses may cover several elements."""
    staged = playable.staged
    first, last = np.searchsorted(staged.row, (write, write + 1))
    here = np.arange(first, last)
    fits = here[(staged.read[here] == read) & (staged.read_element[here] == origin[1])]
    used = playable.recording.elements(np.array([use]))[1]
    for element in staged.element[fits].tolist():
        if element in used:
            return int(element)
    return int(used[0])
