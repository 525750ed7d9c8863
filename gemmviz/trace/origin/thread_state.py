"""The state of a thread at a step: the operands that it read last, the elements of C that it owns, and their sums.

Registers are not recorded. The operands are *recorded*; a partial sum is computed here from the recorded operands up to
the step, and is labelled so wherever it is shown. Which operands form a product is inferred, as in
`gemmviz.trace.origin.provenance`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.operand_paths import Operands, closest
from gemmviz.trace.origin.provenance import together
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import Recording

# The largest number of elements of C that are followed for one thread: a thread with more is a loop over C.
_MOST_ELEMENTS = 256


@dataclass(frozen=True)
class Products:
    """Every product that a thread adds to elements of C that it owns.

    Attributes
    ----------
    block, thread
        The block and the thread.
    rows, columns
        int64, the elements of C, in the order in which the thread stores them.
    owned
        The number of elements that it owns; larger than the length of `rows` if not all are followed.
    operands
        Its reads, or if `by_warp` those of its warp (fragments).
    element, k, step
        int64, per product: the index of its element in `rows`, the k, and the step after which both operands are read.
    a, b
        int64, per product: its operands, as indices into `operands`.
    by_warp
        Whether the operands are those of the whole warp.
    """

    block: int
    thread: int
    rows: Ints
    columns: Ints
    owned: int
    operands: Operands
    element: Ints
    k: Ints
    step: Ints
    a: Ints
    b: Ints
    by_warp: bool

    @cached_property
    def _factors(self) -> npt.NDArray[np.float64]:
        value = self.operands.value.astype(np.float64)
        product: npt.NDArray[np.float64] = value[self.a] * value[self.b]
        return product

    @cached_property
    def totals(self) -> npt.NDArray[np.float64]:
        """The sum of all products, per element of C."""
        return self.sums(np.arange(len(self.element)))

    def sums(self, done: Ints) -> npt.NDArray[np.float64]:
        """Return the sums of some of the products, per element of C."""
        return np.bincount(self.element[done], self._factors[done], len(self.rows)).astype(np.float64)

    @cached_property
    def counts(self) -> Ints:
        """The number of products, per element of C."""
        return np.bincount(self.element, minlength=len(self.rows))

    def stored_otherwise(self, recording: Recording) -> npt.NDArray[np.bool_]:
        """Return, for each element of C, whether the thread stored (or added) another value than its products give.

        Only where it makes all K products: an element whose other products are not its own is in `shared_out`.
        """
        return self._differs(recording) & (self.counts >= recording.k)

    def shared_out(self, recording: Recording) -> npt.NDArray[np.bool_]:
        """Return, for each element of C, whether its value has more than the thread's own products, fewer than K."""
        return self._differs(recording) & (self.counts < recording.k)

    def _differs(self, recording: Recording) -> npt.NDArray[np.bool_]:
        stored = recording.c - recording.there_before
        return ~same(self.totals, stored[self.rows, self.columns])


@dataclass(frozen=True)
class ThreadState:
    """The state of a thread at a step.

    Attributes
    ----------
    products
        All products of the thread.
    step
        The step.
    k
        The k of the operand that it read last; -1 before the first one.
    a, b
        int64, per different row and column of C that it owns (see `grid`): the operand that it read for `k`, as an
        index into ``products.operands``; -1 if it has not read it yet.
    sums
        float64, per element of C: the sum of the products of recorded operands up to the step.
    done
        int64, per element of C: the number of products up to the step.
    """

    products: Products
    step: int
    k: int
    a: Ints
    b: Ints
    sums: npt.NDArray[np.float64]
    done: Ints

    @property
    def grid(self) -> tuple[Ints, Ints]:
        """The different rows and columns of C that the thread owns, ascending."""
        return distinct(self.products.rows), distinct(self.products.columns)


def products(playable: Playable, block: int, thread: int, element: tuple[int, int] | None = None) -> Products:
    """Find a thread's products: once per thread, so that `state_at` is fast.

    Parameters
    ----------
    playable, block, thread
        The recording, the block and the thread.
    element
        Follow only this element of C: for a loop that owns all elements.
    """
    recording, asked = playable.recording, playable.provenance
    by_warp = False
    if element is not None:
        rows, columns = (np.array([at], np.int64) for at in element)
        owned = int(((recording.owners[0] == block) & (recording.owners[1] == thread)).sum())
        operands = _of_one(playable, *element)
    else:
        rows, columns = _owned(playable, block, thread)
        owned = len(rows)
        rows, columns = rows[:_MOST_ELEMENTS], columns[:_MOST_ELEMENTS]
        operands = asked.operands(block, thread, thread + 1)
    if owned and element is None and not operands.unknown:
        alone = _covered(operands, int(rows[0]), int(columns[0]))
        size = together(recording)
        first = thread // size * size
        of_group = asked.by_product(operands.use)
        if alone < recording.k or of_group:
            all_of_them = asked.operands(block, first, first + size)
            if of_group or _covered(all_of_them, int(rows[0]), int(columns[0])) > alone:
                operands, by_warp = all_of_them, True
    of_element, a, b = _pairs(operands, rows, columns, recording.k)
    step = playable.timeline.step_of_row
    when = np.maximum(step[operands.use[a]], step[operands.use[b]])
    return Products(block, thread, rows, columns, owned, operands, of_element, operands.k[a], when, a, b, by_warp)


