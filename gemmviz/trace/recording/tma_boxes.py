"""Boxes that the copy engine of a GPU (TMA) moves, and mbarriers: the rows of a recording that belong to each box.

One thread requests a box. The recorder records it as accesses of 16 bytes by this thread, row by row of the box: reads
when the box is requested, and writes when it arrives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.simt.event_log import barrier_offsets
from gemmviz.simt.layout import NEVER, PIECE_BYTES, BoxKind, EventKind
from gemmviz.simt.shared_array import SharedArray
from gemmviz.simt.tma_boxes import TmaReport
from gemmviz.trace.distinct import distinct

Ints = npt.NDArray[np.int64]
LOADED, STORED, ADDED = BoxKind
_STORE = 8  # the column of `Accesses.boxes` for `store`
# Rows of a table that stay in the cache until all of their columns are filled.
_RECORDS_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Boxes:
    """Boxes of a recording, one entry per box, sorted by block and then by issue.

    Attributes
    ----------
    read, reads
        int64, the first row of the recording that reads the box, and the number of consecutive rows: the pieces of 16
        bytes that are inside the matrix. -1 and 0 if there are none.
    write, writes
        int64, the same for the rows that write it; -1 and 0 for a box that never arrived.
    block, thread, line
        int64, the thread that requested it, and the source line.
    to
        int64, the block whose shared memory receives it; a box for several blocks of a cluster has other blocks, too.
    store
        int64, whether it goes from shared memory to the matrix: `STORED`, or `ADDED` to it. The rows that read the old
        elements come directly before those that write the sums, one for each (`old`).
    issued, arrived
        int64, phases; -1 for a box that never arrived.
    matrix, row, column
        int64, 0 to 2 for A, B, C, and the row and column, as stored, of the first element of the box.
    rows, columns
        int64, the size of the box in elements.
    array, element
        int64, its shared array (-1: none) and the first element in it.
    barrier
        int64, the mbarrier that counts its bytes (an index into `Recording.barriers`); -1 for a store.
    """

    read: Ints
    reads: Ints
    write: Ints
    writes: Ints
    block: Ints
    thread: Ints
    line: Ints
    to: Ints
    store: Ints
    issued: Ints
    arrived: Ints
    matrix: Ints
    row: Ints
    column: Ints
    rows: Ints
    columns: Ints
    array: Ints
    element: Ints
    barrier: Ints

    def __len__(self) -> int:
        return len(self.read)

    @property
    def old(self) -> Ints:
        """The first row that reads the elements to which a box is added; -1 for a box that is not added."""
        return np.where((self.store == ADDED) & (self.writes > 0), self.write - self.writes, -1)

    def moved_by(self, rows: Ints) -> int:
        """Return the number of boxes that rows of the recording (int64, of one step) read or write.

        A box for several blocks of a cluster is read once.
        """
        # A step may have a million rows, and most recordings have no boxes.
        return int(np.isin(self._first_rows, rows).sum()) if len(self) else 0

    @cached_property
    def _first_rows(self) -> Ints:
        """The first row of each read and of each write of a box, ascending, each once."""
        old = self.old
        return distinct(np.concatenate((self.read[self.reads > 0], self.write[self.writes > 0], old[old >= 0])))


INIT, ARRIVE, EXPECT, WAIT, PASS, BYTES, COMPLETE, FENCE, *_OF_NO_BARRIER = EventKind
WRITTEN, ASKED, GLOBAL_READ, THREAD_FENCE, FLAG_SET, FLAG_SEEN, *_OF_CLUSTERS = _OF_NO_BARRIER
REMOTE, CLUSTER_ARRIVED, CLUSTER_MET = _OF_CLUSTERS


@dataclass(frozen=True)
class Events:
    """The events of the mbarriers of a recording, one entry per event, sorted by block and then by order.

    Attributes
    ----------
    barrier
        int64, an index into `Recording.barriers`; -1 for an event without one: a fence, a store, a flag.
    block
        int64, the block of the barrier.
    kind
        int64: `INIT`; `ARRIVE`; `EXPECT`, an arrival that announces bytes; `WAIT`, a thread begins to wait; `PASS`, it
        continues; `BYTES`, a box has arrived; `COMPLETE`, the phase has ended; `FENCE`, a thread makes its writes
        visible to the copy engine (without a barrier).

        Also without a barrier: `WRITTEN`, a thread has waited until its stores are in the matrix; `ASKED`, it requests
        a store (or the addition of a box); `GLOBAL_READ`, a fence that orders the copy engine after the thread's reads
        of global memory; `THREAD_FENCE`, ``__threadfence``; `FLAG_SET`, it sets a flag; `FLAG_SEEN`, it has read a flag
        that another block has set.

        Also without a barrier, and only if blocks of a cluster access each other's shared memory: `REMOTE`, the access
        in `row`; its thread belongs to block `number` of a cluster of `arrivals` blocks, and if `parity` is 1 it has
        arrived at a cluster barrier and has not waited there yet. `CLUSTER_ARRIVED`: a thread waits at a cluster
        barrier, and has made accesses since its arrival in phase `number`, after `arrivals` accesses. `CLUSTER_MET`:
        all threads of the cluster whose first block is `block` have met at the end of phase `number`; if `parity` is
        1, one of them arrived without showing its data.
    number
        int64, the number of phases of the barrier that have ended after the event; its parity is that of the current
        phase. For `FLAG_SET` and `FLAG_SEEN`: the number of the setting among all settings of flags.
    parity
        int64, for a wait: the parity of the phase whose end it waits for.
    arrivals, bytes
        int64, missing arrivals and bytes of the current phase after the event.
    thread, phase, line
        int64, the thread that causes it, in any block of the cluster; the phase of the recording; the source line.
    row
        int64, the row of the recording that follows the event.
    turn
        int64, the number of calls of ``__syncwarp`` that the thread had passed in the phase.
    remote
        int64, 1 if the thread is in another block of the cluster than the barrier, else 0.
    """

    barrier: Ints
    block: Ints
    kind: Ints
    number: Ints
    parity: Ints
    arrivals: Ints
    bytes: Ints
    thread: Ints
    phase: Ints
    line: Ints
    row: Ints
    turn: Ints
    remote: Ints

    def __len__(self) -> int:
        return len(self.barrier)


def continues(boxes: Ints, begin: int, end: int) -> npt.NDArray[np.bool_]:
    """Return which rows from `begin` up to `end` belong to the same reads, or writes, of a box as the previous row.

    Parameters
    ----------
    boxes
        `Accesses.boxes`.
    begin, end
        Rows; each box is entirely inside or outside of them.
    """
    depth = np.zeros(end - begin + 1, np.int32)
    added = boxes[boxes[:, _STORE] == ADDED]
    halves = (boxes[:, 0:2], boxes[:, 2:4], np.stack([added[:, 2] - added[:, 3], added[:, 3]], axis=1))
    for start, length in (half.T for half in halves):
        mine = (start >= begin) & (start < end) & (length > 1)
        # The rows that read a box for several blocks are reported once for each block.
        start, length = np.unique(np.stack([start[mine], length[mine]]), axis=1)
        depth[start + 1 - begin] += 1
        depth[start + length - begin] -= 1
    inside: npt.NDArray[np.bool_] = np.cumsum(depth[:-1]) > 0
    return inside


@dataclass(frozen=True)
class Known:
    """The result of `boxes_of_run`: `Accesses.boxes`, `Accesses.events`, and further pairs of `Accesses.copies`."""

    boxes: Ints
    events: npt.NDArray[np.int32]
    copies: Ints


def barrier_names(raw: TmaReport, barriers: Sequence[SharedArray]) -> tuple[tuple[str, int], ...]:
    """Return (array, index) of every mbarrier, in the order in which a recording numbers them.

    An mbarrier in untyped bytes is named by its offset.
    """
    names = [(array.name, i) for array in barriers for i in range(int(np.prod(array.shape)))]
    return (*names, *((f"+{offset}", 0) for offset in raw.untyped))


def boxes_of_run(raw: TmaReport, shared: Sequence[SharedArray], barriers: Sequence[SharedArray]) -> Known:
    """Find the rows of each box.

    Parameters
    ----------
    raw
        From the recorder.
    shared, barriers
        Its arrays in shared memory, and those of mbarriers.
    """
    b = raw.boxes
    if not len(b):
        return Known(np.zeros((0, len(fields(Boxes))), np.int64), raw.events, raw.pieces)
    store, arrives = b["store"] > 0, b["arrived"] != NEVER
    reads = np.where(store & ~arrives, 0, b["reads"]).astype(np.int64)
    writes = np.where(arrives, b["writes"], 0).astype(np.int64)
    array, element, itemsize = _places(b["shared"], shared)
    offsets = barrier_offsets(barriers) + raw.untyped
    barrier = _numbers(b["barrier"].astype(np.int64), offsets)
    boxes = _table(
        (
            *(np.where(reads > 0, b["read_at"].astype(np.int64), -1), reads),
            *(np.where(writes > 0, b["write_at"].astype(np.int64), -1), writes),
            *(b["block"], b["thread"], b["pc"], b["to_block"], b["store"]),
            *(b["issued"], np.where(arrives, b["arrived"].astype(np.int64), -1)),
            *(b["matrix"], b["row"], b["column"], b["rows"], b["pieces"].astype(np.int64) * PIECE_BYTES // itemsize),
            *(array, element, np.where(store, -1, barrier)),
        )
    )
    return Known(boxes, raw.events, raw.pieces)


def _numbers(values: Ints, of: Sequence[int]) -> Ints:
    """Return the first place of each value in a sequence; -1 if it is not there."""
    known, first = np.unique(np.array(of, np.int64), return_index=True)
    if not len(known):
        return np.full(len(values), -1, np.int64)
    at = np.searchsorted(known, values).clip(max=len(known) - 1)
    return np.where(known[at] == values, first[at], -1)


def _table(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """Return columns of whole numbers as one array."""
    found = np.empty((len(columns[0]), len(columns)), np.int64)
    for begin in range(0, len(found), _RECORDS_AT_ONCE):
        part = slice(begin, begin + _RECORDS_AT_ONCE)
        for i, column in enumerate(columns):
            found[part, i] = column[part]
    return found


def _places(offset: npt.NDArray[np.int64], shared: Sequence[SharedArray]) -> tuple[Ints, Ints, Ints]:
    """Return the array (numbered from 3), the element and its bytes at offsets; -1, 0 and 1 where there is none."""
    array, element, itemsize = (np.full(len(offset), value, np.int64) for value in (-1, 0, 1))
    for index, info in reversed(list(enumerate(shared))):  # the first array that contains a place is used
        size = np.dtype(info.dtype).itemsize
        mine = (offset >= info.offset) & (offset < info.offset + int(np.prod(info.shape)) * size)
        array[mine], element[mine], itemsize[mine] = index + 3, (offset[mine] - info.offset) // size, size
    return array, element, itemsize


def swizzles(raw: TmaReport, shared: Sequence[SharedArray]) -> list[int]:
    """Return the swizzle of the boxes in each shared array, in bytes; 0 if there are none."""
    array = _places(raw.boxes["shared"], shared)[0]
    return [int(raw.boxes["swizzle"][array == index + 3].max(initial=0)) for index in range(len(shared))]


def without_empty(raw: TmaReport, which: npt.NDArray[Any], shared: Sequence[SharedArray]) -> list[SharedArray]:
    """Return the shared arrays without unused ones, if the boxes define tiles.

    Parameters
    ----------
    raw
        From the recorder.
    which
        The array of each access, numbered from 3 in shared memory; it is renumbered in place. Larger numbers are those
        of variables of the device.
    shared
        All arrays.
    """
    if not len(raw.boxes):
        return list(shared)
    used = np.bincount(which, minlength=3 + len(shared))[3 : 3 + len(shared)] > 0
    kept = [array for array, accessed in zip(shared, used, strict=True) if accessed or len(array.shape) > 1]
    number = np.cumsum([accessed or len(array.shape) > 1 for array, accessed in zip(shared, used, strict=True)]) + 2
    further = 3 + len(kept) + np.arange(max(0, int(which.max(initial=0)) - 2 - len(shared)))
    which[:] = np.concatenate([[0, 1, 2], number, further]).astype(which.dtype)[which]
    return kept
