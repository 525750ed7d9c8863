"""The layouts of the matrices with which the wrong C of a recording would be right.

A wrong guess often has the right launch and only another layout: for example, the kernel reads B by columns, and B is
stored by rows. The same recording then shows the right layout: its matrices are read from memory in each other layout.
If C is then the product of A and B, no further launch has to be recorded. A kernel for fixed sizes does not write the
rest of C: then the first rows and columns are a product, perhaps of fewer terms.
"""

import itertools
from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.guessing.verdict import Reading
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.trace.recording.recording import Recording

_Matrix = npt.NDArray[np.float64]
_Equal = npt.NDArray[np.bool_]
_SHAPES = {"A": "mk", "B": "kn", "C": "mn"}
# Fewer elements of C may be right by chance.
_LEAST_PART = 16
_DEPTHS = (4, 8, 16, 32, 64)


def readings(recording: Recording, column_major: Collection[str]) -> tuple[Reading, ...]:
    """Return the ways to read the matrices of a recording with which its C is right.

    Parameters
    ----------
    recording
        Of a kernel that adds nothing to C and has no epilogue; its C is wrong.
    column_major
        The matrices that are stored by columns, as the launch was described.

    Returns
    -------
    tuple
        Those with A and B as they are come first. A and B can only be exchanged if they have as many elements. Only
        where none is right for all of C, those are returned that are right for its first rows and columns.
    """
    flat = {
        name: _flat(matrix, name in column_major) for name, matrix in zip(MATRICES, _matrices(recording), strict=True)
    }
    return tuple(_right(recording, flat)) or tuple(_right_in_part(recording, flat))


def _matrices(recording: Recording) -> tuple[_Matrix, _Matrix, _Matrix]:
    return recording.a, recording.b, recording.c


def _flat(matrix: _Matrix, by_columns: bool) -> _Matrix:
    return np.ascontiguousarray(matrix.T if by_columns else matrix).reshape(-1)


def _ways(recording: Recording, flat: dict[str, _Matrix]) -> Iterator[tuple[Reading, dict[str, _Matrix]]]:
    """Yield each way to read the matrices, and the matrices so read."""
    sides = {"m": recording.m, "n": recording.n, "k": recording.k}
    for exchanged, *by_columns in itertools.product((False, True), repeat=4):
        first, second = ("B", "A") if exchanged else ("A", "B")
        if flat[first].size != recording.m * recording.k or flat[second].size != recording.k * recording.n:
            continue
        matrices = {"A": flat[first], "B": flat[second], "C": flat["C"]}
        read = {
            name: _read(matrices[name], sides[_SHAPES[name][0]], sides[_SHAPES[name][1]], by)
            for name, by in zip(MATRICES, by_columns, strict=True)
        }
        yield Reading(frozenset(name for name, by in zip(MATRICES, by_columns, strict=True) if by), exchanged), read


def _right(recording: Recording, flat: dict[str, _Matrix]) -> Iterator[Reading]:
    for way, read in _ways(recording, flat):
        product = read["A"] @ read["B"]
        if np.array_equal(read["C"], product):
            yield way
        elif np.array_equal(read["C"], np.maximum(product, 0)):
            yield Reading(way.column_major, way.exchanged, epilogue="relu")


def _right_in_part(recording: Recording, flat: dict[str, _Matrix]) -> Iterator[Reading]:
    depths = [recording.k, *(depth for depth in _DEPTHS if depth < recording.k)]
    for way, read in _ways(recording, flat):
        for depth in depths:
            rows, columns = _first(read["C"] == read["A"][:, :depth] @ read["B"][:depth])
            if rows > 1 and columns > 1 and rows * columns >= _LEAST_PART:
                sizes = (rows % recording.m, columns % recording.n, depth % recording.k)
                yield Reading(way.column_major, way.exchanged, *sizes)


def _first(equal: _Equal) -> tuple[int, int]:
    """Return how many of the first rows and columns are equal in all elements; zeros where the first element is not."""
    rows = int(np.argmin(np.append(equal[:, 0], False)))
    columns = int(np.argmin(np.append(equal[0], False)))
    return (rows, columns) if rows and columns and equal[:rows, :columns].all() else (0, 0)


def _read(flat: _Matrix, rows: int, columns: int, by_columns: bool) -> _Matrix:
    return flat.reshape(columns, rows).T if by_columns else flat.reshape(rows, columns)
