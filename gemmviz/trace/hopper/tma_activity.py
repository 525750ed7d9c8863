"""Boxes that the copy engine reads or writes at a step for a block."""

from dataclasses import dataclass

import numpy as np

from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, Recording


@dataclass(frozen=True)
class ActiveBox:
    """A box of the copy engine that is read or written at a step.

    Attributes
    ----------
    number
        Its index in `Recording.boxes`.
    write
        Whether the box is written at the step, else it is read.
    warp
        The warp of the thread that requested it.
    asked, arrived
        The steps at which it is read, and written; -1 if no part of it is read, or if it never arrives.
    added
        The step that reads the elements to which it is added; -1 if it is not added.
    """

    number: int
    write: bool
    warp: int
    asked: int
    arrived: int
    added: int = -1


def tma_activity(playable: Playable, step: int, block: int) -> list[ActiveBox]:
    """Return the boxes that are moved at a step for a block: its requests, and the boxes that arrive in it."""
    boxes = playable.recording.boxes
    if not len(boxes) or not playable.timeline.steps:
        return []
    asked, arrived, added = _steps(playable)
    reading = np.flatnonzero((asked == step) & (boxes.block == block))
    # A store writes to the matrix: it belongs to the block that requested it.
    now = (arrived == step) | ((added == step) & (added >= 0))
    writing = np.flatnonzero(now & (np.where(boxes.store > 0, boxes.block, boxes.to) == block))
    both = [(i, False) for i in reading.tolist()] + [(i, True) for i in writing.tolist()]
    return [
        ActiveBox(i, write, int(boxes.thread[i]) // WARP, int(asked[i]), int(arrived[i]), int(added[i]))
        for i, write in both
    ]


def asked_by(playable: Playable, block: int, warp: int) -> Ints:
    """Return the steps that read boxes requested by a warp of a block, ascending."""
    boxes = playable.recording.boxes
    if not len(boxes) or not playable.timeline.steps:
        return np.zeros(0, np.int64)
    asked, _, _ = _steps(playable)
    return distinct(asked[(boxes.block == block) & (boxes.thread // WARP == warp) & (asked >= 0)])


def _steps(playable: Playable) -> tuple[Ints, Ints, Ints]:
    """Return the steps that read each box, write it, and read the elements to which it is added; -1: never."""
    boxes, step = playable.recording.boxes, playable.timeline.step_of_row
    asked, arrived, added = (
        np.where(row >= 0, step[np.maximum(row, 0)], -1) for row in (boxes.read, boxes.write, boxes.old)
    )
    return asked, arrived, added


def pieces(recording: Recording, number: int, lines: int = 8) -> Ints:
    """Return the places of a box's pieces in shared memory, line by line of all banks (128 bytes).

    Parameters
    ----------
    recording, number
        The box.
    lines
        The number of lines, from its beginning.

    Returns
    -------
    ndarray
        int64 (lines, 8, 2): per place of 16 bytes, the row of the box, and the piece of 16 bytes of that row; -1 after
        its end.
    """
    boxes = recording.boxes
    info = recording.arrays[int(boxes.array[number])]
    first, columns = int(boxes.element[number]), int(boxes.columns[number])
    each = 16 // info.itemsize
    place = first + np.arange(lines * 8) * each
    inside = place < first + int(boxes.rows[number]) * columns
    element = info.logical(np.where(inside, place, first)) - first
    found = np.stack([element // columns, element % columns // each], axis=1)
    return np.where(inside[:, None], found, -1).reshape(lines, 8, 2)
