"""The elements of C that a thread owns: according to its recorded writes, and on the stage under the pointer."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QColor
from recordings import rung

from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import DARK
from gemmviz.ui.stage.ownership import owned


def last_writers(recording):
    """Return the (block, thread) of the last recorded write to each element of C."""
    log, found = recording.accesses, {}
    rows = np.flatnonzero((log.array == C) & log.write)
    spread, elements = recording.elements(rows)
    for row, element in zip(rows[spread].tolist() if len(spread) else [], elements.tolist(), strict=True):
        found[element] = int(log.block[row]), int(log.thread[row])
    return found


@pytest.mark.parametrize("name", ["gpumult0", "gputiled_more_work", "narrow_tiles", "vectorised", "hostmult1"])
def test_a_thread_owns_the_elements_that_it_wrote(name):
    recording = rung(name, Problem(17, 20, 9))
    timeline = build(recording)
    playable = Playable(recording, timeline, measure(recording, timeline))
    writers = last_writers(recording)
    m, n = recording.m, recording.n
    for row, column in ((0, 0), (3, 5), (m - 1, n - 1)):
        mine = writers[row * n + column]
        of_thread, of_warp = owned(playable, row, column)
        assert set(np.flatnonzero(of_thread).tolist()) == {e for e, who in writers.items() if who == mine}
        if recording.backend == "cuda":
            warp = {e for e, (b, t) in writers.items() if b == mine[0] and t // WARP == mine[1] // WARP}
            assert set(np.flatnonzero(of_warp).tolist()) == warp


def test_the_pointer_on_an_element_shows_all_elements_of_its_thread(window, qtbot):
    stage = window.stage
    panel = stage.panels()[C]
    inside = QPointF(panel.x + 2.5 * panel.cell, panel.y + 1.5 * panel.cell)
    edge = QPointF(panel.x + 2 * panel.cell, panel.y + 1.5 * panel.cell).toPoint()
    before = stage.grab().toImage()
    qtbot.mouseMove(stage, QPoint(2, 2))
    qtbot.mouseMove(stage, inside.toPoint())
    qtbot.waitUntil(lambda: stage.moment().hovered == 1 * panel.columns + 2)
    shown = stage.grab().toImage()
    assert shown.pixelColor(edge) == QColor(DARK.selection) != before.pixelColor(edge)
    stage.leaveEvent(None)
    assert stage.moment().hovered is None and stage.grab().toImage() == before


def test_a_chosen_element_shows_the_index_formulas_of_its_thread(window, qtbot):
    stage = window.stage
    window.session.cursor.pick((C, 2 * 8 + 1), 0)
    said = stage._painter_now()._sentences.at(stage.moment())
    assert said.lead.startswith("C[2, 1] of block (0, 0)")
    size = window.session.cursor.playable.recording.params["TS"]
    assert [lines[0] for lines in said.formulas] == [
        f"row = blockIdx.y × TS + threadIdx.y = 0 × {size} + 2 = 2",
        f"col = blockIdx.x × TS + threadIdx.x = 0 × {size} + 1 = 1",
    ]
