"""The log of a recording: the arrays, the places in the source, and a row per access."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording.tma_boxes import Boxes, Events

_BANKS = 32
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Array:
    """One array that the kernel accesses.

    Attributes
    ----------
    name
        ``"A"``, ``"B"``, ``"C"``, or the name of a shared array in the source.
    space
        ``"global"`` or ``"shared"``.
    shape
        (rows, columns) of a matrix; a shared array's own dimensions.
    dtype
        NumPy name of the element type.
    column_major
        Whether element i is in row ``i % rows`` instead of row ``i // columns``.
    swizzle
        Of a tile that the copy engine fills: over how many bytes it deals the pieces of 16 bytes of a row (0: none).
        The numbers of elements are those of memory; see `physical` and `logical`.
    """

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str
    column_major: bool = False
    swizzle: int = 0

    def physical(self, elements: Column) -> Column:
        """Return the places in memory of elements that are numbered as in the tile, row by row."""
        if not self.swizzle:
            return elements
        at = elements.astype(np.int64) * self.itemsize
        pieces = self.swizzle // 16
        # PTX ISA, "Swizzling Modes": the piece's number within the row, by the number of the row.
        swizzled: Column = (at ^ ((at >> 7) % pieces << 4)) // self.itemsize
        return swizzled

    def logical(self, places: Column) -> Column:
        """Return the elements, numbered as in the tile, at some places in memory: undo `physical`."""
        return self.physical(places)

    @cached_property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @cached_property
    def itemsize(self) -> int:
        """Bytes per element."""
        return np.dtype(self.dtype).itemsize

    def cells(self, elements: Column) -> tuple[Column, Column]:
        """Return (row, column) of elements given by their position in memory.

        Higher dimensions are folded into the rows; see `grid` for a single dimension.
        """
        rows, columns = self.grid
        elements = elements.astype(np.int64)
        if self.column_major:
            return elements % rows, elements // rows
        return elements // columns, elements % columns

    @cached_property
    def grid(self) -> tuple[int, int]:
        """(rows, columns) in which the array is drawn.

        Dynamic shared memory has a single dimension: it is folded into rows of 32 elements, one per bank for 4-byte
        elements, where that comes out even.
        """
        columns = self.shape[-1]
        if len(self.shape) == 1 and self.space == "shared" and columns % _BANKS == 0:
            columns = _BANKS
        return self.size // columns, columns


@dataclass(frozen=True)
class Site:
    """One memory instruction of the kernel.

    Attributes
    ----------
    line, column
        Where in the source it comes from, from 1; 0: unknown.
    atomic
        Whether it is an atomic operation.
    product
        Whether it is a ``wgmma``, whose operands the tensor cores read in shared memory.
    """

    line: int
    column: int
    atomic: bool = False
    product: bool = False


@dataclass(frozen=True)
class Accesses:
    """The columns of a recording; row i of all of them is one access of one thread.

    Rows are in the order of the recorder's run: block after block, phase after phase, thread after thread.

    Attributes
    ----------
    site
        uint16, index into `Recording.sites`.
    array
        uint8, index into `Recording.arrays`.
    write
        bool.
    bytes
        uint8, bytes that the access moved.
    element
        uint32, index of the (first) element within its array, in memory order.
    value
        float32, the value read or written (the first element's).
    block
        uint32, linear block index (x fastest).
    thread
        uint16, linear thread index within the block (x fastest).
    phase
        uint16, barriers that the thread had passed.
    turn
        uint16, calls of ``__syncwarp`` that the thread had passed in the phase.
    more
        float32, not a column: the values of the further elements of accesses that cover several, in the order of the
        rows. See `Recording.covered`.
    copies
        int64 (n, 3), not a column: the asynchronous copies (``cp.async``) that arrived. Each has the row that writes
        the copy, the row that read it (-1: nothing was read, the copy is all zeros), and the phase in which it was
        issued. The write stands where the thread waited for it; from its issue on the destination counts as being
        written. A box of the copy engine is many of them: its pieces of 16 bytes.
    boxes, events
        int64, not columns: a row per box of the copy engine, and per thing that happened to an mbarrier. See
        `Recording.boxes` and `Recording.events`.
    """

    site: Column
    array: Column
    write: Column
    bytes: Column
    element: Column
    value: Column
    block: Column
    thread: Column
    phase: Column
    turn: Column
    more: Column = field(default_factory=lambda: np.zeros(0, np.float32))
    copies: Column = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    boxes: Column = field(default_factory=lambda: np.zeros((0, len(fields(Boxes))), np.int64))
    events: Column = field(default_factory=lambda: np.zeros((0, len(fields(Events))), np.int64))

    def __len__(self) -> int:
        return len(self.site)
