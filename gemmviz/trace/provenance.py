"""Where an element of C comes from, and who touched a cell: questions about a whole recording, answered from an index.

What is exact: who owns an element, who touched a cell, when and at which line; that a thread read an element of A or B,
directly or from a shared cell, and which write had filled this cell. What is *attribution*:

* which read of global memory brought the value that a thread stored in shared memory (see `gemmviz.trace.staging`;
  exact for asynchronous copies);
* that an element A[i, k] which the owner of C[i, j] reads feeds C[i, j]: a thread that owns several elements of C uses
  what it reads for a row or a column of them, and its registers leave no trace. Where it reads the same element several
  times, the reads of A[i, k] and B[k, j] that stand closest together are taken;
* that what a warp reads together feeds what it owns, where a thread alone does not read a whole row and column: lanes
  hand each other values in tensor-core fragments and shuffles.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import WARP, Recording
from gemmviz.trace.requests import Ints
from gemmviz.trace.staging import Staged
from gemmviz.trace.state import History
from gemmviz.trace.timeline import Timeline

_A, _B, _C = 0, 1, 2
_CHUNK_ROWS = 1 << 17  # worked on at once


@dataclass(frozen=True)
class Touches:
    """Accesses of one cell, in the order of the steps.

    Attributes
    ----------
    rows, steps
        int64, rows of the recording, and the step of the timeline at which each stands.
    lines
        int64, of the source, from 1; 0 where unknown.
    write
        bool.
    value
        float32, what was read from the cell or written to it.
    """

    rows: Ints
    steps: Ints
    lines: Ints
    write: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Owner:
    """Who wrote an element of C last.

    Attributes
    ----------
    block, thread
        Linear indices.
    writes
        Every write of the element, by whomever.
    """

    block: int
    thread: int
    writes: Touches

    @property
    def warp(self) -> int:
        """The warp within the block."""
        return self.thread // WARP

    @property
    def lane(self) -> int:
        """The lane within the warp."""
        return self.thread % WARP


@dataclass(frozen=True)
class Fed:
    """What fed an element of C, a path from global memory to the thread per use.

    Attributes
    ----------
    matrix, k
        int64, 0 for A and 1 for B, and the place along K.
    read, write, use
        int64, rows of the recording: the read from global memory, the write of its value to shared memory, the read of
        that by the owner. Of a value that the owner uses as it reads it, `use` is `read`, and `write` is -1.
    by_warp
        Whether this is what the owner's whole warp read.
    unknown
        Whether the owner also used values from shared memory of which nobody knows where they were read: paths may be
        missing.
    """

    matrix: Ints
    k: Ints
    read: Ints
    write: Ints
    use: Ints
    by_warp: bool
    unknown: bool = False

    def taken(self, which: Ints) -> "Fed":
        """Return some of the paths, in the order given."""
        columns = {name: getattr(self, name)[which] for name in ("matrix", "k", "read", "write", "use")}
        return replace(self, **columns)

    def reads(self, matrix: int) -> Ints:
        """Return the different rows that read A (0) or B (1) from global memory."""
        return np.unique(self.read[self.matrix == matrix])

    @property
    def shared_reads(self) -> Ints:
        """The different rows that read shared memory."""
        return np.unique(self.use[self.write >= 0])

    def covered(self, matrix: int) -> int:
        """Return how many different places along K fed the element from A (0) or B (1)."""
        return len(np.unique(self.k[self.matrix == matrix]))


@dataclass(frozen=True)
class Operands:
    """What some threads read to multiply.

    Attributes
    ----------
    matrix, line, k
        int64, 0 for A and 1 for B; the row of A or column of B; and the place along K.
    read, write, use
        As in `Fed`.
    value
        float32, what the thread got: from a defective kernel's shared memory, not always what the matrix holds there.
    unknown
        How many values from shared memory it read of which nobody knows where they were read.
    """

    matrix: Ints
    line: Ints
    k: Ints
    read: Ints
    write: Ints
    use: Ints
    value: npt.NDArray[np.float32]
    unknown: int


class Provenance:
    """Answers questions about a recording within milliseconds.

    Parameters
    ----------
    recording, timeline
        What to ask about.
    history, staged
        What is written when, and where it was read (`gemmviz.trace.state.history`, `gemmviz.trace.staging.staged`).
    """

    def __init__(self, recording: Recording, timeline: Timeline, history: History, staged: Staged) -> None:
        self.recording, self.timeline, self.history, self.staged = recording, timeline, history, staged
        log = recording.accesses
        self._shared = np.array([a.space == "shared" for a in recording.arrays])
        self._size = np.array([a.size for a in recording.arrays], np.int64)
        self._base = np.array(history.base, np.int64)
        self._line = np.array([s.line for s in recording.sites], np.int64)
        self._bits = max(len(log) - 1, 1).bit_length()
        self._index = self._sorted_index()
        self._answered: tuple[tuple[int, int], Fed] | None = None
        self._used: tuple[tuple[int, int, int], Operands] | None = None
        self._stages = np.zeros(len(log), bool)  # reads whose value went on to shared memory, or may have
        self._stages[staged.read[staged.read >= 0]] = True
        self._stages[staged.doubtful] = True
        block, thread = recording.owners
        owners = (block * recording.threads + thread)[block >= 0]
        self._owned = np.bincount(owners, minlength=recording.blocks * recording.threads)

    def _sorted_index(self) -> Ints:
        """Return, sorted, the slot of every element accessed (see `History.base`) with the row in the low bits."""
        log = self.recording.accesses
        index = np.empty(len(log) + len(log.more), np.int64)
        end = 0
        for begin in range(0, len(log), _CHUNK_ROWS):
            rows = np.arange(begin, min(begin + _CHUNK_ROWS, len(log)))
            position, element, _ = self.recording.covered(rows)
            start, end = end, end + len(position)
            index[start:end] = self._slot(rows[position], element) << self._bits | rows[position]
        index.sort()
        return index

    def _slot(self, rows: Ints, element: Ints) -> Ints:
        """Return where elements stand in one numbering of all memory: a shared array has a copy per block."""
        log = self.recording.accesses
        array = log.array[rows]
        slot: Ints = self._base[array] + np.where(self._shared, self._size, 0)[array] * log.block[rows] + element
        return slot

    def _rows_at(self, slots: Ints) -> tuple[Ints, Ints]:
        """Return the rows that touch some slots, and for each which of the slots it is."""
        first, last = (np.searchsorted(self._index, s << self._bits) for s in (slots, slots + 1))
        count = last - first
        which = np.repeat(np.arange(len(slots)), count)
        at = np.arange(len(which)) - np.repeat(np.cumsum(count) - count - first, count)
        return self._index[at] & ((1 << self._bits) - 1), which

    def touched(self, array: int, element: int, block: int | None = None) -> Touches:
        """Return every access of a cell.

        Parameters
        ----------
        array, element
            Index into ``recording.arrays``, and the element's place in memory.
        block
            Whose copy of a shared array; None for the same cell in all blocks.
        """
        slots = np.array([self._base[array] + element])
        if self._shared[array]:
            blocks = np.arange(self.recording.blocks) if block is None else np.array([block])
            slots = slots + self._size[array] * blocks
        return self._touches(np.unique(self._rows_at(slots)[0]), element)

    def _touches(self, rows: Ints, element: int) -> Touches:
        log = self.recording.accesses
        steps = self.timeline.step_of_row[rows]
        order = np.argsort(steps, kind="stable")
        rows, steps = rows[order], steps[order]
        _, covered, value = self.recording.covered(rows)
        return Touches(rows, steps, self._line[log.site[rows]], log.write[rows] > 0, value[covered == element])

    def owner(self, row: int, column: int) -> Owner | None:
        """Return who owns an element of C; None where nobody writes it."""
        log = self.recording.accesses
        touches = self.touched(_C, self._element(_C, row, column))
        mine = touches.write
        writes = replace(
            touches,
            **{name: getattr(touches, name)[mine] for name in ("rows", "steps", "lines", "write", "value")},
        )
        if not len(writes.rows):
            return None
        last = int(writes.rows.max())
        return Owner(int(log.block[last]), int(log.thread[last]), writes)

    def fed(self, row: int, column: int) -> Fed:
        """Return every access that fed an element of C, path by path, in the order of the uses."""
        # The same element is asked for again at every step that is shown.
        if self._answered is None or self._answered[0] != (row, column):
            self._answered = (row, column), self._find_fed(row, column)
        return self._answered[1]

    def _find_fed(self, row: int, column: int) -> Fed:
        owner = self.owner(row, column)
        if owner is None:
            none = np.zeros(0, np.int64)
            return Fed(none, none, none, none, none, by_warp=False)
        alone = self._paths(owner.block, owner.thread, owner.thread + 1, row, column)
        if self._owned[owner.block * self.recording.threads + owner.thread] > 1:
            alone = alone.taken(closest(alone.matrix, alone.k, alone.use))
        known = min(alone.covered(_A), alone.covered(_B))
        if self.recording.backend != "cuda" or known == self.recording.k or alone.unknown:
            return alone
        first = owner.warp * WARP
        together = self._paths(owner.block, first, first + WARP, row, column)
        return together if min(together.covered(_A), together.covered(_B)) > known else alone

    def _element(self, array: int, row: int, column: int) -> int:
        """Return where an element of a matrix stands in memory."""
        info = self.recording.arrays[array]
        rows, columns = info.grid
        return column * rows + row if info.column_major else row * columns + column

    def _paths(self, block: int, first: int, last: int, row: int, column: int) -> Fed:
        """Return what the threads of a block from `first` up to `last` read of a row of A and a column of B."""
        found = [self._direct(matrix, block, first, last, row, column) for matrix in (_A, _B)]
        unknown = False
        if self._shared.any():
            through, unknown = self._through_shared(block, first, last, row, column)
            found.append(through)
        paths = np.concatenate(found, axis=1)
        order = np.argsort(self.timeline.step_of_row[paths[-1]], kind="stable")
        matrix, k, read, write, use = paths[:, order]
        return Fed(matrix, k, read, write, use, last - first > 1, unknown)

    def _direct(self, matrix: int, block: int, first: int, last: int, row: int, column: int) -> Ints:
        """Return paths (matrix, k, read, write, use) of the reads whose values stayed with their threads."""
        log = self.recording.accesses
        along = np.arange(self.recording.k)
        cells = (row, along) if matrix == _A else (along, column)
        info = self.recording.arrays[matrix]
        rows, columns = info.grid
        element = cells[1] * rows + cells[0] if info.column_major else cells[0] * columns + cells[1]
        reads, k = self._rows_at(self._base[matrix] + element)
        thread = log.thread[reads]
        mine = (log.block[reads] == block) & (first <= thread) & (thread < last) & ~log.write[reads]
        mine &= ~self._stages[reads]
        reads, k = reads[mine], k[mine]
        return np.stack([np.full(len(k), matrix), k, reads, np.full(len(k), -1), reads])

    def _through_shared(self, block: int, first: int, last: int, row: int, column: int) -> tuple[Ints, bool]:
        """Return paths (matrix, k, read, write, use) by shared memory, and whether some could not be found."""
        used = self._used_from_shared(block, first, last)
        line = np.where(used.matrix == _A, row, column)
        mine = used.line == line
        return np.stack([used.matrix, used.k, used.read, used.write, used.use])[:, mine], used.unknown > 0

    def _used_from_shared(self, block: int, first: int, last: int) -> Operands:
        """Return the operands that threads of a block read from shared memory."""
        # The same threads are asked about again for each of their elements, and at every step that is shown.
        if self._used is not None and self._used[0] == (block, first, last):
            return self._used[1]
        log, history, staged = self.recording.accesses, self.history, self.staged
        uses = self._reads_of(block, first, last)
        uses = uses[self._shared[log.array[uses]]]
        position, element, value = self.recording.covered(uses)
        uses = uses[position]
        slot = self._slot(uses, element)
        steps = self.timeline.steps
        at = np.searchsorted(history.key, slot * steps + self.timeline.step_of_row[uses]) - 1
        known = (at >= 0) & (history.key[np.maximum(at, 0)] // steps == slot)
        uses, at, value = uses[known], at[known], value[known]
        item = history.item[at]
        read, write = staged.read[item], history.row[at]
        found = np.flatnonzero((read >= 0) & (log.array[read] <= _B))
        element = staged.read_element[item[found]]
        unknown = int(staged.unknown[item].sum())
        answer = self._operands(read[found], element, write[found], uses[found], value[found], unknown)
        self._used = (block, first, last), answer
        return answer

    def _reads_of(self, block: int, first: int, last: int) -> Ints:
        """Return the rows at which threads of a block read anything."""
        log = self.recording.accesses
        begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
        thread = log.thread[begin:end]
        rows: Ints = begin + np.flatnonzero((first <= thread) & (thread < last) & ~log.write[begin:end])
        return rows

    def _operands(
        self, read: Ints, element: Ints, write: Ints, use: Ints, value: npt.NDArray[np.float32], unknown: int
    ) -> Operands:
        matrix = self.recording.accesses.array[read].astype(np.int64)
        line, k = np.zeros(len(read), np.int64), np.zeros(len(read), np.int64)
        for which in (_A, _B):
            mine = np.flatnonzero(matrix == which)
            i, j = self.recording.arrays[which].cells(element[mine])
            line[mine], k[mine] = (i, j) if which == _A else (j, i)
        return Operands(matrix, line, k, read, write, use, value, unknown)

    def operands(self, block: int, first: int, last: int) -> Operands:
        """Return every operand that the threads of a block from `first` up to `last` read, in the order of the steps.

        Reads of global memory whose value went on to shared memory are no operands.
        """
        reads = self._reads_of(block, first, last)
        reads = reads[(self.recording.accesses.array[reads] <= _B) & ~self._stages[reads]]
        position, element, value = self.recording.covered(reads)
        reads = reads[position]
        direct = self._operands(reads, element, np.full(len(reads), -1, np.int64), reads, value, 0)
        shared = self._used_from_shared(block, first, last)
        names = ("matrix", "line", "k", "read", "write", "use", "value")
        column = {name: np.concatenate([getattr(direct, name), getattr(shared, name)]) for name in names}
        order = np.argsort(self.timeline.step_of_row[column["use"]], kind="stable")
        return Operands(**{name: values[order] for name, values in column.items()}, unknown=shared.unknown)


def closest(matrix: Ints, k: Ints, use: Ints) -> Ints:
    """Choose, for each place along K, the use of A and the use of B that stand closest together.

    Parameters
    ----------
    matrix, k, use
        Of each use: 0 for A and 1 for B, the place along K, and the row of the recording.

    Returns
    -------
    ndarray
        int64, ascending, the places of the uses that are kept; of a place along K that lacks A or B, all of them.
    """
    a, b = (np.flatnonzero(matrix == which) for which in (_A, _B))
    alone = np.setxor1d(k[a], k[b])  # nothing to choose by
    far = int(use.max(initial=0)) + 1
    key = k * far + use
    b = b[np.argsort(key[b])]
    at = np.searchsorted(key[b], key[a])
    pairs, distances = [], []
    for neighbour in (at - 1, at):
        other = b[np.clip(neighbour, 0, max(len(b) - 1, 0))] if len(b) else np.zeros(0, np.int64)
        mine = a[: len(other)]
        same = k[other] == k[mine]
        pairs.append(np.stack([mine, other])[:, same])
        distances.append(np.abs(use[other] - use[mine])[same])
    pair, distance = np.concatenate(pairs, axis=1), np.concatenate(distances)
    order = np.lexsort((distance, k[pair[0]]))
    nearest = order[np.unique(k[pair[0]][order], return_index=True)[1]]
    return np.sort(np.concatenate([pair[:, nearest].ravel(), np.flatnonzero(np.isin(k, alone))]))
