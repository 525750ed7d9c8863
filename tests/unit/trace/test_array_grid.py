"""How an array in shared memory is laid out as a picture."""

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
