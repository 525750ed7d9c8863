"""The origin of elements of C, and the accesses to a cell: queries over a whole recording, answered from an index.

Exact are: an element's owner, the accesses to a cell, their step and line; that a thread read an element of A or B,
directly or from a shared cell, and which write had filled this cell. *Attributed*, which means inferred, are:

* the read of global memory that loaded the value that a thread stored in shared memory (see
  `gemmviz.trace.origin.staging`; exact for asynchronous copies);
* that an element A[i, k] which the owner of C[i, j] reads is an operand of C[i, j]: a thread that owns several elements
  of C uses its reads for a row or a column of them, and its registers are not recorded. If it reads the same element
  several times, the reads of A[i, k] and B[k, j] that are closest together are taken;
* that a warp's common reads are operands of the elements it owns, if a thread alone does not read a whole row and
  column: lanes exchange values in tensor-core fragments and shuffles; for a wgmma these are a warpgroup's reads.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.array_state import History
from gemmviz.trace.origin.operand_paths import CellAccesses, OperandPaths, Operands, Owner, closest
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.parts import ROWS_AT_ONCE
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.trace.recording.tma_stores import added, before_store


def together(recording: Recording) -> int:
    """Return the number of threads that cooperate on one product: a warp, or a warpgroup if it has a wgmma."""
    return max(recording.together, WARP)


class Provenance:
    """Answers queries about a recording within milliseconds.

    Parameters
    ----------
    recording, timeline
        The recording.
    history, staged
        The writes with their steps, and the reads from which their values come
        (`gemmviz.trace.origin.array_state.history`, `gemmviz.trace.origin.staging.staged`).
    """

    def __init__(self, recording: Recording, timeline: Timeline, history: History, staged: Staged) -> None:
        self.recording, self.timeline, self.history, self.staged = recording, timeline, history, staged
        log = recording.accesses
        self._shared = np.array([a.space == "shared" for a in recording.arrays])
        self._size = np.array([a.size for a in recording.arrays], np.int64)
        self._base = np.array(history.base, np.int64)
        self._product = np.array([s.product for s in recording.sites], bool)
        self._line = np.array([s.line for s in recording.sites], np.int64)
        self._bits = max(len(log) - 1, 1).bit_length()
        self._index = self._sorted_index()
        self._answered: tuple[tuple[int, int], OperandPaths] | None = None
        self._used: tuple[tuple[int, int, int], Operands] | None = None
        self._stages = np.zeros(len(log), bool)  # reads whose value went on to shared memory, or may have
        self._stages[staged.read[staged.read >= 0]] = True
        self._stages[staged.doubtful] = True
        block, thread = recording.owners
        owners = (block * recording.threads + thread)[block >= 0]
        self._owned = np.bincount(owners, minlength=recording.blocks * recording.threads)

    def _sorted_index(self) -> Ints:
        """Return, sorted, the slot of every accessed element (see `History.base`) with the row in the low bits."""
        log = self.recording.accesses
        index = np.empty(self.recording.elements_accessed, np.int64)
        end = 0
        for begin in range(0, len(log), ROWS_AT_ONCE):
            rows = np.arange(begin, min(begin + ROWS_AT_ONCE, len(log)))
            position, element = self.recording.elements(rows)
            start, end = end, end + len(position)
            index[start:end] = self._slot(rows[position], element) << self._bits | rows[position]
        index.sort()
        return index

    def _slot(self, rows: Ints, element: Ints) -> Ints:
        """Return the numbers of elements in a common numbering of all memory: a shared array has a copy per block."""
        log = self.recording.accesses
        array = log.array[rows]
        slot: Ints = self._base[array] + np.where(self._shared, self._size, 0)[array] * log.block[rows] + element
        return slot

    def _rows_at(self, slots: Ints) -> tuple[Ints, Ints]:
        """Return the rows that access some slots, and for each row the index of its slot."""
        first, last = (np.searchsorted(self._index, s << self._bits) for s in (slots, slots + 1))
        count = last - first
        which = np.repeat(np.arange(len(slots)), count)
        at = np.arange(len(which)) - np.repeat(np.cumsum(count) - count - first, count)
        return self._index[at] & ((1 << self._bits) - 1), which

    def accesses_of(self, array: int, element: int, block: int | None = None) -> CellAccesses:
        """Return every access of a cell.

        Parameters
        ----------
        array, element
            Index into ``recording.arrays``, and the element in memory order.
        block
            The block, for a shared array; None for the same cell in all blocks.
        """
        slots = np.array([self._base[array] + element])
        if self._shared[array]:
            blocks = np.arange(self.recording.blocks) if block is None else np.array([block])
            slots = slots + self._size[array] * blocks
        return self._touches(distinct(self._rows_at(slots)[0]), element)

    def _touches(self, rows: Ints, element: int) -> CellAccesses:
        log = self.recording.accesses
        steps = self.timeline.step_of_row[rows]
        order = np.argsort(steps, kind="stable")
        rows, steps = rows[order], steps[order]
        _, covered, value = self.recording.covered(rows)
        return CellAccesses(rows, steps, self._line[log.site[rows]], log.write[rows] > 0, value[covered == element])

    def owner(self, row: int, column: int) -> Owner | None:
        """Return the owner of an element of C; None if it is never written."""
        log = self.recording.accesses
        touches = self.accesses_of(C, self._element(C, row, column))
        mine = touches.write
        writes = replace(
            touches,
            **{name: getattr(touches, name)[mine] for name in ("rows", "steps", "lines", "write", "value")},
        )
        if not len(writes.rows):
            return None
        last = int(writes.rows.max())
        # A sum that the copy engine stored was computed by another thread.
        over = int(self.recording.handed_over[row, column])
        last = over if over >= 0 else last
        return Owner(int(log.block[last]), int(log.thread[last]), writes)

    def operand_paths(self, row: int, column: int) -> OperandPaths:
        """Return the path of every operand of an element of C, in the order of the uses."""
        # The same element is needed at every step that is shown.
        if self._answered is None or self._answered[0] != (row, column):
            self._answered = (row, column), self._find_fed(row, column)
        return self._answered[1]

    def _find_fed(self, row: int, column: int) -> OperandPaths:
        owner = self.owner(row, column)
        if owner is None:
            none = np.zeros(0, np.int64)
            return OperandPaths(none, none, none, none, none, none.astype(np.float32), by_warp=False)
        stored = float(owner.writes.value[owner.writes.rows.argmax()])
        parts = [self._attributed(other, row, column).whole() for other in self._others(owner, row, column)]
        fed = replace(self._joined([*parts, self._attributed(owner, row, column)]), stored=stored)
        if fed.unknown or fed.gives_stored or min(fed.covered(A), fed.covered(B)) == self.recording.k:
            return fed
        if self._shared.any() and self._used_from_shared(owner.block, owner.thread, owner.thread + 1).computed:
            # It passed on sums of other threads. Its own reads are operands if they form a product.
            return replace(fed.whole(), unknown=True)
        wanted = float(self._along_k(A, row, column).astype(np.float64) @ self._along_k(B, row, column))
        return replace(fed, rest=bool(len(fed.use)) and bool(same(stored, wanted)))

    def _others(self, owner: Owner, row: int, column: int) -> list[Owner]:
        """Return the owners of the sums that the copy engine added to an element before the last time."""
        found = []
        element, rows, handed = self._handed
        at = slice(*np.searchsorted(element, np.array([0, 1]) + self._element(C, row, column)))
        log, adds = self.recording.accesses, added(self.recording)
        for last, over in zip(rows[at][::-1], handed[at][::-1], strict=True):
            found.append(replace(owner, block=int(log.block[over]), thread=int(log.thread[over])))
            if not adds[last]:
                break
        return found[:0:-1]

    @cached_property
    def _handed(self) -> tuple[Ints, Ints, Ints]:
        """The elements of C to which the copy engine adds, their writing rows, and how each sum left registers."""
        log, adds = self.recording.accesses, added(self.recording)
        rows = np.flatnonzero(log.write & (log.array == C)) if adds.any() else np.zeros(0, np.int64)
        position, element = self.recording.elements(rows)
        rows = rows[position]
        mine = np.flatnonzero(np.isin(element, element[adds[rows]]))
        mine = mine[np.argsort(element[mine], kind="stable")]
        return element[mine], rows[mine], before_store(self.recording, rows[mine], element[mine])

    def _joined(self, parts: list[OperandPaths]) -> OperandPaths:
        """Return the combined paths of several parts of a sum."""
        if len(parts) == 1:
            return parts[0]
        names = ("matrix", "k", "read", "write", "use", "value")
        fields: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        fields |= {name: any(getattr(part, name) for part in parts) for name in ("by_warp", "unknown", "by_group")}
        return OperandPaths(**fields).taken(np.argsort(self.timeline.step_of_row[fields["use"]], kind="stable"))

    def _attributed(self, owner: Owner, row: int, column: int) -> OperandPaths:
        """Return the paths to an element of C from its owner's reads, or from those of the owner's warp."""
        alone = self._paths(owner.block, owner.thread, owner.thread + 1, row, column)
        if self._owned[owner.block * self.recording.threads + owner.thread] > 1:
            alone = alone.taken(closest(alone.matrix, alone.k, alone.use))
        known = min(alone.covered(A), alone.covered(B))
        of_group = self.by_product(alone.use)
        if self.recording.backend != "cuda" or alone.unknown or (known == self.recording.k and not of_group):
            return alone
        size = together(self.recording)
        first = owner.thread // size * size
        all_of_them = self._paths(owner.block, first, first + size, row, column)
        if all_of_them.by_group:
            # A thread that computes several tiles uses a row of A in each of them: a product has both operands close
            # together.
            a, b = (all_of_them.k[all_of_them.matrix == matrix] for matrix in (A, B))
            all_of_them = all_of_them.taken(np.flatnonzero(np.isin(all_of_them.k, np.intersect1d(a, b))))
            all_of_them = all_of_them.taken(closest(all_of_them.matrix, all_of_them.k, all_of_them.use))
        more = min(all_of_them.covered(A), all_of_them.covered(B)) > known
        return all_of_them if of_group or more else alone

    def by_product(self, uses: Ints) -> bool:
        """Return whether some of these reads belong to a wgmma: they are of its warpgroup, not of one thread."""
        return bool(self._product[self.recording.accesses.site[uses]].any())

    def _element(self, array: int, row: int, column: int) -> int:
        """Return the index of an element of a matrix in memory order."""
        return self.recording.arrays[array].element(row, column)

    def _paths(self, block: int, first: int, last: int, row: int, column: int) -> OperandPaths:
        """Return the reads of a block's threads from `first` up to `last` in a row of A and a column of B."""
        found = [self._direct(matrix, block, first, last, row, column) for matrix in (A, B)]
        values = [self._along_k(matrix, row, column)[paths[1]] for matrix, paths in enumerate(found)]
        unknown = False
        if self._shared.any():
            through, value, unknown = self._through_shared(block, first, last, row, column)
            found.append(through)
            values.append(value)
        paths = np.concatenate(found, axis=1)
        order = np.argsort(self.timeline.step_of_row[paths[-1]], kind="stable")
        matrix, k, read, write, use = paths[:, order]
        value, by_warp, by_group = np.concatenate(values)[order], last - first > 1, last - first > WARP
        return OperandPaths(matrix, k, read, write, use, value, by_warp, unknown, by_group=by_group)

    def _along_k(self, matrix: int, row: int, column: int) -> npt.NDArray[np.float32]:
        """Return the row of A, or the column of B, that belongs to an element of C."""
        line = self.recording.a[row] if matrix == A else self.recording.b[:, column]
        values: npt.NDArray[np.float32] = line.astype(np.float32)
        return values

    def stale_reads(self, fed: OperandPaths, row: int, column: int) -> npt.NDArray[np.bool_]:
        """Return for each path whether the owner of C[row, column] read another value than the copied one."""
        wanted = np.where(
            fed.matrix == A,
            *(self._along_k(matrix, row, column)[fed.k] for matrix in (A, B)),
        )
        return ~same(fed.value, wanted)

    def _direct(self, matrix: int, block: int, first: int, last: int, row: int, column: int) -> Ints:
        """Return paths (matrix, k, read, write, use) of the reads whose values were not copied to shared memory."""
        log = self.recording.accesses
        along = np.arange(self.recording.k)
        i, j = (np.full_like(along, row), along) if matrix == A else (along, np.full_like(along, column))
        element = self.recording.arrays[matrix].element(i, j)
        reads, k = self._rows_at(self._base[matrix] + element)
        thread = log.thread[reads]
        mine = (log.block[reads] == block) & (first <= thread) & (thread < last) & ~log.write[reads]
        mine &= ~self._stages[reads]
        reads, k = reads[mine], k[mine]
        return np.stack([np.full(len(k), matrix), k, reads, np.full(len(k), -1), reads])

    def _through_shared(
        self, block: int, first: int, last: int, row: int, column: int
    ) -> tuple[Ints, npt.NDArray[np.float32], bool]:
        """Return paths (matrix, k, read, write, use) through shared memory, their values, whether some are missing."""
        used = self._used_from_shared(block, first, last)
        line = np.where(used.matrix == A, row, column)
        mine = used.line == line
        paths = np.stack([used.matrix, used.k, used.read, used.write, used.use])[:, mine]
        return paths, used.value[mine], used.unknown > 0

    def _used_from_shared(self, block: int, first: int, last: int) -> Operands:
        """Return the operands that threads of a block read from shared memory."""
        # The same threads are needed for each of their elements, and at every step that is shown.
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
        uses, at, value, held = uses[known], at[known], value[known], element[known].astype(np.int64)
        item = history.item[at]
        read, write = staged.read[item], history.row[at]
        found = np.flatnonzero((read >= 0) & (log.array[read] <= B))
        element = staged.read_element[item[found]]
        unknown = int(staged.unknown[item].sum())
        answer = self._operands(read[found], element, write[found], uses[found], value[found], unknown)
        answer = replace(answer, place=held[found])
        # Zeros fill the edges of tiles.
        computed = (staged.read[item] < 0) & ~staged.unknown[item] & (history.value[at] != 0)
        answer = replace(answer, computed=bool(computed.any()))
        self._used = (block, first, last), answer
        return answer

    def _reads_of(self, block: int, first: int, last: int) -> Ints:
        """Return the rows of all reads of some threads of a block."""
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
        for which in (A, B):
            mine = np.flatnonzero(matrix == which)
            i, j = self.recording.arrays[which].cells(element[mine])
            line[mine], k[mine] = (i, j) if which == A else (j, i)
        return Operands(matrix, line, k, read, write, use, value, unknown, element.astype(np.int64))

    def operands(self, block: int, first: int, last: int) -> Operands:
        """Return every operand that the threads of a block from `first` up to `last` read, in the order of the steps.

        Reads of global memory whose value was copied to shared memory are not operands.
        """
        reads = self._reads_of(block, first, last)
        reads = reads[(self.recording.accesses.array[reads] <= B) & ~self._stages[reads]]
        position, element, value = self.recording.covered(reads)
        reads = reads[position]
        direct = self._operands(reads, element, np.full(len(reads), -1, np.int64), reads, value, 0)
        shared = self._used_from_shared(block, first, last)
        names = ("matrix", "line", "k", "read", "write", "use", "value", "place")
        column = {name: np.concatenate([getattr(direct, name), getattr(shared, name)]) for name in names}
        order = np.argsort(self.timeline.step_of_row[column["use"]], kind="stable")
        return Operands(
            **{name: values[order] for name, values in column.items()}, unknown=shared.unknown, computed=shared.computed
        )
