"""The number of reads of each element of each array up to a step (*recorded*)."""

from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable

_MOST_LEVELS = 9


@dataclass(frozen=True)
class ArrayReads:
    """Reads of one array up to a step; for a shared array, the reads of one block.

    Attributes
    ----------
    array
        Index into the recording's arrays.
    reads
        int64, the number of reads per element in memory order.
    written
        The number of element writes; an element that is written twice counts twice.
    """

    array: int
    reads: Ints
    written: int

    @property
    def total(self) -> int:
        """Reads of all elements."""
        return int(self.reads.sum())

    @property
    def most(self) -> int:
        """Reads of the element that has been read most."""
        return int(self.reads.max(initial=0))

    @property
    def mean(self) -> float:
        """Reads per element."""
        return self.total / max(len(self.reads), 1)


class ReadCounts:
    """Counts reads of A, B and every shared array; an access of several elements reads each of them once.

    Boxes of the copy engine and operands of the tensor cores count as reads, too. The counts of the last requested step
    are kept, so that for a nearby step only the steps in between are counted.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._recording, self._timeline = playable.recording, playable.timeline
        self.arrays = [i for i, a in enumerate(self._recording.arrays) if i != C and a.size]
        sizes = [a.size for a in self._recording.arrays]
        self._base = np.cumsum([0, *sizes])
        self._shared = np.array([a.space == "shared" for a in self._recording.arrays])
        self._kept: tuple[int, int, Ints, Ints] | None = None

    def at(self, step: int, block: int) -> list[ArrayReads]:
        """Return the counts after a step: of A and B by all blocks, of shared arrays by one block."""
        reads, written = self._counts(step, block)
        return [ArrayReads(i, reads[self._base[i] : self._base[i + 1]], int(written[i])) for i in self.arrays]

    def _counts(self, step: int, block: int) -> tuple[Ints, Ints]:
        """Return reads per element of all arrays, concatenated, and written elements per array."""
        kept = self._kept
        if kept is None or kept[1] != block or step < kept[0] // 2:
            nothing = np.zeros(int(self._base[-1]), np.int64), np.zeros(len(self._shared), np.int64)
            kept = -1, block, *nothing
        before, _, reads, written = kept
        if step != before:
            first, last = sorted((before, step))
            more = self._between(first + 1, last + 1, block)
            sign = 1 if step > before else -1
            reads, written = reads + sign * more[0], written + sign * more[1]
            self._kept = step, block, reads, written
        return reads, written

    def _between(self, begin: int, end: int, block: int) -> tuple[Ints, Ints]:
        """Count the reads and writes of the steps from `begin` up to `end`."""
        log, timeline = self._recording.accesses, self._timeline
        rows = timeline.order[timeline.start[begin] : timeline.start[end]]
        rows = rows[~self._shared[log.array[rows]] | (log.block[rows] == block)]
        position, element = self._recording.elements(rows)
        rows = rows[position]
        array, write = log.array[rows], log.write[rows] > 0
        reads = np.bincount(self._base[array[~write]] + element[~write], minlength=int(self._base[-1]))
        return reads, np.bincount(array[write], minlength=len(self._shared))


@per_recording
def read_counts(playable: Playable) -> ReadCounts:
    """Return the counts of a recording."""
    return ReadCounts(playable)


@per_recording
def levels(playable: Playable) -> list[int]:
    """Return the numbers of reads at which an element changes its colour: 0, 1, 2, 4 and so on.

    The last one is the next power of two above the largest average reads per element of an array in the whole
    recording; single elements may have more.
    """
    recording, most = playable.recording, 1.0
    for index, (array, moved) in enumerate(zip(recording.arrays, playable.traffic.arrays, strict=True)):
        if index == C or not array.size:
            continue
        copies = recording.blocks if array.space == "shared" else 1
        most = max(most, moved.read_bytes / array.itemsize / array.size / copies)
    top = int(np.ceil(np.log2(most)))
    stride = -(-top // (_MOST_LEVELS - 2)) or 1
    return [0, *(1 << power for power in range(0, top + stride, stride))]
