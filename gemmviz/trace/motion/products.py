"""Every product that is added to an element of C, with the cells from which its operands were read.

Registers are not recorded. The values that a thread (or the threads of a fragment) reads between two of its stores are
assumed to be multiplied for the second store; a product counts as soon as both of its operands have been read.
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.operand_paths import Operands
from gemmviz.trace.origin.provenance import Provenance, together
from gemmviz.trace.recording.recording import Recording

MOST_PRODUCTS = 1 << 19
"""In a larger recording the cells are too small for figures, and finding its products takes long."""


@dataclass(frozen=True)
class AddedProducts:
    """Products, in the order in which they are added: columns of one length.

    Attributes
    ----------
    done
        int64, ascending: the step after which both operands have been read.
    element
        int64, the element of C, row by row.
    thread
        int64, the thread that stores it: block times threads per block, plus thread.
    k
        int64, the k of the product.
    a_array, a_place, b_array, b_place
        int64, array and element (in memory order) from which the operands were read last; -1 if it is not known.
    a, b
        float32, the operands.
    """

    done: Ints
    element: Ints
    thread: Ints
    k: Ints
    a_array: Ints
    a_place: Ints
    b_array: Ints
    b_place: Ints
    a: npt.NDArray[np.float32]
    b: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.done)

    def taken(self, which: Ints | slice) -> "AddedProducts":
        """Return some of the products, in the given order."""
        return AddedProducts(*(getattr(self, field.name)[which] for field in fields(self)))

    def at(self, step: int) -> "AddedProducts":
        """Return the products whose second operand is read at a step."""
        return self.taken(slice(*np.searchsorted(self.done, (step, step + 1)).tolist()))

    @property
    def value(self) -> npt.NDArray[np.float64]:
        """The products themselves."""
        return self.a.astype(np.float64) * self.b.astype(np.float64)


@dataclass(frozen=True)
class _Stores:
    """The stores from registers to C: element (row by row), thread of the block, and step."""

    element: Ints
    thread: Ints
    step: Ints


def added_products(provenance: Provenance) -> AddedProducts | None:
    """Find the products of a recording.

    Parameters
    ----------
    provenance
        The provenance of the recording.

    Returns
    -------
    AddedProducts or None
        None if the recording is too large (`MOST_PRODUCTS`).
    """
    recording = provenance.recording
    if recording.m * recording.n * recording.k > MOST_PRODUCTS:
        return None
    parts = [_of_block(provenance, block) for block in range(recording.blocks)]
    columns = zip(*([getattr(part, field.name) for field in fields(AddedProducts)] for part in parts), strict=True)
    joined = AddedProducts(*(np.concatenate(column) for column in columns))
    return joined.taken(np.argsort(joined.done, kind="stable"))


def writes_of_c(recording: Recording) -> npt.NDArray[np.int64]:
    """Return the number of writes of each element of C (m x n)."""
    log, info = recording.accesses, recording.arrays[C]
    _, element = recording.elements(np.flatnonzero((log.array == C) & log.write))
    count = np.zeros(info.shape, np.int64)
    np.add.at(count, info.cells(element), 1)
    return count


def _of_block(provenance: Provenance, block: int) -> AddedProducts:
    recording = provenance.recording
    stores, operands = _stores(provenance, block), provenance.operands(block, 0, recording.threads)
    best = _paired(provenance, block, operands, stores, 1)
    size = together(recording) if recording.backend == "cuda" else 1
    if size > 1 and len(best) < len(distinct(stores.element)) * recording.k:
        shared = _paired(provenance, block, operands, stores, size)
        best = shared if len(shared) > len(best) else best
    return best


def _stores(provenance: Provenance, block: int) -> _Stores:
    """Return the stores of a block: the owner's store of an element that is written once, else every write."""
    recording, step = provenance.recording, provenance.timeline.step_of_row
    log, once = recording.accesses, writes_of_c(recording) == 1
    owner_block, owner_thread = recording.owners
    rows, columns = np.nonzero((owner_block == block) & once)
    begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    mine = begin + np.flatnonzero(log.write[begin:end] & (log.array[begin:end] == C))
    position, element = recording.elements(mine)
    again_rows, again_columns = recording.arrays[C].cells(element)
    often = np.flatnonzero(~once[again_rows, again_columns])
    writer = mine[position[often]]
    return _Stores(
        np.concatenate([rows * recording.n + columns, (again_rows * recording.n + again_columns)[often]]),
        np.concatenate([owner_thread[rows, columns], log.thread[writer].astype(np.int64)]),
        np.concatenate([step[recording.handed_over[rows, columns]], step[writer]]),
    )


