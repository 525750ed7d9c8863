"""Warpgroups that multiply with wgmma: which of them hold which sums of C at a step.

Registers are not recorded. The owner of an element is known from its store: by the thread that writes it to C, or to
the shared tile that the copy engine stores. A warpgroup that reads no operands has no sums: one that stores zeros, to
which others add theirs, owns nothing. All elements that a warpgroup stores without reading further operands in
between are one tile; the sums that it holds afterwards are its next tile.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import WARPGROUP, Recording
from gemmviz.trace.recording.tma_stores import before_store


@dataclass(frozen=True)
class Warpgroups:
    """The warpgroups of a recording.

    Attributes
    ----------
    count
        The number of warpgroups of a block; 0 if none multiplies.
    owning, asking
        Per warpgroup, whether it stores a sum of C in any block, and whether one of its threads requests boxes to
        load.
    steps
        Of the timeline.
    read
        int64, sorted: the steps in which each warpgroup reads operands, as (owner * steps + step). An owner is numbered
        block * `count` + warpgroup.
    tile_of
        int64, sorted: the tile with which each element was stored, as (owner * (steps + 1) + the steps in which its
        owner had read operands by then). An element with parts from several blocks has an entry for each of them.
    cell, thread
        int64, in the same order: the element of C, numbered row by row, and the thread that held it.
    last
        int64 (m, n), the index in `tile_of` of the last store of each element; -1 if there is none.
    """

    count: int
    owning: tuple[bool, ...]
    asking: tuple[bool, ...]
    steps: int
    read: Ints
    tile_of: Ints
    cell: Ints
    thread: Ints
    last: Ints

    def tile(self, step: int, block: int, group: int) -> int:
        """Return the tile that a warpgroup works on after a step, as in `tile_of`; -1 if it never owns any."""
        own = block * self.count + group
        first, last = np.searchsorted(self.read, (own * self.steps, own * self.steps + step + 1))
        begin, end = np.searchsorted(self.tile_of, (own * (self.steps + 1), (own + 1) * (self.steps + 1)))
        if begin == end:
            return -1
        next_one = int(np.searchsorted(self.tile_of, own * (self.steps + 1) + last - first))
        return int(self.tile_of[min(next_one, int(end) - 1)])

    def held(self, tile: int) -> npt.NDArray[np.bool_]:
        """Return which elements of C (m, n) are held by the warpgroup that works on a tile."""
        found = np.zeros(self.last.shape, bool)
        found.reshape(-1)[self.cell[self._of(tile)]] = True
        return found

    def of_thread(self, row: int, column: int) -> Ints:
        """Return the elements of C that the last owner of an element held with it, numbered row by row, ascending."""
        last = int(self.last[row, column])
        if last < 0:
            return self.cell[:0]
        tile = self._of(int(self.tile_of[last]))
        return distinct(self.cell[tile][self.thread[tile] == self.thread[last]])

    def group(self, row: int, column: int) -> int:
        """Return the warpgroup that held an element of C last; -1 if none did."""
        last = int(self.last[row, column])
        return int(self.tile_of[last]) // (self.steps + 1) % self.count if last >= 0 else -1

    def _of(self, tile: int) -> slice:
        first, last = np.searchsorted(self.tile_of, (tile, tile + 1)).tolist()
        return slice(first, last)


def warpgroups(recording: Recording, timeline: Timeline) -> Warpgroups:
    """Find the warpgroups of a recording and the elements that they own."""
    count = -(-recording.threads // WARPGROUP) if recording.together == WARPGROUP else 0
    info, log, boxes = recording.arrays[C], recording.accesses, recording.boxes
    none = np.zeros(0, np.int64)
    if not count or not timeline.steps:
        return Warpgroups(0, (), (), timeline.steps, none, none, none, none, np.full(info.shape, -1))
    loaded = np.isin(np.arange(len(recording.arrays)), boxes.array[boxes.store == 0])
    rows = np.flatnonzero(loaded[log.array] & ~log.write)
    of_row = log.block[rows].astype(np.int64) * count + log.thread[rows] // WARPGROUP
    read = distinct(of_row * timeline.steps + timeline.step_of_row[rows])
    mine = np.flatnonzero((log.array == C) & log.write)
    position, elements = recording.elements(mine)
    handed = before_store(recording, mine[position], elements)
    if len(read):
        multiplies = np.isin(log.thread[handed] // WARPGROUP, distinct(read // timeline.steps % count))
        handed, elements = handed[multiplies], elements[multiplies]
    thread = log.thread[handed].astype(np.int64)
    own = log.block[handed].astype(np.int64) * count + thread // WARPGROUP
    begin = np.searchsorted(read, own * timeline.steps)
    work = np.searchsorted(read, own * timeline.steps + timeline.step_of_row[handed]) - begin
    order = np.argsort(own * (timeline.steps + 1) + work, kind="stable")
    row, column = info.cells(elements)
    cell = row * info.shape[1] + column
    last = np.full(info.size, -1, np.int64)
    # Of several stores, the last recorded one counts, as for `Recording.owners`.
    last[cell] = np.argsort(order)
    return Warpgroups(
        count,
        tuple((np.bincount(own % count, minlength=count) > 0).tolist()),
        tuple((np.bincount(boxes.thread[boxes.store == 0] // WARPGROUP, minlength=count) > 0).tolist()),
        timeline.steps,
        read,
        (own * (timeline.steps + 1) + work)[order],
        cell[order],
        thread[order],
        last.reshape(info.shape),
    )