def state_at(playable: Playable, known: Products, step: int) -> ThreadState:
    """Return the state of a thread after a step."""
    operands = known.operands
    read = playable.timeline.step_of_row[operands.use]
    mine = distinct(np.concatenate([known.a, known.b]))
    past = mine[read[mine] <= step]
    k = int(operands.k[past[-1]]) if len(past) else -1
    rows, columns = distinct(known.rows), distinct(known.columns)
    held = [np.full(len(lines), -1, np.int64) for lines in (rows, columns)]
    now = past[operands.k[past] == k]
    for matrix, lines in ((A, rows), (B, columns)):
        here = now[operands.matrix[now] == matrix]
        held[matrix][np.searchsorted(lines, operands.line[here])] = here  # the latest one is last
    done = np.flatnonzero(known.step <= step)
    count = len(known.rows)
    return ThreadState(
        known,
        step,
        k,
        held[A],
        held[B],
        known.sums(done),
        np.bincount(known.element[done], minlength=count),
    )


def loop_writes(playable: Playable, thread: int) -> tuple[Ints, Ints]:
    """Return the writes to C of a CPU kernel's thread: steps, ascending, and elements in memory order."""
    log = playable.recording.accesses
    # A thread's rows are sorted by step.
    writes = np.flatnonzero(log.write & (log.array == C) & (log.thread == thread))
    return playable.timeline.step_of_row[writes], log.element[writes].astype(np.int64)


def loop_element(playable: Playable, writes: tuple[Ints, Ints], step: int) -> tuple[int, int] | None:
    """Return the element of C that a loop on a CPU computes at a step: the next one that it writes.

    Parameters
    ----------
    playable, writes
        The recording, and its `loop_writes`.
    step
        The step.
    """
    steps, elements = writes
    if not len(steps):
        return None
    at = min(int(np.searchsorted(steps, step)), len(steps) - 1)
    row, column = playable.recording.arrays[C].cells(elements[at : at + 1])
    return int(row[0]), int(column[0])


def _of_one(playable: Playable, row: int, column: int) -> Operands:
    """Return the operands of one element of C: for a loop that owns all of C, finding all operands would take long."""
    fed = playable.provenance.operand_paths(row, column)
    line = np.where(fed.matrix == A, row, column)
    # The used value: in a packed panel it has another index than in its matrix.
    unknown = np.full(len(line), -1, np.int64)
    return Operands(fed.matrix, line, fed.k, fed.read, fed.write, fed.use, fed.value, int(fed.unknown), unknown)


def _owned(playable: Playable, block: int, thread: int) -> tuple[Ints, Ints]:
    """Return the elements of C whose last write is by a thread, in the order of the writes."""
    recording = playable.recording
    log, (owner_block, owner_thread) = recording.accesses, recording.owners
    if recording.boxes.store.any():  # the copy engine writes C, not the thread
        rows, columns = np.nonzero((owner_block == block) & (owner_thread == thread))
        order = np.argsort(recording.handed_over[rows, columns], kind="stable")
        return rows[order], columns[order]
    begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    mine = begin + np.flatnonzero((log.thread[begin:end] == thread) & log.write[begin:end])
    mine = mine[log.array[mine] == C]
    _, element = recording.elements(mine)
    # The last write of each element counts.
    last = np.sort(len(element) - 1 - np.unique(element[::-1], return_index=True)[1])
    rows, columns = recording.arrays[C].cells(element[last])
    kept = (owner_block[rows, columns] == block) & (owner_thread[rows, columns] == thread)
    return rows[kept], columns[kept]


def _covered(operands: Operands, row: int, column: int) -> int:
    """Return the number of positions along K with operands in a row of A and in a column of B, whichever is less."""
    counts = [
        len(distinct(operands.k[(operands.matrix == matrix) & (operands.line == line)]))
        for matrix, line in ((A, row), (B, column))
    ]
    return min(counts)


def _pairs(operands: Operands, rows: Ints, columns: Ints, length: int) -> tuple[Ints, Ints, Ints]:
    """Return, per product, the index of its element, and its operands of A and B."""
    key = (operands.matrix * (int(operands.line.max(initial=0)) + 1) + operands.line) * length + operands.k
    if len(distinct(key)) == len(key):  # nothing is read twice: no choice is needed
        found = []
        for matrix, lines in ((A, rows), (B, columns)):
            mine = np.flatnonzero(operands.matrix == matrix)
            table = np.full((int(max(lines.max(initial=0), operands.line.max(initial=0))) + 1, length), -1, np.int64)
            table[operands.line[mine], operands.k[mine]] = mine
            found.append(table[lines])
        element, k = np.nonzero((found[0] >= 0) & (found[1] >= 0))
        return element, found[0][element, k], found[1][element, k]
    (of_a, a), (of_b, b) = (_of_lines(operands, matrix, lines) for matrix, lines in ((A, rows), (B, columns)))
    at = np.concatenate([a, b])
    place = np.concatenate([of_a, of_b]) * length + operands.k[at]  # each element has its own positions along K
    chosen = closest(operands.matrix[at], place, operands.use[at])
    a, b = (chosen[operands.matrix[at[chosen]] == matrix] for matrix in (A, B))
    both, in_a, in_b = np.intersect1d(place[a], place[b], return_indices=True)
    return both // length, at[a[in_a]], at[b[in_b]]


def _of_lines(operands: Operands, matrix: int, lines: Ints) -> tuple[Ints, Ints]:
    """Return every operand of a matrix that lies in one of some lines: the index of the line, and of the operand."""
    mine = np.flatnonzero(operands.matrix == matrix)
    mine = mine[np.argsort(operands.line[mine], kind="stable")]
    first, last = (np.searchsorted(operands.line[mine], lines, side) for side in ("left", "right"))
    count = last - first
    which = np.repeat(np.arange(len(lines)), count)
    return which, mine[np.arange(len(which)) - np.repeat(np.cumsum(count) - count - first, count)]