def _paired(provenance: Provenance, block: int, operands: Operands, stores: _Stores, size: int) -> AddedProducts:
    """Return the products whose operands the same `size` threads read for the same store."""
    recording, steps = provenance.recording, provenance.timeline.steps + 1
    log = recording.accesses
    when = provenance.timeline.step_of_row[operands.use]
    read_at = log.thread[operands.use].astype(np.int64) // size * steps + when
    stored_at = stores.thread // size * steps + stores.step
    bounds = distinct(stored_at)
    stretch = np.searchsorted(bounds, read_at, side="left")
    of_store = _stretch_of_stores(bounds, distinct(read_at))[np.searchsorted(bounds, stored_at)]
    row, column = np.divmod(stores.element, recording.n)
    # If an operand is read several times for the same store, the first read counts.
    a, b = (_first_reads(operands, matrix, stretch, when) for matrix in (A, B))
    lines = max(recording.m, recording.n, int(operands.line.max(initial=0)) + 1)
    line_key = stretch[a] * lines + operands.line[a]
    order = np.argsort(line_key, kind="stable")
    a, line_key = a[order], line_key[order]
    first, last = (np.searchsorted(line_key, of_store * lines + row, side) for side in ("left", "right"))
    count = last - first
    store = np.repeat(np.arange(len(count)), count)
    mine = a[np.arange(len(store)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)]
    key = (stretch[b] * lines + operands.line[b]) * recording.k + operands.k[b]
    order = np.argsort(key, kind="stable")
    b, key = b[order], key[order]
    wanted = (of_store[store] * lines + column[store]) * recording.k + operands.k[mine]
    at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    found = np.flatnonzero(key[at] == wanted) if len(key) else np.zeros(0, np.int64)
    store, mine, other = store[found], mine[found], b[at[found]] if len(key) else np.zeros(0, np.int64)
    array = log.array[operands.use].astype(np.int64)
    return AddedProducts(
        np.maximum(when[mine], when[other]),
        stores.element[store],
        block * recording.threads + stores.thread[store],
        operands.k[mine],
        array[mine],
        operands.place[mine],
        array[other],
        operands.place[other],
        operands.value[mine],
        operands.value[other],
    )


def _first_reads(operands: Operands, matrix: int, stretch: Ints, when: Ints) -> Ints:
    """Return the first read of each element of a matrix in each interval between stores, as indices into `operands`."""
    these = np.flatnonzero(operands.matrix == matrix)
    key = np.stack([stretch[these], operands.line[these], operands.k[these]])
    order = np.lexsort((when[these], *key[::-1]))
    ordered = key[:, order]
    new = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))[: len(order)]
    first: Ints = these[order[new]]
    return first


def _stretch_of_stores(stores: Ints, reads: Ints) -> Ints:
    """Return, per store, the interval of its reads: stores without a read between them share an interval.

    Parameters
    ----------
    stores, reads
        Ascending, threads and steps as one number. The interval of a read is the number of stores before it.
    """
    if not len(reads):
        return np.full(len(stores), -1, np.int64)
    last = reads[np.maximum(np.searchsorted(reads, stores, side="right") - 1, 0)]
    return np.searchsorted(stores, last, side="left")
