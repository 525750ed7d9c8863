"""Tensor maps: the boxes of a matrix that the copy engine of a GPU (TMA) moves, as declared in the front matter.

The limits are those of ``cuTensorMapEncodeTiled`` (CUDA Driver API, "Tensor Map Object Management").
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

import gemmviz.catalogue.dtypes  # noqa: F401 (makes NumPy know bfloat16)
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.catalogue.user_file import quoted
from gemmviz.language import mark, tr

SWIZZLES = (0, 32, 64, 128)
UNIT_BYTES = 16
"""Rows of a matrix, and of a box, are a multiple of this."""
LONGEST_SIDE = 256
"""Elements of a box along one side."""
SUFFIX = ".map"
PANEL_BYTES = 128
"""The width of a panel without a swizzle."""
_KNOWN_SWIZZLES = ", ".join(map(str, SWIZZLES))
_EXAMPLE = 'maps = { A = { box = ["BM", "BK"], swizzle = 128 } }'


@dataclass(frozen=True)
class Box:
    """A box as it is declared: rows and columns of the matrix as it is stored, and the swizzle in bytes ("0": none).

    Of a matrix that is stored by columns, a row as it is stored is a column. `rank`: dimensions of the tensor that the
    kernel names coordinates of; with more than two the matrix is one of panels (`TensorMap.panel`).
    """

    rows: Expression
    columns: Expression
    swizzle: Expression
    rank: int = 2


@dataclass(frozen=True)
class TensorMap:
    """A box with its sizes filled in.

    Attributes
    ----------
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    rows, columns
        Of the box, in elements of the matrix as it is stored.
    swizzle
        Over how many bytes the 16-byte pieces of a row are dealt in shared memory: 0, 32, 64 or 128.
    rank
        Dimensions of the tensor: 2, or more where the matrix is one of panels.
    """

    matrix: str
    rows: int
    columns: int
    swizzle: int
    rank: int = 2

    def panel(self, dtype: str) -> int:
        """Return the columns of a panel: as many as the swizzle's bytes hold, or 128 bytes without one.

        A tensor of more than two dimensions has the columns within a panel, the rows, the panels, and 1 of all else; a
        box has its panels one behind the other.
        """
        return (self.swizzle or PANEL_BYTES) // np.dtype(dtype).itemsize


class _BoxTable(msgspec.Struct, forbid_unknown_fields=True):
    box: tuple[str | int, str | int]
    swizzle: str | Literal[0, 32, 64, 128] = 0
    rank: Literal[2, 3, 4, 5] = 2


def read_tensor_maps(value: object, matrices: tuple[str, ...]) -> dict[str, Box]:
    """Return the boxes that the key ``maps`` of a front matter declares, by matrix.

    Parameters
    ----------
    value
        The value of the key.
    matrices
        The names of the matrices.

    Raises
    ------
    FrontMatterError
        When it does not declare boxes.
    """
    try:
        boxes = read_as(value, dict[str, _BoxTable])
    except Misfit as misfit:
        matrix, _, key = misfit.place.partition(".")
        if key.startswith("box") and not misfit.lacking:
            text = tr("{place}: box must hold two expressions, rows and columns", place=f"maps.{matrix}")
            raise FrontMatterError(text, about="maps") from None
        if key == "swizzle":
            text = tr(
                "{place}: swizzle must be one of {known} (bytes), not {value}",
                place=f"maps.{matrix}",
                known=_KNOWN_SWIZZLES,
                value=quoted(misfit.value),
            )
            raise FrontMatterError(text, about="maps") from None
        if key == "rank":
            text = tr(
                "{place}: rank must be 2, 3, 4 or 5 (dimensions), not {value}",
                place=f"maps.{matrix}",
                value=quoted(misfit.value),
            )
            raise FrontMatterError(text, about="maps") from None
        text = tr("maps must give a box of each matrix that is mapped, as in {example}", example=_EXAMPLE)
        raise FrontMatterError(text, about="maps") from None
    for matrix in boxes:
        if matrix not in matrices:
            text = tr("maps names {matrix}; known are {known}", matrix=repr(matrix), known=", ".join(matrices))
            raise FrontMatterError(text, about="maps")
    found = {}
    for matrix, declared in boxes.items():
        rows, columns, swizzle = (Expression(str(text)) for text in (*declared.box, declared.swizzle))
        found[matrix] = Box(rows, columns, swizzle, declared.rank)
    return found


def fill_in(matrix: str, box: Box, dtype: str, names: Mapping[str, int]) -> TensorMap:
    """Return a declared box with its sizes filled in.

    Parameters
    ----------
    matrix, box
        The matrix and the declared box.
    dtype
        NumPy name of the matrix's element type.
    names
        The values of sizes and parameters.

    Raises
    ------
    ConstraintError
        When the copy engine takes no such box.
    """
    rows, columns, swizzle = (part.integer(names) for part in (box.rows, box.columns, box.swizzle))
    for number, part, text in (
        (rows, box.rows, mark("the box of {matrix} has no rows: {expression} is {number}")),
        (columns, box.columns, mark("the box of {matrix} has no columns: {expression} is {number}")),
    ):
        if number < 1:
            raise ConstraintError(tr(text, matrix=matrix, expression=part.text, number=number))
    row_bytes = columns * np.dtype(dtype).itemsize
    size = tr("the box of {matrix} has {rows} x {columns} elements", matrix=matrix, rows=rows, columns=columns)
    if max(rows, columns) > LONGEST_SIDE:
        why = tr("a side may have 1 to {most} of them", most=LONGEST_SIDE)
    elif row_bytes % UNIT_BYTES:
        why = tr("its rows have {bytes} bytes, which is no multiple of {unit}", bytes=row_bytes, unit=UNIT_BYTES)
    elif swizzle not in SWIZZLES:
        why = tr("its swizzle is {bytes} bytes; there are {known}", bytes=swizzle, known=_KNOWN_SWIZZLES)
    elif box.rank > 2 and swizzle in SWIZZLES and row_bytes % (swizzle or PANEL_BYTES):
        why = tr(
            "its rows have {bytes} bytes, and panels of them {panel}", bytes=row_bytes, panel=swizzle or PANEL_BYTES
        )
    elif swizzle and row_bytes > swizzle and box.rank == 2:
        why = tr("its rows have {bytes} bytes, more than the swizzle's {most}", bytes=row_bytes, most=swizzle)
    else:
        return TensorMap(matrix, rows, columns, swizzle, box.rank)
    raise ConstraintError(f"{size}; {why}")
