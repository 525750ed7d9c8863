"""The addresses that a warp accesses together, or a loop one after another (*recorded*)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.lenses.sector_use import lane_distance
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

LINE_BYTES = 64
"""The cache line in bytes, on x86-64 and on most other CPUs."""
_LAST = 8  # accesses of a loop
_KEPT = 64


@dataclass(frozen=True)
class AddressWalk:
    """Accesses to one array by one request, or the last accesses of a loop.

    Attributes
    ----------
    array, step, write
        The array, the step of the last access, and whether they write.
    order
        int64, per access: its lane; for a loop its index from 0, the oldest first.
    element
        int64, per access, its first element, in memory order.
    covers
        The number of elements of each access.
    unit_bytes
        Bytes that are transferred together: 32 for a sector, 64 for a CPU's cache line.
    units
        int64, the different sectors or cache lines that are accessed, ascending, counted from the array's first byte.
    distance
        The distance in elements from one access to the next, if most are equal; else None.
    asked_bytes
        The number of different bytes that are accessed.
    """

    array: int
    step: int
    write: bool
    order: Ints
    element: Ints
    covers: int
    unit_bytes: int
    units: Ints
    distance: int | None
    asked_bytes: int

    @property
    def least(self) -> int:
        """The smallest number of sectors, or cache lines, for as many different bytes."""
        return -(-self.asked_bytes // self.unit_bytes)

    @property
    def scattered(self) -> bool:
        """Whether it takes more units than as many neighbouring bytes would.

        A loop's last accesses may begin anywhere in a cache line, so that neighbouring bytes may need one more.
        """
        return len(self.units) > self.least + (self.unit_bytes == LINE_BYTES)


class AddressWalks:
    """The walks of a recording through its arrays.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._recording, self._timeline = playable.recording, playable.timeline
        self._requests = warp_requests(playable)
        self._steps: dict[tuple[int, int], tuple[Ints, Ints]] = {}

    @property
    def on_gpu(self) -> bool:
        """Whether warps access memory, and not loops."""
        return self._recording.backend == "cuda"

    @property
    def any(self) -> bool:
        """Whether there is anything to show."""
        return self._requests.any("global") if self.on_gpu else self._timeline.steps > 0

    def at(self, playable: Playable, step: int, block: int, warp: int, lane: int) -> list[AddressWalk]:
        """Return the last walk through each array up to a step, or if there is none yet, the first one.

        Parameters
        ----------
        playable
            The recording of this object.
        step, block, warp, lane
            The step and the warp. On a CPU, warp and lane give the number of a thread; if it accesses nothing (the
            first thread may only start the others), the next thread with accesses is used, or the last one.
        """
        count = range(len(self._recording.arrays))
        if self.on_gpu:
            found = [self._of_warp(playable, step, block, warp, array) for array in count]
        else:
            thread = self._thread(warp * WARP + lane)
            found = [self._of_loop(step, thread, array) for array in count]
        return [walk for walk in found if walk is not None]

    def _of_warp(self, playable: Playable, step: int, block: int, warp: int, array: int) -> AddressWalk | None:
        info = self._recording.arrays[array]
        if info.space != "global":
            return None
        asked = self._requests.shown(playable, step, block, warp, "global", array)
        if asked is None:
            return None
        return self._walk(array, asked.step, asked.write, asked.lane, asked.element, asked.width, SECTOR_BYTES)

    def _of_loop(self, step: int, thread: int, array: int) -> AddressWalk | None:
        rows, steps = self._rows(thread, array)
        if not len(rows):
            return None
        log = self._recording.accesses
        end = int(np.searchsorted(steps, step, side="right")) or 1
        write = bool(log.write[rows[end - 1]])
        # If a sum grows in memory, reads and writes alternate: take twice as many accesses to have enough of one kind.
        near = rows[max(end - 2 * _LAST, 0) : end]
        near = near[(log.write[near] == write) & (log.bytes[near] == log.bytes[near[-1]])][-_LAST:]
        element, width = log.element[near].astype(np.int64), int(log.bytes[near[-1]])
        return self._walk(array, int(steps[end - 1]), write, np.arange(len(near)), element, width, LINE_BYTES)

    def _thread(self, wanted: int) -> int:
        """Return a thread that accesses memory: the wanted one, else the next one, else the last."""
        busy = self._busy
        return int(busy[min(int(np.searchsorted(busy, wanted)), len(busy) - 1)]) if len(busy) else wanted

    @cached_property
    def _busy(self) -> Ints:
        """The threads of a CPU that access memory."""
        return distinct(self._recording.accesses.thread).astype(np.int64)

    def _rows(self, thread: int, array: int) -> tuple[Ints, Ints]:
        """Return the rows of a thread of a CPU that access an array, and their steps, ascending."""
        found = self._steps.get((thread, array))
        if found is None:
            log = self._recording.accesses
            rows = np.flatnonzero((log.array == array) & (log.thread == thread))
            steps = self._timeline.step_of_row[rows]
            order = np.argsort(steps, kind="stable")
            if len(self._steps) >= _KEPT:
                self._steps.pop(next(iter(self._steps)))
            found = self._steps[thread, array] = rows[order], steps[order]
        return found

    def _walk(
        self, array: int, step: int, write: bool, order: Ints, element: Ints, width: int, unit: int
    ) -> AddressWalk:
        itemsize = self._recording.arrays[array].itemsize
        start = element * itemsize
        byte = distinct(start[:, None] + np.arange(width))
        distance = lane_distance(order, element)
        covers = max(width // itemsize, 1)
        return AddressWalk(
            array, step, write, order, element, covers, unit, distinct(byte // unit), distance, len(byte)
        )


@per_recording
def address_walks(playable: Playable) -> AddressWalks:
    """Return the walks of a recording."""
    return AddressWalks(playable)
