"""The names of blocks and cells for people: block (1, 0), cell C[3, 4]."""

from collections.abc import Sequence

import numpy as np

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.recording.recording import WARP, Recording

CellName = tuple[str, int, int]
"""An array's name, row and column, both from 0."""


def block_number(recording: Recording, index: Sequence[int]) -> int:
    """Return the linear number of a block given by blockIdx: x, y and z; trailing zeros may be omitted.

    Raises
    ------
    ConstraintError
        When the grid has no such block.
    """
    x, y, z = [*index, 0, 0, 0][:3]
    if len(index) > 3 or not all(0 <= at < side for at, side in zip((x, y, z), recording.grid, strict=True)):
        named = ", ".join(map(str, index))
        raise ConstraintError(
            f"there is no block ({named}): the grid has {' x '.join(map(str, recording.grid))} blocks"
        )
    return x + recording.grid[0] * (y + recording.grid[1] * z)


def warp_number(recording: Recording, warp: int) -> int:
    """Return the number of a warp of a block after checking that it exists.

    Raises
    ------
    ConstraintError
        When the blocks have no such warp.
    """
    warps = -(-recording.threads // WARP)
    if not 0 <= warp < warps:
        raise ConstraintError(tr("there is no warp {warp}: a block has {warps}, from 0", warp=warp, warps=warps))
    return warp


def owner_block(recording: Recording, cell: tuple[int, int] | None) -> int:
    """Return the number of the block that wrote an element of C last; 0 for any other cell, or if none did."""
    if cell is None or cell[0] != C:
        return 0
    row, column = (int(v[0]) for v in recording.arrays[C].cells(np.array([cell[1]])))
    return max(int(recording.owners[0][row, column]), 0)


def cell_number(recording: Recording, name: CellName) -> tuple[int, int]:
    """Return a cell as (array, element in memory order).

    Raises
    ------
    ConstraintError
        When the recording has no such array or cell.
    """
    array, row, column = name
    names = [info.name for info in recording.arrays]
    if array not in names:
        known = ", ".join(names)
        raise ConstraintError(
            tr("there is no array {array}; the recording has {known}", array=repr(array), known=known)
        )
    info = recording.arrays[names.index(array)]
    rows, columns = info.grid
    if not (0 <= row < rows and 0 <= column < columns):
        cell, size = f"{array}[{row}, {column}]", f"{rows} x {columns}"
        raise ConstraintError(
            tr("there is no cell {cell}: {array} has {size}, from 0", cell=cell, array=array, size=size)
        )
    return names.index(array), info.element(row, column)


def cell_name(recording: Recording, cell: tuple[int, int]) -> CellName:
    """Return the name of a cell (array, element in memory order)."""
    info = recording.arrays[cell[0]]
    row, column = info.cells(np.array([cell[1]]))
    return info.name, int(row[0]), int(column[0])
