"""Warpgroups that multiply with wgmma: which of them own the sums of C at a step, and which own nothing.

Registers leave no trace. Whose an element is, is recorded where it is handed over: by the thread that writes it to C,
or to the shared tile that the copy engine stores. It belongs to the work that its warpgroup had done by then: all that
a warpgroup hands over without reading further operands is one tile, and what it holds next is its next tile.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import WARPGROUP, Recording
from gemmviz.trace.requests import Ints
from gemmviz.trace.timeline import Timeline


@dataclass(frozen=True)
class Groups:
    """The warpgroups of a recording in which they multiply.

    Attributes
    ----------
    count
        Warpgroups of a block; 0 where none multiplies.
    owning, asking
        Of each, whether it owns an element of C in any block, and whether one of its threads asks for boxes that are
        loaded.
    steps
        Of the timeline.
    owner
        int64 (m, n), whose sum each element of C is: block * `count` + warpgroup; -1 where nobody writes it.
    work
        int64 (m, n), how many steps its owner had read operands in when it handed the element over.
    read
        int64, sorted: the steps in which each warpgroup reads operands, as (owner * steps + step).
    tiles
        int64, sorted: the different `work` of each owner's elements, as (owner * (steps + 1) + work).
    """

    count: int
    owning: tuple[bool, ...]
    asking: tuple[bool, ...]
    steps: int
    owner: Ints
    work: Ints
    read: Ints
    tiles: Ints

    def tile(self, step: int, block: int, group: int) -> int:
        """Return which tile a warpgroup works on after a step: the `work` of its elements; -1 where it owns none."""
        own = block * self.count + group
        first, last = np.searchsorted(self.read, (own * self.steps, own * self.steps + step + 1))
        begin, end = np.searchsorted(self.tiles, (own * (self.steps + 1), (own + 1) * (self.steps + 1)))
        if begin == end:
            return -1
        next_one = np.searchsorted(self.tiles, own * (self.steps + 1) + last - first)
        return int(self.tiles[min(int(next_one), int(end) - 1)]) % (self.steps + 1)

    def held(self, block: int, group: int, tile: int) -> npt.NDArray[np.bool_]:
        """Return which elements of C (m, n) a warpgroup holds while it works on a tile."""
        mine: npt.NDArray[np.bool_] = (self.owner == block * self.count + group) & (self.work == tile)
        return mine

    def of_thread(self, recording: Recording, row: int, column: int) -> Ints:
        """Return the elements of C that the owner of one holds together with it, numbered row by row, ascending."""
        thread = recording.owners[1]
        same = (self.owner == self.owner[row, column]) & (self.work == self.work[row, column])
        return np.flatnonzero(same & (thread == thread[row, column])) if self.owner[row, column] >= 0 else self.read[:0]


def groups(recording: Recording, timeline: Timeline) -> Groups:
    """Find the warpgroups of a recording and what they own."""
    count = -(-recording.threads // WARPGROUP) if "wgmma" in recording.text else 0
    block, thread = recording.owners
    owner = np.where(block >= 0, block * count + thread // WARPGROUP, -1)
    if not count or not timeline.steps:
        none = np.zeros(0, np.int64)
        return Groups(0, (), (), timeline.steps, np.full_like(owner, -1), np.full_like(owner, -1), none, none)
    boxes, log = recording.boxes, recording.accesses
    loaded = np.isin(np.arange(len(recording.arrays)), boxes.array[boxes.store == 0])
    rows = np.flatnonzero(loaded[log.array] & ~log.write)
    of_row = log.block[rows].astype(np.int64) * count + log.thread[rows] // WARPGROUP
    read = np.unique(of_row * timeline.steps + timeline.step_of_row[rows])
    handed = recording.handed_over
    when = timeline.step_of_row[np.maximum(handed, 0)]
    work = np.searchsorted(read, owner * timeline.steps + when) - np.searchsorted(read, owner * timeline.steps)
    owns = np.bincount(owner[owner >= 0] % count, minlength=count) > 0
    asks = np.bincount(boxes.thread[boxes.store == 0] // WARPGROUP, minlength=count) > 0
    return Groups(
        count,
        tuple(owns.tolist()),
        tuple(asks.tolist()),
        timeline.steps,
        owner,
        np.where(owner >= 0, work, -1),
        read,
        np.unique((owner * (timeline.steps + 1) + work)[owner >= 0]),
    )
