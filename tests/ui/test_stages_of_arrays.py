# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Which shared arrays have several stages, of which the picture shows one at a time."""

import pytest
from window_driving import need_qt

need_qt()

from gemmviz.trace.recording.accesses import Array
from gemmviz.ui.stage.scene import stages


@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ((3, 8, 132), 3),
        ((2, 32, 8, 4), 2),
        ((64, 64), 1),
        # A tile of vectors of four numbers: its first row was taken for a stage, and the picture was a line.
        ((64, 16, 4), 1),
    ],
)
def test_a_row_of_vectors_is_no_stage(shape, parts):
    assert stages(Array("tile", "shared", shape, "float32")) == parts
