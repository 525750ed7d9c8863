"""The threads that computed a stored box: one thread requests the store of a tile that many threads have filled."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.accesses import Accesses, Array, Column
from gemmviz.trace.recording.tma_boxes import ADDED, Boxes

Ints = npt.NDArray[np.int64]
_PHASE_BITS = 16


class Logged(Protocol):
    """The part of a `gemmviz.trace.recording.recording.Recording` that is used here."""

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that are accessed."""

    @property
    def accesses(self) -> Accesses:
        """The log."""

    @property
    def boxes(self) -> Boxes:
        """The boxes that the copy engine moves."""

    def elements(self, rows: Column) -> tuple[Column, Column]:
        """Return every element of some accesses: the access's index in `rows`, and the element."""

    def covered(self, rows: Column) -> tuple[Column, Column, Column]:
        """Return the result of `elements` with the values."""


def before_store(recording: Logged, rows: npt.NDArray[Any], elements: npt.NDArray[Any]) -> Ints:
    """Return the accesses by which elements of C left registers.

    Parameters
    ----------
    recording
        Any.
    rows, elements
        Elements of C, and the rows that write each.

    Returns
    -------
    ndarray
        int64: these rows; for a store by the copy engine, the rows that wrote the elements to the shared tile.
    """
    log = recording.accesses
    reads = _reads(recording)
    read = reads[rows] if len(reads) else np.full(len(rows), -1, np.int64)
    mine = np.flatnonzero((read >= 0) & (log.array[read] > C))
    found = rows.astype(np.int64)
    if not len(mine):
        return found
    place = log.element[read[mine]].astype(np.int64) + elements[mine] - log.element[rows[mine]]
    filled = np.flatnonzero(log.write & np.isin(log.array, distinct(log.array[read[mine]])))
    position, filled_element = recording.elements(filled)
    if not len(filled):
        return found  # the tiles that are stored were never written
    filler = filled[position]
    size = max(array.size for array in recording.arrays)

    def key(row: npt.NDArray[Any], element: npt.NDArray[Any]) -> Ints:
        cell = (log.block[row].astype(np.int64) * len(recording.arrays) + log.array[row]) * size + element
        in_order: Ints = cell << _PHASE_BITS | log.phase[row]
        return in_order

    keys = key(filler, filled_element)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    wanted = key(read[mine], place)
    at = np.searchsorted(keys, wanted, "right") - 1
    known = (at >= 0) & (keys[np.maximum(at, 0)] >> _PHASE_BITS == wanted >> _PHASE_BITS)
    found[mine[known]] = filler[order[at[known]]]
    return found


def added(recording: Logged) -> npt.NDArray[np.bool_]:
    """Return whether each row is a write of the copy engine that adds a box to older elements."""
    boxes, found = recording.boxes, np.zeros(len(recording.accesses), bool)
    for i in np.flatnonzero((boxes.store == ADDED) & (boxes.writes > 0)):
        found[boxes.write[i] : boxes.write[i] + boxes.writes[i]] = True
    return found


def there_before(recording: Logged) -> npt.NDArray[np.float64]:
    """Return the value to which the copy engine added the last sum of each element of C (m x n); 0 where none."""
    boxes, array = recording.boxes, recording.arrays[C]
    found = np.zeros(array.shape)
    old = boxes.old
    # The last write has the last row: blocks are recorded one after another.
    for i in np.flatnonzero((boxes.store > 0) & (boxes.writes > 0)) if (old >= 0).any() else ():
        first = int(old[i] if old[i] >= 0 else boxes.write[i])
        _, element, value = recording.covered(np.arange(first, first + boxes.writes[i]))
        found[array.cells(element)] = value if old[i] >= 0 else 0
    return found


def _reads(recording: Logged) -> Ints:
    """Return, per row that writes C for the copy engine, the row that reads the shared tile; -1 elsewhere."""
    boxes = recording.boxes
    stores = np.flatnonzero((boxes.store > 0) & (boxes.writes > 0) & (boxes.writes == boxes.reads))
    if not len(stores):
        return np.zeros(0, np.int64)
    reads = np.full(len(recording.accesses), -1, np.int64)
    for write, read, count in zip(boxes.write[stores], boxes.read[stores], boxes.writes[stores], strict=True):
        reads[write : write + count] = np.arange(read, read + count)
    return reads
