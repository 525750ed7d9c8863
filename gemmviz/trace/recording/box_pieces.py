"""The pieces of boxes that the copy engine loads: the row that writes each one, and the row that reads it."""

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
# Pieces that are paired together: new memory costs more than the work, and so few use it again.
_AT_ONCE = 1 << 14
_SHAPE = ("rows", "pieces", "first_row", "end_row", "first_piece", "end_piece")


def pairs(raw: npt.NDArray[Any], boxes: Ints) -> Ints:
    """Return, for each piece of each box loaded to shared memory: write, read (-1: none), and phase of issue.

    Parameters
    ----------
    raw
        The boxes as the recorder reports them: `layout.BOX`.
    boxes
        The same as `Accesses.boxes`.
    """
    reads, writes = boxes[:, 1], boxes[:, 3]
    inside = (raw["end_row"] - raw["first_row"]).clip(0) * (raw["end_piece"] - raw["first_piece"]).clip(0)
    complete = writes == raw["rows"].astype(np.int64) * raw["pieces"]
    kept = np.flatnonzero((raw["store"] == 0) & complete & ((reads == 0) | (inside == reads)))
    end = np.cumsum(writes[kept])
    found = np.empty((int(end[-1]) if len(end) else 0, 3), np.int64)
    first = at = 0
    known: dict[tuple[int, ...], tuple[Ints, Ints]] = {}
    while first < len(kept):
        last = max(first + 1, int(np.searchsorted(end, at + _AT_ONCE, side="right")))
        _fill(found[at : end[last - 1]], raw, boxes, kept[first:last], known)
        first, at = last, int(end[last - 1])
    return found


def _fill(
    found: Ints, raw: npt.NDArray[Any], boxes: Ints, kept: Ints, known: dict[tuple[int, ...], tuple[Ints, Ints]]
) -> None:
    """Set `found` to the pairs of some boxes: `kept` are their numbers. `known`: results of `_inside`."""
    read, reads, write, writes = boxes[kept, :4].T
    begin = np.cumsum(writes) - writes
    number = np.arange(len(found))
    # The source of a box that has all of its pieces in the matrix; of the others, below.
    whole = reads == writes
    np.add(np.repeat(write - begin, writes), number, out=found[:, 0])
    source = found[:, 1]
    np.add(np.repeat(read - begin, writes), number, out=source)
    found[:, 2] = np.repeat(raw["issued"][kept], writes)
    if whole.all():
        return
    source[~np.repeat(whole, writes)] = -1
    parts = np.flatnonzero(~whole & (reads > 0))
    shapes = zip(*(raw[name][kept[parts]].tolist() for name in _SHAPE), strict=True)
    for shape, start, row in zip(shapes, begin[parts].tolist(), read[parts].tolist(), strict=True):
        if shape not in known:
            known[shape] = _inside(*shape)
        place, order = known[shape]
        source[start + place] = row + order


def _inside(
    rows: int, pieces: int, first_row: int, end_row: int, first_piece: int, end_piece: int
) -> tuple[Ints, Ints]:
    """Return the numbers of the pieces of a box that are in the matrix, and the order in which they are read."""
    part = np.arange(rows * pieces).reshape(rows, pieces)[first_row:end_row, first_piece:end_piece].ravel()
    return part, np.arange(len(part))
