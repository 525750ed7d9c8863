"""The contents of the arrays at a step, from the values that were recorded as written."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import Recording

_MOST_PER_SLOT = 4
"""Writes per slot: of more, the last one is searched for, as to look at all takes longer, and more memory."""


@dataclass(frozen=True)
class _Writes:
    """The writes of one array in the order of `History.key`: the first slot, and the range of keys.

    Their steps, and slots counted from the first one, int32 (writes,); no steps if there are too many writes or none.
    """

    first: int
    begin: int
    end: int
    step: npt.NDArray[np.int32] | None
    slot: npt.NDArray[np.int32]


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
    # The writes of each array, of the last block.
    _writes: dict[int, "tuple[int, _Writes]"] = field(default_factory=dict, compare=False, repr=False)

    def _last(self, array: int, step: int, block: int) -> Ints:
        """Return, for each element of an array, the index in `key` of its last write up to `step`, or -1."""
        known = self._asked.get(array)
        if known is None or known[:2] != (step, block):
            known = self._asked[array] = step, block, self._find_last(array, step, block)
        return known[2]

    def _find_last(self, array: int, step: int, block: int) -> Ints:
        size = self.recording.arrays[array].size
        writes = self._of(array, block)
        found = np.full(size, -1)
        if writes.step is not None:
            # In the order of slots and steps: of several writes of a slot, the last one stays.
            done = np.flatnonzero(writes.step <= step)
            found[writes.slot[done]] = done + writes.begin
        elif writes.begin < writes.end:
            earliest = np.arange(writes.first, writes.first + size) * self.timeline.steps
            mine = self.key[writes.begin : writes.end]
            at = np.searchsorted(mine, earliest + step, side="right") - 1
            found = np.where((at >= 0) & (mine[at] >= earliest), at + writes.begin, -1)
        return found

    def _of(self, array: int, block: int) -> "_Writes":
        """Return the writes of an array, and of this block if it is a shared one."""
        known = self._writes.get(array)
        if known is None or known[0] != block:
            known = self._writes[array] = block, self._find_writes(array, block)
        return known[1]

    def _find_writes(self, array: int, block: int) -> "_Writes":
        info, steps = self.recording.arrays[array], self.timeline.steps
        first = self.base[array] + (block * info.size if info.space == "shared" else 0)
        # The keys of this array, and of this block, are adjacent.
        begin, end = np.searchsorted(self.key, (first * steps, (first + info.size) * steps)).tolist()
        if not 0 < end - begin <= _MOST_PER_SLOT * info.size:
            return _Writes(first, begin, end, None, np.zeros(0, np.int32))
        slot, at = np.divmod(self.key[begin:end], steps)
        return _Writes(first, begin, end, at.astype(np.int32), (slot - first).astype(np.int32))

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
