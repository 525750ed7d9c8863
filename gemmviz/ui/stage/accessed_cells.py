"""Which drawn cells accesses touch: at a step, lately, by one warp. Remembered for the steps around the current one."""

from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np

from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.accesses import Array

# A window is worked out step by step, so that each step is looked at only once; as a whole where it has many steps with
# few accesses, or more steps than are kept: a step takes about as long as 200 accesses of a whole window.
_SMALL_WINDOW, _FEW_STEPS, _ACCESSES_OF_A_STEP = 4096, 16, 200
_KEPT_STEPS, _KEPT_WINDOWS = 192, 8
# How strongly an access glows at its own step, and how fast that fades over the trail.
_BRIGHTEST, _FADING = 0.92, 1.3


class AccessedCells:
    """The cells that a recording's accesses touch, as they are drawn: numbered row by row.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._playable = playable
        self._steps: OrderedDict[tuple[int, int, int | None], Ints] = OrderedDict()
        self._newest: dict[int, Ints] = {}
        self._arrays: dict[tuple[int, int], set[int]] = {}
        self._lately_of: tuple[tuple[int, int], tuple[Ints, Ints, Any]] | None = None
        self._warp: tuple[tuple[int, int, int], Ints] | None = None

    def rows(self, step: int, block: int | None = None) -> Ints:
        """Return the rows of a step, those of one block or all."""
        timeline = self._playable.timeline
        return timeline.rows(step) if block is None else self._playable.block_rows(step, block)

    def warp_rows(self, step: int, block: int, warp: int) -> Ints:
        """Return the rows of a warp's request at a step."""
        key = step, block, warp
        if self._warp is None or self._warp[0] != key:
            rows = self._playable.warp_rows(step, block, warp) if self._playable.timeline.steps else np.zeros(0, int)
            self._warp = key, rows
        return self._warp[1]

    def at(self, array: int, step: int, block: int | None = None) -> Ints:
        """Return the different cells of an array that a step touches, in one block or in all."""
        key = array, step, block
        found = self._steps.get(key)
        if found is None:
            if len(self._playable.timeline.array) and int(self._playable.timeline.array[step]) == array:
                cells, _ = covered(self._playable, array, self.rows(step, block))
                flags = np.zeros(self._playable.recording.arrays[array].size, bool)
                flags[cells] = True
                found = np.flatnonzero(flags)
            else:
                found = np.zeros(0, np.int64)
            self._steps[key] = found
            while len(self._steps) > _KEPT_STEPS:
                self._steps.popitem(last=False)
        else:
            self._steps.move_to_end(key)
        return found

    def lately(self, array: int, step: int, trail: int) -> bool:
        """Return whether any of the last `trail` steps accesses an array: if none does, nothing in it glows."""
        found = self._arrays.get((step, trail))
        if found is None:
            if len(self._arrays) >= _KEPT_WINDOWS:
                self._arrays.clear()
            first = max(0, step - trail + 1)
            found = self._arrays[step, trail] = {*self._playable.timeline.array[first : step + 1].tolist()}
        return array in found

    def glow(self, array: int, step: int, block: int | None, trail: int) -> tuple[Ints, Ints]:
        """Return the cells that glow, and for how many steps: see `strength`.

        Parameters
        ----------
        array, step
            The array and the step.
        block
            The block of the accesses; None for all blocks.
        trail
            For how many steps an access glows.
        """
        playable = self._playable
        if not playable.timeline.steps:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        cells, ages, alone = self._lately(array, step, block, trail)
        if alone:
            return cells, ages
        # Oldest first: of several accesses to a cell, the newest counts.
        newest = self._newest.setdefault(array, np.zeros(playable.recording.arrays[array].size, np.int64))
        numbers = np.arange(len(cells))
        newest[cells] = numbers
        kept = newest[cells] == numbers
        return cells[kept], ages[kept]

    def _lately(self, array: int, step: int, block: int | None, trail: int) -> tuple[Ints, Ints, bool]:
        """Return the cells touched in the last steps, oldest first; how many steps ago; whether each comes once."""
        playable = self._playable
        timeline, log = playable.timeline, playable.recording.accesses
        first = max(0, step - trail + 1)
        steps = first + np.flatnonzero(timeline.array[first : step + 1] == array)
        few = _ACCESSES_OF_A_STEP * len(steps) if len(steps) > _KEPT_STEPS else _SMALL_WINDOW
        if len(steps) > _FEW_STEPS and timeline.start[step + 1] - timeline.start[first] <= few:
            rows, ages, arrays = self._rows_lately(step, trail)
            keep = arrays == array
            if block is not None:
                keep &= log.block[rows] == block
            rows, ages = rows[keep], ages[keep]
            cells, place = covered(playable, array, rows)
            return cells, ages[place], False
        parts = [self.at(array, s, block) for s in steps.tolist()]
        none = [np.zeros(0, np.int64)]
        ages = np.repeat(step - steps, [len(part) for part in parts])
        return np.concatenate(none + parts), ages, len(parts) < 2

    def _rows_lately(self, step: int, trail: int) -> tuple[Ints, Ints, Any]:
        """Return the accesses of the last steps, how many steps ago, and their arrays: the same for every array."""
        key = step, trail
        if self._lately_of is None or self._lately_of[0] != key:
            rows, ages = self._playable.timeline.window(step, trail)
            self._lately_of = key, (rows, ages, self._playable.recording.accesses.array[rows])
        return self._lately_of[1]

    def sectors(self, array: int, step: int, block: int, warp: int) -> Ints:
        """Return the elements of each 32-byte sector that a warp touches in a global array at a step.

        Returns
        -------
        ndarray
            int64 (sectors, elements per sector), in memory order; empty if the warp does not touch the array, and on
            a CPU, which has no warps.
        """
        playable = self._playable
        info = playable.recording.arrays[array]
        length = max(SECTOR_BYTES // info.itemsize, 1)
        nothing = np.zeros((0, length), np.int64)
        if playable.recording.backend != "cuda" or info.space != "global" or not playable.timeline.steps:
            return nothing
        if int(playable.timeline.array[step]) != array:
            return nothing
        cells, _ = covered(playable, array, self.warp_rows(step, block, warp), memory_order=True)
        return distinct(cells // length)[:, None] * length + np.arange(length)


@cache
def strength(trail: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return how strongly an access glows after each number of steps, float32 (trail,), 0 to 1."""
    return (_BRIGHTEST * (1 - np.arange(trail) / trail) ** _FADING).astype(np.float32)


def covered(playable: Playable, array: int, rows: Ints, memory_order: bool = False) -> tuple[Ints, Ints]:
    """Return the drawn cells that accesses cover, and for each the place of its access in `rows`.

    Cells are numbered row by row as drawn, or as they stand in memory.
    """
    info = playable.recording.arrays[array]
    position, element = playable.recording.elements(rows)
    element = np.minimum(element, info.size - 1)
    return element if memory_order else as_drawn(info, element), position


def as_drawn(info: Array, element: Ints) -> Ints:
    """Return the drawn cells, numbered row by row, of elements given by their place in memory."""
    if not info.column_major and not info.panels:
        return element
    row, column = info.cells(element)
    drawn: Ints = row * info.grid[1] + column
    return drawn
