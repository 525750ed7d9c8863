# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Which shared arrays have several stages, of which the picture shows one at a time."""

import pytest
from window_driving import need_qt

need_qt()

from demo_recordings import at_demo
from PySide6.QtCore import QRectF

from gemmviz.trace.recording.accesses import Array
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.borders import Borders
from gemmviz.ui.stage.scene import Panel, shared_title, stages


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


def test_panels_have_lines_between_them_and_their_number_in_the_title():
    recording = at_demo("packed").recording
    (a,) = (at for at, array in enumerate(recording.arrays) if array.name == "Ap")
    count, rows, columns = recording.arrays[a].shape
    assert count == 2 and stages(recording.arrays[a]) == 1
    assert shared_title(recording, a) == f"Ap  2 panels of {rows} × {columns}"
    panel = Panel(a, "Ap", rows, count * columns, 0, 0, 1)
    ((_, lines),) = Borders(recording, THEMES["light"])._of(panel, QRectF(0, 0, 100, 100))
    assert [(line.x1(), line.y1(), line.x2(), line.y2()) for line in lines] == [(columns, 0, columns, rows)]
