"""Fragments of the tensor cores, lane by lane: the elements of A, B and the sums in each (all of it *recorded*).

A load of a fragment is several requests in a row; which of them belong to one fragment follows from the shape in the
source (``wmma::fragment<..., m, n, k, ...>``). The number of uses of a loaded value is computed: the elements of C that
the warp owns in its row or column, divided by the loads of the value. The multiplying instruction accesses no memory.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.operand_paths import Operands
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, WARPGROUP

_SHAPE = re.compile(
    r"fragment\s*<\s*(?:[\w:]+::)?(?:matrix_a|matrix_b|accumulator)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)"
)
_GROUP_SHAPE = re.compile(r"\bwgmma(?:_|\.mma_async\.sync\.aligned\.)m(\d+)n(\d+)k(\d+)")


@dataclass(frozen=True)
class Fragment:
    """One rectangle of A, B or C that a warp holds in its registers.

    Attributes
    ----------
    matrix
        0, 1, 2 for A, B, C.
    row, column
        Its beginning in the matrix.
    lane
        int64 (rows, columns), the lane that holds each element; -1 if none does.
    slot
        int64 (rows, columns), the index of each element among those of its lane, in the order of the accesses; -1:
        none.
    step, line
        The last step and the line of its load; for sums, of their store.
    products
        The number of products of each value per load; 0 for the sums.
    """

    matrix: int
    row: int
    column: int
    lane: Ints
    slot: Ints
    step: int
    line: int
    products: int


@lru_cache(maxsize=8)  # needed at every step that is shown
def shape_of(text: str) -> tuple[int, int, int] | None:
    """Return the (m, n, k) of the fragments that a source declares; None if it declares none, or several."""
    code = without_comments(text)
    shapes = {tuple(int(size) for size in match.groups()) for match in _SHAPE.finditer(code)}
    # In a product of a warpgroup, each of its four warps has a quarter of the rows.
    shapes |= {(int(m) // 4, int(n), int(k)) for m, n, k in _GROUP_SHAPE.findall(code)}
    if len(shapes) != 1:
        return None
    m, n, k = shapes.pop()
    return m, n, k


def fragments(
    playable: Playable, operands: Operands, block: int, warp: int, step: int, cell: tuple[int, int] | None = None
) -> list[Fragment]:
    """Return the fragments that a warp holds at a step: the last loaded ones of A and B, and its sums.

    Parameters
    ----------
    playable, block, warp
        The recording, the block and the warp.
    operands
        The warp's reads (`Provenance.operands`).
    step
        The step.
    cell
        An element of C: if the warp holds several fragments of a matrix, the fragment for this element is returned;
        without it, the first one.
    """
    recording = playable.recording
    shape = shape_of(recording.text)
    lanes = np.where(
        (recording.owners[0] == block) & (recording.owners[1] // WARP == warp), recording.owners[1] % WARP, -1
    )
    owned = np.stack(np.nonzero(lanes >= 0))
    if not owned.shape[1]:
        return []
    if cell is None or lanes[cell] < 0:
        cell = (int(owned[0].min()), int(owned[1].min()))
    found = []
    # The operands of a wgmma stay in shared memory.
    for matrix in (A, B) if recording.together < WARPGROUP else ():
        loaded = _loaded_last(playable, operands, matrix, step)
        if loaded is None:
            continue
        rows, columns = operands.line[loaded], operands.k[loaded]
        size = (shape[0], shape[2]) if shape else None
        if matrix == B:
            rows, columns = columns, rows
            size = (shape[2], shape[1]) if shape else None
        wanted = (cell[0], int(columns.max())) if matrix == A else (int(rows.max()), cell[1])
        box = _box(rows, columns, wanted, size)
        found.append(_cut(playable, operands, matrix, loaded, rows, columns, box, owned))
    rows, columns = owned
    box = _box(rows, columns, cell, (shape[0], shape[1]) if shape else None)
    found.append(_sums(playable, lanes, box, block, warp))
    return found


def _loaded_last(playable: Playable, operands: Operands, matrix: int, step: int) -> Ints | None:
    """Return the operands of a matrix that the warp read last, without a read of the other matrix in between."""
    when = playable.timeline.step_of_row[operands.use]
    past = np.flatnonzero(when <= step)
    mine = past[operands.matrix[past] == matrix]
    if not len(mine):
        return None
    before = past[(operands.matrix[past] != matrix) & (past < mine[-1])]
    loaded: Ints = mine[mine > (before[-1] if len(before) else -1)]
    return loaded


def _box(rows: Ints, columns: Ints, wanted: tuple[int, int], size: tuple[int, int] | None) -> tuple[int, int, int, int]:
    """Return (row, column, height, width) of the fragment of `size` around a cell; without a size, of all elements."""
    row, column, last_row, last_column = (int(v) for v in (rows.min(), columns.min(), rows.max(), columns.max()))
    if size is None:
        return row, column, last_row - row + 1, last_column - column + 1
    row += max(min(wanted[0], last_row) - row, 0) // size[0] * size[0]
    column += max(min(wanted[1], last_column) - column, 0) // size[1] * size[1]
    return row, column, *size


def _cut(
    playable: Playable,
    operands: Operands,
    matrix: int,
    loaded: Ints,
    rows: Ints,
    columns: Ints,
    box: tuple[int, int, int, int],
    owned: Ints,
) -> Fragment:
    """Return the part of the loaded elements in a box."""
    row, column, height, width = box
    inside = (row <= rows) & (rows < row + height) & (column <= columns) & (columns < column + width)
    loaded, rows, columns = loaded[inside], rows[inside] - row, columns[inside] - column
    lanes = playable.recording.accesses.thread[operands.use[loaded]].astype(np.int64) % WARP
    lane, slot = np.full((2, height, width), -1, np.int64)
    lane[rows, columns], slot[rows, columns] = lanes, _ordinals(lanes)
    last = int(playable.timeline.step_of_row[operands.use[loaded]].max())
    one = loaded[0]
    # Elements of C that the warp owns in the value's row (of A) or column (of B).
    needed = int((owned[matrix] == operands.line[one]).sum())
    loads = int(
        ((operands.matrix == matrix) & (operands.line == operands.line[one]) & (operands.k == operands.k[one])).sum()
    )
    return Fragment(matrix, row, column, lane, slot, last, playable.line(last), needed // max(loads, 1))


def _sums(playable: Playable, lanes: Ints, box: tuple[int, int, int, int], block: int, warp: int) -> Fragment:
    """Return the sums in a box, by the lanes that store them."""
    row, column, height, width = box
    recording, log = playable.recording, playable.recording.accesses
    begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
    if recording.boxes.store.any():  # the copy engine writes C, not the warp
        rows, columns = np.nonzero(lanes >= 0)
        stores = recording.handed_over[rows, columns]
        position = np.arange(len(stores))
    else:
        stores = begin + np.flatnonzero((log.thread[begin:end] // WARP == warp) & log.write[begin:end])
        stores = stores[log.array[stores] == C]
        position, element = recording.elements(stores)
        rows, columns = recording.arrays[C].cells(element)
    inside = (row <= rows) & (rows < row + height) & (column <= columns) & (columns < column + width)
    rows, columns, mine = rows[inside] - row, columns[inside] - column, stores[position[inside]]
    order = np.argsort(mine, kind="stable")
    rows, columns, mine = rows[order], columns[order], mine[order]
    slot = np.full((height, width), -1, np.int64)
    slot[rows, columns] = _ordinals(log.thread[mine].astype(np.int64) % WARP)
    last = int(playable.timeline.step_of_row[mine].max()) if len(mine) else 0
    part = lanes[row : row + height, column : column + width]
    lane = np.full((height, width), -1, np.int64)
    lane[: part.shape[0], : part.shape[1]] = part
    return Fragment(C, row, column, lane, slot, last, playable.line(last), 0)


def _ordinals(lanes: Ints) -> Ints:
    """Return, per access, the number of earlier accesses of the same lane."""
    order = np.argsort(lanes, kind="stable")
    heads = np.searchsorted(lanes[order], lanes[order])
    numbers = np.empty(len(lanes), np.int64)
    numbers[order] = np.arange(len(lanes)) - heads
    return numbers
