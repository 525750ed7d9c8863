"""The contents of the arrays at a step, from the values that were recorded as written."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class History:
    """Every write of a recording, sorted by place and step, so that one search gives any array at any step.

    Attributes
    ----------
    base
        Per array: the first slot. A global array has one slot per element, a shared one a slot per block and element.
    key, row, value, item
        For each written element: (slot, step) as one number, sorted; the row that wrote it; the value; and the
        element's index among all written elements, in the order of the rows (as in
        `gemmviz.trace.origin.staging.Staged`).
    """

    recording: Recording
    timeline: Timeline
    base: tuple[int, ...]
    key: Ints
    row: Ints
    value: npt.NDArray[np.float32]
    item: Ints
    # The last result for each array: one picture needs the same several times.
    _asked: dict[int, tuple[int, int, Ints]] = field(default_factory=dict, compare=False, repr=False)

    def _last(self, array: int, step: int, block: int) -> Ints:
        """Return, for each element of an array, the index in `key` of its last write up to `step`, or -1."""
        known = self._asked.get(array)
        if known is None or known[:2] != (step, block):
            known = self._asked[array] = step, block, self._find_last(array, step, block)
        return known[2]

    def _find_last(self, array: int, step: int, block: int) -> Ints:
        info = self.recording.arrays[array]
        first = self.base[array] + (block * info.size if info.space == "shared" else 0)
        earliest = np.arange(first, first + info.size + 1) * self.timeline.steps
        # The keys of this array, and of this block, are adjacent.
        begin, end = np.searchsorted(self.key, earliest[[0, -1]])
        mine, earliest = self.key[begin:end], earliest[:-1]
        if not len(mine):
            return np.full(info.size, -1)
        at = np.searchsorted(mine, earliest + step, side="right") - 1
        return np.where((at >= 0) & (mine[at] >= earliest), at + begin, -1)

    def last_write(self, array: int, step: int, block: int = 0) -> Ints:
        """Return, for each element of an array in memory order, the row that last wrote it up to `step`, or -1.

        Parameters
        ----------
        array
            Index into ``recording.arrays``.
        step
            Position in the timeline, inclusive.
        block
            The block, for a shared array.
        """
        at = self._last(array, step, block)
        return np.where(at >= 0, self.row[np.maximum(at, 0)], -1) if len(self.row) else at

    def last_item(self, array: int, step: int, block: int = 0) -> Ints:
        """Return, for each element of an array, the index of its last write up to `step` among all writes, or -1.

        See `gemmviz.trace.origin.staging.Staged` for these indices, and `last_write` for the parameters.
        """
        at = self._last(array, step, block)
        return np.where(at >= 0, self.item[np.maximum(at, 0)], -1) if len(self.item) else at

    def values(self, array: int, step: int, block: int = 0) -> npt.NDArray[Any]:
        """Return the value of each element at `step` (float32, in memory order); NaN if nothing was written yet.

        For A and B, which are never written, use ``recording.a`` and ``recording.b``.
        """
        at = self._last(array, step, block)
        if not len(self.value):  # a kernel that writes nothing at all
            return np.full(len(at), np.nan, np.float32)
        return np.where(at >= 0, self.value[np.maximum(at, 0)], np.float32(np.nan))


def history(recording: Recording, timeline: Timeline) -> History:
    """Collect the writes of a recording."""
    log = recording.accesses
    base = [0]
    for array in recording.arrays:
        base.append(base[-1] + array.size * (recording.blocks if array.space == "shared" else 1))
    writes = np.flatnonzero(log.write)
    position, element, value = recording.covered(writes)
    rows = writes[position]
    which = log.array[rows]
    size = np.array([a.size if a.space == "shared" else 0 for a in recording.arrays], np.int64)
    slot = np.array(base, np.int64)[which] + size[which] * log.block[rows] + element
    key = slot * timeline.steps + timeline.step_of_row[rows]
    by_key = np.argsort(key, kind="stable")
    return History(recording, timeline, tuple(base[:-1]), key[by_key], rows[by_key], value[by_key], by_key)


def shared_source(recording: Recording, found: Staged) -> Ints:
    """Return, per row that writes shared memory, the row of the global read whose value it stored; -1 otherwise.

    For a write of several elements it is the source of the first element that has one.
    """
    source = np.full(len(recording.accesses), -1, np.int64)
    linked = np.flatnonzero(found.read >= 0)[::-1]
    source[found.row[linked]] = found.read[linked]
    return source
