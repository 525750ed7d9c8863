"""The batch of a launch: its entries, and their places in memory. Each entry has a block along z of the grid."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.batch import BatchForm
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Matrix, Problem
from gemmviz.language import tr
from gemmviz.language.numbers import thousands


@dataclass(frozen=True)
class Batch:
    """The batch of a launch.

    Attributes
    ----------
    count
        The number of entries.
    strides
        By matrix ``"A"``, ``"B"``, ``"C"``: the elements from the beginning of one entry to that of the next.
        0: all entries share the matrix.
    entry
        The entry that is recorded, from 0.
    """

    count: int
    strides: Mapping[str, int]
    entry: int = 0

    def elements(self, matrix: str, size: int) -> int:
        """Return the number of elements from the beginning of a matrix's first entry to the end of its last."""
        return (self.count - 1) * self.strides[matrix] + size


def filled_in(form: BatchForm, problem: Problem, names: Mapping[str, int], blocks_z: int) -> Batch:
    """Return the batch of a launch.

    Parameters
    ----------
    form
        From the front matter.
    problem
        The size of each entry.
    names
        The values of sizes and parameters.
    blocks_z
        Blocks of the grid along z.

    Raises
    ------
    ConstraintError
        When the grid has not a block along z for each entry, or entries overlap.
    """
    count = form.count.integer(dict(names))
    if count < 1:
        raise ConstraintError(tr("batch comes out as {count}; it must be at least 1", count=count))
    if blocks_z != count:
        reason = tr(
            "a batch of {count} entries needs {count} blocks along z of the grid, not {found}",
            found=blocks_z,
            count=count,
        )
        raise ConstraintError(reason)
    strides = {}
    for matrix in MATRICES:
        rows, columns = problem.shape(matrix)
        stated = form.strides.get(matrix)
        strides[matrix] = stride = rows * columns if stated is None else stated.integer(dict(names))
        if stride < rows * columns and (stride or matrix == "C"):
            reason = tr(
                "the entries of {matrix} are {stride} elements apart and have {size}: they overlap",
                matrix=matrix,
                stride=thousands(stride),
                size=thousands(rows * columns),
            )
            raise ConstraintError(reason)
    return Batch(count, strides)


def entries(batch: Batch | None, matrix: str, size: int) -> Iterator[tuple[int, slice]]:
    """Yield each entry of a matrix, from 0, and its place in memory in elements; a shared matrix has one entry.

    Parameters
    ----------
    batch
        Of the launch; None for a single product.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    size
        Its elements.
    """
    stride = batch.strides[matrix] if batch else 0
    for entry in range(batch.count if batch and stride else 1):
        yield entry, slice(entry * stride, entry * stride + size)


def turned(batch: Batch | None, matrix: str, values: Matrix, entry: int, *, keep_columns: bool = False) -> Matrix:
    """Return the values of an entry from those of entry 0: other numbers, whose product is known from that of entry 0.

    Entry e has the rows of A moved down by e, and the columns of B moved right by e, so that C is moved both ways: a
    kernel that takes a matrix of another entry gets another C.

    Parameters
    ----------
    batch
        Of the launch. A matrix that entries share is moved in none.
    matrix
        ``"A"``, ``"B"`` or ``"C"``.
    values
        Two-dimensional. With a negative `entry` the way is back.
    entry
        The number of the entry.
    keep_columns
        Whether columns stay, as with a bias, which has a number for each.
    """
    if batch is None or not entry:
        return values
    rows = entry if matrix != "B" and batch.strides["A"] else 0
    columns = entry if matrix != "A" and batch.strides["B"] and not keep_columns else 0
    return np.roll(values, (rows, columns), (0, 1))
