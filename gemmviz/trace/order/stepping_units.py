"""The steps at which each unit of stepping begins: a step, a warp's request, a phase, a tile, an access of one cell."""

from typing import Literal, get_args

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

Unit = Literal["step", "request", "phase", "tile", "element"]
UNITS: tuple[Unit, ...] = get_args(Unit)
"""A step; a request of the chosen warp; a phase between barriers; a K tile; an access of the chosen cell."""


def possible(playable: Playable, unit: Unit, cell: tuple[int, int] | None) -> bool:
    """Return whether a recording has a unit.

    Parameters
    ----------
    playable
        The recording.
    unit
        One of `UNITS`.
    cell
        The chosen cell (array, element in memory order).
    """
    if unit == "request":
        return playable.recording.backend == "cuda"
    if unit == "phase":
        return len(playable.story.barriers) > 0
    if unit == "tile":
        return len(playable.story.tile_starts) > 0
    return unit != "element" or cell is not None


def stations(
    playable: Playable, unit: Unit, block: int = 0, warp: int = 0, cell: tuple[int, int] | None = None
) -> Ints | None:
    """Return the steps at which a unit begins, sorted; None if every step begins a unit.

    For phases and tiles the last step of the recording is included as the end.

    Parameters
    ----------
    playable
        The recording.
    unit
        One of `UNITS`.
    block, warp
        The block and warp of the requests; the block of a shared cell.
    cell
        The cell (array, element in memory order) for ``"element"``; for C also the accesses of its operands.
    """
    if unit == "phase":
        phases = np.flatnonzero(np.diff(playable.timeline.phase, prepend=-1) != 0)
        return _with_end(playable, phases)
    if unit == "tile":
        return _with_end(playable, playable.story.tile_starts)
    if unit == "request":
        return _requests(playable, block, warp)
    if unit == "element":
        return _touches(playable, cell, block) if cell is not None else np.zeros(0, np.int64)
    return None


def neighbour(stations: Ints, step: int, direction: int) -> int | None:
    """Return the station after a step (direction 1) or before it (-1); None if there is none."""
    if direction > 0:
        at = int(np.searchsorted(stations, step, side="right"))
        return int(stations[at]) if at < len(stations) else None
    at = int(np.searchsorted(stations, step, side="left")) - 1
    return int(stations[at]) if at >= 0 else None


def _with_end(playable: Playable, starts: Ints) -> Ints:
    last = playable.timeline.steps - 1
    return np.append(starts, last) if len(starts) and starts[-1] < last else starts


def _requests(playable: Playable, block: int, warp: int) -> Ints:
    log = playable.recording.accesses
    first, last = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    mine = first + np.flatnonzero(log.thread[first:last] // WARP == warp)
    made = np.zeros(playable.timeline.steps, bool)  # much faster than sorting: there may be millions
    made[playable.timeline.step_of_row[mine]] = True
    return np.flatnonzero(made)


def _touches(playable: Playable, cell: tuple[int, int], block: int) -> Ints:
    """Return the steps that access a cell; for an element of C also the steps of its operands."""
    array, element = cell
    origins = playable.provenance
    steps = origins.accesses_of(array, element, block).steps
    if array != C:
        return distinct(steps)
    row, column = (int(v[0]) for v in playable.recording.arrays[C].cells(np.array([element])))
    fed = origins.operand_paths(row, column)
    rows = np.concatenate([fed.read, fed.write[fed.write >= 0], fed.use])
    return distinct(np.concatenate([steps, playable.timeline.step_of_row[rows]]))
