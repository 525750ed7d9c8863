"""The log of a recording: the arrays, the places in the source, and one row per access."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording.tma_boxes import Boxes, Events

_BANKS = 32
WORD_BYTES = 4
"""Bytes of an element of `Accesses.more`."""
SMALL_BYTES = 2
"""The size up to which further elements are kept in `Accesses.more` as they are in memory."""
Column = npt.NDArray[Any]
_Place = TypeVar("_Place", int, npt.NDArray[Any])


@dataclass(frozen=True)
class Array:
    """One array that the kernel accesses.

    Attributes
    ----------
    name
        ``"A"``, ``"B"``, ``"C"``, or the name of a shared array in the source.
    space
        ``"global"`` or ``"shared"``. Only a later launch has others: ``"device"``, a variable of the device, and
        ``"flags"``, one by which blocks wait for each other.
    shape
        (rows, columns) of a matrix; the dimensions of a shared array.
    dtype
        NumPy name of the element type.
    column_major
        Whether element i is in row ``i % rows`` instead of row ``i // columns``.
    swizzle
        For a tile that the copy engine fills: the swizzle span in bytes within which it exchanges the pieces of 16
        bytes of a row (0: none). Element numbers are in memory order; see `physical` and `logical`.
    panels
        Whether the shape is (panels, rows of each, columns of each): the panels are drawn beside each other.
    """

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str
    column_major: bool = False
    swizzle: int = 0
    panels: bool = False

    def physical(self, elements: Column) -> Column:
        """Return the memory positions of elements that are numbered row by row, as in the tile."""
        if not self.swizzle:
            return elements
        at = elements.astype(np.int64) * self.itemsize
        pieces = self.swizzle // 16
        # PTX ISA, "Swizzling Modes": the number of a piece within its row is changed by the number of the row.
        swizzled: Column = (at ^ ((at >> 7) % pieces << 4)) // self.itemsize
        return swizzled

    def logical(self, places: Column) -> Column:
        """Return the elements, numbered row by row as in the tile, at some memory positions: undo `physical`."""
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

        More dimensions, or a single one, are folded into rows and columns: see `grid`.
        """
        rows, columns = self.grid
        elements = elements.astype(np.int64)
        if self.column_major:
            return elements % rows, elements // rows
        if self.panels:
            _, depth, width = self.shape
            line = elements // width
            return line % depth, line // depth * width + elements % width
        return elements // columns, elements % columns

    def element(self, row: _Place, column: _Place) -> _Place:
        """Return the positions in memory of the elements in some rows and columns: undo `cells`."""
        rows, columns = self.grid
        place: _Place = column * rows + row if self.column_major else row * columns + column
        if self.panels:
            _, depth, width = self.shape
            place = (column // width * depth + row) * width + column % width
        return place

    def drawn(self, values: Column) -> Column:
        """Return a value for each element, given in memory order, as it is drawn: (rows, columns)."""
        rows, columns = self.grid
        if self.column_major:
            return values.reshape(columns, rows).T
        if self.panels:
            return values.reshape(self.shape).swapaxes(0, 1).reshape(rows, columns)
        return values.reshape(rows, columns)

    @cached_property
    def grid(self) -> tuple[int, int]:
        """(rows, columns) in which the array is drawn.

        Panels are drawn beside each other. Dynamic shared memory has a single dimension: it is folded into rows of 32
        elements, one per bank for 4-byte elements, if its size is a multiple of 32. Another shared array with more than
        two dimensions is divided where the picture is nearest to a square: of 64 x 16 vectors of four numbers, each row
        has the 64 numbers of 16 vectors.
        """
        columns = self.shape[-1]
        if self.panels:
            return self.shape[1], self.shape[0] * columns
        if self.space == "shared":
            sides = [side for side in self.shape if side > 1]
            if len(sides) <= 1 and self.size % _BANKS == 0:
                columns = _BANKS
            elif len(sides) > 2:
                columns = min((prod(sides[at:]) for at in range(len(sides) - 1, 0, -1)), key=self._stretch)
        return self.size // columns, columns

    def _stretch(self, columns: int) -> float:
        """Return how often the longer side of a picture with so many columns has the shorter one."""
        rows = self.size // columns
        return max(rows, columns) / min(rows, columns)


@dataclass(frozen=True)
class Site:
    """One memory instruction of the kernel.

    Attributes
    ----------
    line, column
        Its place in the source, from 1; 0: unknown.
    atomic
        Whether it is an atomic operation.
    product
        Whether it is a ``wgmma``, whose operands the tensor cores read from shared memory.
    elsewhere
        Whether it accesses A in the memory of another GPU. An instruction that accesses both memories is two sites.
    remote
        Whether it accesses the shared memory of another block of the cluster.
    """

    line: int
    column: int
    atomic: bool = False
    product: bool = False
    elsewhere: bool = False
    remote: bool = False


@dataclass(frozen=True)
class Accesses:
    """The columns of a recording; row i of all of them is one access of one thread.

    Rows are sorted as in the recorder's run: by block, phase and thread.

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
        uint16, the number of barriers that the thread had passed.
    turn
        uint16, the number of calls of ``__syncwarp`` that the thread had passed in the phase.
    more
        uint32, not a column: the second and later elements of accesses to several elements, in the order of the rows:
        as float32, one in a word; elements of 1 and 2 bytes as they are in memory, from a new word on for each access.
        See `Recording.covered`.
    copies
        int64 (n, 3), not a column: the asynchronous copies (``cp.async``) that arrived. Each has the row that writes
        the copy, the row that reads it (-1: nothing is read, the copy is all zeros), and the phase in which it was
        issued. The write is recorded at the wait of its thread; from its issue on, the destination counts as being
        written. A box of the copy engine consists of many copies: its pieces of 16 bytes.
    boxes, events
        int64 and int32, not columns: a row per box of the copy engine, and per event of an mbarrier. See
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
    more: Column = field(default_factory=lambda: np.zeros(0, np.uint32))
    copies: Column = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    boxes: Column = field(default_factory=lambda: np.zeros((0, len(fields(Boxes))), np.int64))
    events: Column = field(default_factory=lambda: np.zeros((0, len(fields(Events))), np.int32))

    def __len__(self) -> int:
        return len(self.site)


def further_words(arrays: Sequence[Array], array: Column, spans: Column) -> Column:
    """Return how many words of `Accesses.more` the further elements of each access take, int64.

    Parameters
    ----------
    arrays
        The arrays of the recording.
    array, spans
        For each access the number of its array, and the number of its elements.
    """
    itemsize = np.array([a.itemsize for a in arrays], np.int64)
    # Twice as many halves as words, four times as many bytes.
    in_word = np.where(itemsize <= SMALL_BYTES, WORD_BYTES // itemsize, 1)[array]
    words: Column = -(-(spans.astype(np.int64) - 1) // in_word)
    return words
