"""Copies as movements, from the cell that was read to the cell that was written: to shared memory, and boxes to C."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import B
from gemmviz.trace.distinct import distinct
from gemmviz.trace.motion.gestures import copied
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import ADDED, STORED, Boxes

_KEPT = 4  # steps


@dataclass(frozen=True)
class Flights:
    """Copied elements of a block, in order.

    Attributes
    ----------
    begin, end
        int64, the steps of the read and of the write.
    source, source_element, target, target_element
        int64, array and element (in memory order) that were read and written.
    value
        float32, the written value.
    asynchronous
        bool, whether the copy to shared memory does not use registers (``cp.async``, TMA).
    stored
        int64, the box in which the copy engine stores the element (an index into `Boxes`); -1 for a copy to shared
        memory.
    receivers
        int64, the number of blocks that receive the read element: several of a cluster may.
    """

    begin: Ints
    end: Ints
    source: Ints
    source_element: Ints
    target: Ints
    target_element: Ints
    value: npt.NDArray[np.float32]
    asynchronous: npt.NDArray[np.bool_]
    stored: Ints
    receivers: Ints

    def __len__(self) -> int:
        return len(self.begin)

    def taken(self, which: Ints) -> "Flights":
        """Return some of the flights, in the given order."""
        return Flights(*(column[which] for column in vars(self).values()))

    def gesture(self, position: float) -> npt.NDArray[np.float64]:
        """Return the finished share of each gesture at a position (see `gemmviz.trace.motion.gestures.copied`)."""
        return copied(self.begin, self.end, position)


class BlockFlights:
    """The copies of one block of a recording, found once.

    Parameters
    ----------
    recording, timeline, staged, block
        The recording, its timeline, its staged copies and the block.
    """

    def __init__(self, recording: Recording, timeline: Timeline, staged: Staged, block: int) -> None:
        step = timeline.step_of_row
        log = recording.accesses
        shared = np.array([array.space == "shared" for array in recording.arrays])
        first, last = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
        items = slice(*np.searchsorted(staged.row, (first, last)))
        row, read = staged.row[items], staged.read[items]
        linked = np.flatnonzero((read >= 0) & shared[log.array[row]])
        linked = linked[log.array[read[linked]] <= B]
        # The read of a copy that another block of the cluster requested may come after its writes in the order of
        # steps.
        linked = linked[step[read[linked]] < step[row[linked]]]
        row, read = row[linked], read[linked]
        loaded = Flights(
            step[read],
            step[row],
            log.array[read].astype(np.int64),
            staged.read_element[items][linked],
            log.array[row].astype(np.int64),
            staged.element[items][linked],
            _values(recording, row, staged.element[items][linked]),
            np.isin(row, log.copies[:, 0]),
            np.full(len(row), -1),
            _receivers(recording, read),
        )
        self.all = _joined([loaded, *_stores(recording, step, block)])
        self._kept: dict[int, Flights] = {}

    def at(self, step: int) -> Flights:
        """Return the copies in flight between a step and the next one."""
        found = self._kept.get(step)
        if found is None:
            which = np.flatnonzero((self.all.begin <= step) & (step < self.all.end))
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            found = self._kept[step] = self.all.taken(which)
        return found


def _stores(recording: Recording, step: Ints, block: int) -> list[Flights]:
    """Return the elements that the copy engine carries from a block's shared memory to C, box by box."""
    boxes, found = recording.boxes, []
    if not len(boxes):
        return []
    mine = (boxes.block == block) & _is_store(boxes) & (boxes.reads == boxes.writes) & (boxes.reads > 0)
    for box in np.flatnonzero(mine).tolist():
        pieces = np.arange(int(boxes.reads[box]))
        read, write = boxes.read[box] + pieces, boxes.write[box] + pieces
        (position, source), (_, target, value) = recording.elements(read), recording.covered(write)
        if len(source) != len(target):
            continue
        size = len(source)
        array, matrix = (np.full(size, column[box]) for column in (boxes.array, boxes.matrix))
        when = step[read[position]], step[write[position]]
        none, number, one = np.zeros(size, np.bool_), np.full(size, box), np.ones(size, np.int64)
        found.append(Flights(*when, array, source, matrix, target, value, none, number, one))
    return found


def _receivers(recording: Recording, read: Ints) -> Ints:
    """Return, for each row that reads, the number of blocks to which the copy engine carries it."""
    log = recording.accesses
    if not len(recording.boxes) or not len(read):
        return np.ones(len(read), np.int64)
    rows, blocks = log.copies[:, 1], log.block[log.copies[:, 0]].astype(np.int64)
    pairs = distinct(rows[rows >= 0] * recording.blocks + blocks[rows >= 0])
    of_pair = pairs // recording.blocks
    first, last = (np.searchsorted(of_pair, read, side) for side in ("left", "right"))
    found: Ints = np.maximum(last - first, 1)
    return found


def _is_store(boxes: Boxes) -> npt.NDArray[np.bool_]:
    return np.isin(boxes.store, (STORED, ADDED)) & (boxes.array >= 0)


def _joined(parts: list[Flights]) -> Flights:
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Flights(*(np.concatenate(column) for column in columns))


def _values(recording: Recording, row: Ints, element: Ints) -> npt.NDArray[np.float32]:
    """Return the values that accesses wrote to one of their elements."""
    if not len(row):
        return np.zeros(0, np.float32)
    rows, number = np.unique(row, return_inverse=True)
    position, covered, value = recording.covered(rows)
    start = np.searchsorted(position, np.arange(len(rows)))
    found: npt.NDArray[np.float32] = value[start[number] + element - covered[start[number]]]
    return found
