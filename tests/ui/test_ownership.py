"""The elements of C that a thread owns: according to its recorded writes, and on the stage under the pointer."""

from zlib import crc32

import numpy as np
import pytest
from demo_recordings import at_demo
from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor
from recordings import rung

from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.index_formulas import Formula
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import DARK
from gemmviz.ui.stage.axis_formulas import _wordings, _words
from gemmviz.ui.stage.ownership import owned
from gemmviz.ui.stage.tips import cell_tip

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and not kernel.exhibit]


def last_writers(recording):
    """Return the (block, thread) of the last recorded write to each element of C."""
    log, found = recording.accesses, {}
    rows = np.flatnonzero((log.array == C) & log.write)
    spread, elements = recording.elements(rows)
    for row, element in zip(rows[spread].tolist() if len(spread) else [], elements.tolist(), strict=True):
        found[element] = int(log.block[row]), int(log.thread[row])
    return found


@pytest.mark.sweep("narrow_tiles", "gpumult0", "hostmult1")
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


@pytest.mark.sweep("gputiled", "mma_swizzle", "columns_by_x")
@pytest.mark.parametrize("name", RUNGS)
def test_a_thread_owns_the_elements_that_it_wrote_at_the_demo_of_each_rung(name):
    playable = at_demo(name)
    recording = playable.recording
    writers = last_writers(recording)
    if (recording.handed_over >= 0).any() and set(writers.values()) != owners(recording):
        return  # the copy engine, or other threads, wrote what stood in registers
    random = np.random.default_rng(crc32(name.encode()))
    written = sorted(writers)
    for element in random.choice(written, size=10).tolist():
        of_thread, _ = owned(playable, *divmod(element, recording.n))
        mine, wrote = set(np.flatnonzero(of_thread).tolist()), {e for e, w in writers.items() if w == writers[element]}
        # Warpgroups hold the sums of one tile after the other: a thread owns those of the element's tile.
        assert element in mine and (mine == wrote or (mine < wrote and playable.warpgroups.count))


def owners(recording):
    """Return all (block, thread) that own an element."""
    block, thread = (o.ravel() for o in recording.owners)
    return set(zip(block[block >= 0].tolist(), thread[block >= 0].tolist(), strict=True))


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


def test_the_formulas_of_a_chosen_element_stand_at_its_axes(window):
    stage, recording = window.stage, window.session.cursor.playable.recording
    window.session.cursor.pick((C, 2 * 8 + 1), 0)
    painter, rect = stage._painter_now(), QRectF(stage.rect())
    plan, size = painter.plan(rect, stage.view), recording.params["TS"]
    row, column = (" ".join(text for text, _ in words) for words in painter._axes.texts(2 * 8 + 1))
    assert row == f"row = blockIdx.y × TS + threadIdx.y = 0 × {size} + 2 = 2"
    assert column == f"col = blockIdx.x × TS + threadIdx.x = 0 × {size} + 1 = 1"
    axes = painter._axes.placed(plan, stage.moment(), captioned=True)
    a, b = plan.panels[A], plan.panels[B]
    assert axes.element == (2, 1) and axes.row and axes.column
    assert axes.beside_a.right() < a.x and a.y <= axes.beside_a.top() and axes.beside_a.bottom() <= a.y + a.height
    assert abs(axes.beside_a.center().y() - (a.y + 2.5 * a.cell)) <= axes.beside_a.height() / 2
    assert axes.column[-1][0].right() < b.x and axes.top == axes.column[0][0].top() < plan.words.bottom
    # No entry of the legend is written below the formula, and the pointer shows another element's formulas.
    before = stage.grab().toImage()
    stage._hover(QPointF(plan.panels[C].x + 6.5 * a.cell, plan.panels[C].y + 6.5 * a.cell))
    moved = painter._axes.placed(plan, stage.moment(), captioned=True)
    assert moved.element == (6, 6) and moved.beside_a.top() > axes.beside_a.bottom()
    assert stage.grab().toImage() != before
    stage._hover(None)
    assert stage.grab().toImage() == before


def test_without_a_formula_in_the_source_the_recorded_place_stands_alone():
    assert _words("column", None, 5) == [("column", True), ("= 5", True)]
    formula = Formula("col", "blockIdx.x × 4 + (threadIdx.x + 1)", "1 × 4 + (0 + 1)", 5)
    words = _words("column", formula, 5)
    assert [text for text, _ in words][:4] == ["col", "= blockIdx.x", "× 4", "+ (threadIdx.x"]
    shorter, shortest = (" ".join(text for text, _ in wording) for wording in _wordings(words)[1:])
    assert shorter == "col = 1 × 4 + (0 + 1) = 5" and shortest == "col = 5"


def test_another_block_under_the_pointer_is_framed(window):
    stage = window.stage
    panel = stage.panels()[C]
    window.session.cursor.pick(None, 0)
    before = stage.grab().toImage()
    stage._hover(QPointF(panel.x + 6.5 * panel.cell, panel.y + 6.5 * panel.cell))
    shown = stage.grab().toImage()
    edge = round(panel.y + 8 * panel.cell)
    line = list(range(round(panel.x + 4 * panel.cell), round(panel.x + 8 * panel.cell)))
    assert any(shown.pixelColor(x, edge) != before.pixelColor(x, edge) for x in line)
    stage._hover(None)


def test_a_tip_describes_cells_of_a_b_and_the_tiles_and_none_below_a_lens(window):
    stage = window.stage
    window.session.cursor.seek(0)
    places = [QPointF(panel.x + 1.5 * panel.cell, panel.y + 2.5 * panel.cell) for panel in stage.panels()]
    tips = [stage.tip(place).splitlines() for place in places]
    assert tips[A][0] == "A[2, 1]" and tips[A][-1].startswith("now: block (0, 0), thread (1, 2)")
    assert tips[B][0] == "B[2, 1]" and tips[B][1].startswith("read ")
    assert tips[C] == []  # its owner is shown on the stage
    assert tips[3][0] == "As[2, 1]" and tips[3][1].startswith("bank ")
    tile = stage.panels()[3]
    at = tile.x + 1.5 * tile.cell, tile.y + 2.5 * tile.cell
    playable = window.session.cursor.playable
    assert cell_tip(playable, stage.panels(), stage.moment(), at, QRectF(tile.x, tile.y, 400, 400)) is None
