"""How an array in shared memory is laid out as a picture."""

import numpy as np
import pytest

from gemmviz.trace.recording.accesses import Array


@pytest.mark.parametrize(
    ("shape", "grid"),
    [
        ((16, 17), (16, 17)),
        ((1024,), (32, 32)),
        ((40,), (1, 40)),
        # One row with all its numbers was a line that nobody could read.
        ((1, 256), (8, 32)),
        # Vectors of four numbers: each row had one vector, and the picture was 256 times as high as wide.
        ((64, 16, 4), (64, 64)),
        ((2, 32, 8, 4), (64, 32)),
        # Stages of a pipeline stay below each other.
        ((3, 8, 132), (24, 132)),
        ((2, 64, 64), (128, 64)),
    ],
)
def test_a_shared_array_is_drawn_in_rows_and_columns(shape, grid):
    assert Array("tile", "shared", shape, "float32").grid == grid


def test_a_matrix_with_one_row_keeps_it():
    assert Array("A", "global", (1, 256), "float32").grid == (1, 256)


def test_packed_panels_stand_beside_each_other_as_their_rows_are_in_memory():
    """Each panel was one line of the picture."""
    panels = Array("Ap", "shared", (4, 2, 3), "float32", panels=True)
    assert panels.grid == (2, 12)
    assert panels.drawn(np.arange(24)).tolist() == [
        [0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20],
        [3, 4, 5, 9, 10, 11, 15, 16, 17, 21, 22, 23],
    ]


@pytest.mark.parametrize(
    "array",
    [
        Array("A", "global", (3, 5), "float32"),
        Array("A", "global", (3, 5), "float32", column_major=True),
        Array("tile", "shared", (2, 32, 8, 4), "float32"),
        Array("Ap", "shared", (4, 7, 3), "float32", panels=True),
    ],
    ids=["by rows", "by columns", "vectors", "panels"],
)
def test_a_cell_and_its_element_lead_to_each_other(array):
    every = np.arange(array.size)
    row, column = array.cells(every)
    assert (array.element(row, column) == every).all()
    assert all(array.element(int(i), int(j)) == at for at, (i, j) in enumerate(zip(row, column, strict=True)))
    assert (array.drawn(every)[row, column] == every).all()
