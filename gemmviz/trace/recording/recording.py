"""A recording: every memory access of a kernel's source, one row per access."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from gemmviz.backends.one_thread import product
from gemmviz.catalogue.matrices import C
from gemmviz.language import mark
from gemmviz.simt import layout
from gemmviz.simt.diagnostics import Diagnostic
from gemmviz.trace.recording.accesses import SMALL_BYTES, WORD_BYTES, Accesses, Array, Column, Site, further_words
from gemmviz.trace.recording.sharing import Sharing
from gemmviz.trace.recording.tma_boxes import Boxes, Events
from gemmviz.trace.recording.tma_stores import before_store, there_before

WARP, WARPGROUP = layout.WARP, layout.WARPGROUP
_VIEWS = (mark("as compiled"), mark("as written"))


@dataclass(frozen=True)
class Recording:
    """All accesses of one launch, recorded from the unmodified source on the CPU.

    Attributes
    ----------
    kernel, label, backend
        Name, entry with parameters, and ``"cuda"`` or ``"c"``.
    text, sha256
        The source that was recorded.
    m, n, k, params, block, grid
        The launch: C is m x n, A is m x k; block and grid are (x, y, z).
    arrays, sites
        Indexed by `Accesses.array` and `Accesses.site`. A, B, C come first, in this order.
    accesses
        The accesses.
    a, b, c
        Inputs and the recorded result, as matrices (float64; exact, see `catalogue.problem.small_integer_inputs`).
    wrong
        Elements of C that differ from A x B; 0 means that the recording computed the right result.
    diagnostics
        The recorder's findings: accesses out of bounds, threads that missed a barrier.
    run_seconds
        The duration of the run, without the build.
    scope
        The first recorded block and the block after the last one; None: the whole launch. Elements of other blocks are
        not written, and `wrong` does not count them.
    barriers
        The mbarriers of a block: (array, index).
    as_written
        Whether it has every access in the text (recorded *as written*), or only those that remain after a compiler
        keeps values in registers where possible (*as compiled*).
    together
        The largest number of threads that exchange values by one instruction: `WARP` for a shuffle or the tensor cores
        of a warp, `WARPGROUP` for a ``wgmma``, else 1.
    sharing
        The launches of each of several GPUs; None for one GPU. The blocks of their launches are numbered one launch
        after the other, and elements as in the whole matrices.
    """

    kernel: str
    label: str
    backend: str
    text: str
    sha256: str
    m: int
    n: int
    k: int
    params: dict[str, int]
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    arrays: tuple[Array, ...]
    sites: tuple[Site, ...]
    accesses: Accesses
    a: Column
    b: Column
    c: Column
    wrong: int
    diagnostics: tuple[Diagnostic, ...] = ()
    run_seconds: float = 0.0
    scope: tuple[int, int] | None = None
    barriers: tuple[tuple[str, int], ...] = ()
    as_written: bool = False
    together: int = 1
    sharing: Sharing | None = None

    @cached_property
    def product(self) -> Column:
        """A B, float64 (m x n): C, if alpha is 1 and beta is 0."""
        return product(self.a, self.b)

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes that the copy engine moves, by name."""
        return Boxes(*self.accesses.boxes.T)

    @cached_property
    def events(self) -> Events:
        """The events of the mbarriers, by name."""
        return Events(*np.ascontiguousarray(self.accesses.events.T, np.int64))

    def without_accesses(self) -> "Recording":
        """Return the recording with everything but its accesses, enough to show totals."""
        none = {f.name: getattr(self.accesses, f.name)[:0].copy() for f in fields(Accesses)}
        return replace(self, accesses=Accesses(**none))

    @property
    def view(self) -> str:
        """``"as compiled"`` or ``"as written"``; see `as_written`."""
        return _VIEWS[self.as_written]

    @property
    def notes(self) -> tuple[str, ...]:
        """The recorder's findings, for people."""
        return tuple(n.text for n in self.diagnostics)

    @property
    def threads(self) -> int:
        """Threads per block."""
        return int(np.prod(self.block))

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return int(np.prod(self.grid))

    def block_index(self, block: int) -> tuple[int, int, int]:
        """Return blockIdx (x, y, z) of a linear block index."""
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)

    def thread_index(self, thread: int) -> tuple[int, int, int]:
        """Return threadIdx (x, y, z) of a linear thread index."""
        x, y, _ = self.block
        return thread % x, thread // x % y, thread // (x * y)

    @cached_property
    def _spans(self) -> Column:
        """The number of elements of each access."""
        itemsize = np.array([a.itemsize for a in self.arrays], np.uint8)
        return np.maximum(self.accesses.bytes // itemsize[self.accesses.array], 1)

    @cached_property
    def _more_start(self) -> Column:
        """The index in ``accesses.more`` at which the further values of each row begin."""
        words = further_words(self.arrays, self.accesses.array, self._spans)
        starts: Column = np.cumsum(words) - words
        return starts

    def _further(self, rows: Column, number: Column) -> Column:
        """Return the value of one further element of each of some accesses, float32; `number` is 0 for the second."""
        start, array = self._more_start[rows], self.accesses.array[rows]
        found = np.empty(len(rows), np.float32)
        for each in np.unique(array):
            mine, kind = array == each, np.dtype(self.arrays[each].dtype)
            kept = kind if kind.itemsize <= SMALL_BYTES else np.dtype(np.float32)
            values = self.accesses.more.view(kept)
            found[mine] = values[start[mine] * (WORD_BYTES // kept.itemsize) + number[mine]]
        return found

    @property
    def elements_accessed(self) -> int:
        """The number of elements of all accesses."""
        return int(self._spans.sum(dtype=np.int64)) if len(self.accesses.more) else len(self.accesses)

    def covered(self, rows: Column) -> tuple[Column, Column, Column]:
        """Return every element of some accesses: the access's index in `rows`, the element, and its value.

        Parameters
        ----------
        rows
            Row numbers of accesses.

        Returns
        -------
        tuple
            Three arrays of one length: int64, int64 (in memory order) and float32.
        """
        log = self.accesses
        position, element = self.elements(rows)
        value = log.value[rows]
        if not len(log.more):
            return position, element, value
        value = value[position]
        offset = element - log.element[rows][position]
        wide = offset > 0
        value[wide] = self._further(rows[position[wide]], offset[wide] - 1)
        return position, element, value

    def elements(self, rows: Column) -> tuple[Column, Column]:
        """Return the result of `covered` without the values."""
        log = self.accesses
        first = log.element[rows].astype(np.int64)
        if not len(log.more):
            return np.arange(len(rows)), first
        count = self._spans[rows].astype(np.int64)
        position = np.repeat(np.arange(len(rows)), count)
        return position, np.arange(len(position)) + np.repeat(first - (np.cumsum(count) - count), count)

    @cached_property
    def handed_over(self) -> Column:
        """The access by which each element of C left its owner's registers, int64 (m x n); -1 if it is not written.

        It is the last write of the element; or, if the copy engine stored it, the write to the shared tile.
        """
        array = self.arrays[C]
        mine = np.flatnonzero((self.accesses.array == C) & self.accesses.write)
        position, elements = self.elements(mine)
        rows, columns = array.cells(elements)
        found = np.full(array.shape, -1, np.int64)
        found[rows, columns] = before_store(self, mine[position], elements)
        return found

    @cached_property
    def there_before(self) -> Column:
        """The value to which the copy engine added the last sum of each element of C, float64 (m x n); 0: none."""
        return there_before(self)

    @cached_property
    def owners(self) -> tuple[Column, Column]:
        """Block and thread that computed and wrote each element of C last, two int64 matrices (m x n); -1: none did.

        See `handed_over`.
        """
        row = self.handed_over
        block, thread = (
            np.where(row >= 0, column[np.maximum(row, 0)].astype(np.int64), -1) if len(column) else row
            for column in (self.accesses.block, self.accesses.thread)
        )
        return block, thread
