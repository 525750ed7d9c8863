"""Copies of adjacent bytes by the copy engine (``cp.async.bulk``), as boxes of the matrices that they read or write."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.layout import NEVER, NO_BOX, NO_MATRIX, PIECE_BYTES, BoxKind


def boxes_of_rows(boxes: npt.NDArray[Any], columns: Sequence[int], itemsizes: Sequence[int]) -> npt.NDArray[Any]:
    """Return the boxes with each copy of adjacent bytes divided into boxes of whole rows, and of parts of rows.

    A copy that is in no matrix is left out: its accesses are those of its thread. A copy stays whole if its pieces of
    16 bytes do not end where the rows end, or if a part of it was not recorded.

    Parameters
    ----------
    boxes
        The recorder's report: `layout.BOX`. The column of a copy counts from the beginning of its matrix.
    columns, itemsizes
        Of A, B and C as stored: the length of a row in elements, and the bytes of an element.
    """
    boxes = boxes[boxes["matrix"] != NO_MATRIX]
    runs = boxes["swizzle"] == NO_BOX
    if not runs.any():
        return boxes
    divided = [part for run in boxes[runs] for part in _divided(run, columns, itemsizes)]
    return np.concatenate([boxes[~runs], np.array(divided, boxes.dtype)])


def _divided(run: npt.NDArray[Any], columns: Sequence[int], itemsizes: Sequence[int]) -> Iterator[npt.NDArray[Any]]:
    width, each = columns[int(run["matrix"])], PIECE_BYTES // itemsizes[int(run["matrix"])]
    first, pieces = int(run["column"]), int(run["pieces"])
    arrived = run["arrived"] != NEVER
    whole = run["reads"] == pieces and (run["writes"] == pieces or not arrived) and run["store"] != BoxKind.ADD
    divides = whole and width % each == 0 and first % each == 0
    done = 0
    while done < pieces:
        row, column = divmod(first + done * each, width)
        left, of_row = pieces - done, width // each
        rows, taken = 1, left
        if divides:
            rows = left // of_row if column == 0 and left >= of_row else 1
            taken = of_row if column == 0 and left >= of_row else min(left, of_row - column // each)
        part = run.copy()
        part["row"], part["column"], part["swizzle"] = row, column, 0
        part["rows"], part["pieces"], part["first_row"], part["end_row"] = rows, taken, 0, rows
        part["first_piece"], part["end_piece"] = 0, taken
        part["shared"] += done * PIECE_BYTES
        if divides:
            part["reads"] = rows * taken
            part["writes"] = rows * taken if arrived else 0
            part["read_at"] += done
            part["write_at"] += done * int(arrived)
        yield part
        done += rows * taken
