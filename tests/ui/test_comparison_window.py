# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Two rungs side by side in the real window, with the real engines."""

import gc
import weakref
from dataclasses import replace

import pytest
from window_driving import RECORDING_MS, need_qt

need_qt()

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import Failed
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.ui.panels.kernel_chooser import Chooser

D = Qt.Key.Key_D


@pytest.fixture
def comparison(window, qtbot):
    """The window's duel, in step: gputiled and its variant without the second barrier."""
    comparison = window.session.comparison
    window.session.side_by_side.start_named("gputiled~no-second-barrier")
    qtbot.waitUntil(lambda: comparison.match is not None, timeout=RECORDING_MS)
    return comparison


def test_one_key_shows_a_second_rung_and_removes_it(window, qtbot):
    session, comparison = window.session, window.session.comparison
    first, size = session.cursor.playable, session.choice.problem
    shares, panel = window.columns.sizes(), window.inspector.panel
    qtbot.keyClick(window.stage, D)
    qtbot.waitUntil(lambda: comparison.match is not None, timeout=RECORDING_MS)
    assert session.cursor.playable is first
    assert window.arena.second.isVisible() and window.arena.figures.isVisible()
    assert window.inspector.panel == "duel" and not window.source.isVisible()
    assert abs(window.stage.height() - window.arena.second.height()) <= 1
    assert abs(window.stage.width() - window.arena.second.width()) <= 4
    qtbot.keyClick(window.stage, Qt.Key.Key_End)
    assert session.comparison.finished(session.cursor.step, window.session.second.cursor.step)
    assert window.arena.figures.sentence.text()
    assert [lane.id for lane in window.arena.figures.bars.lanes][:2] == ["bytes", "requests"]
    qtbot.keyClick(window.stage, D)
    assert not window.arena.second.isVisible() and not window.arena.figures.isVisible()
    assert window.inspector.panel == panel and window.source.isVisible()
    assert window.ladder.isVisible()
    assert session.choice.problem == size and session.cursor.playable is first
    qtbot.waitUntil(lambda: window.columns.sizes() == shares)


def test_the_room_that_the_bars_do_not_need_goes_to_the_lines_that_differ(window, comparison):
    figures = window.arena.figures
    figures.resize(480, 1000)
    figures.layout().activate()
    bars = figures.bars
    assert bars.height() <= 2 * 1.6 * bars.fontMetrics().height() * max(len(bars.lanes), 5) + 6
    assert figures.lines.geometry().bottom() > 950 and figures.lines.height() > 400


def test_the_origin_of_the_counters_is_said_once(window, comparison, monkeypatch):
    """It stood below each of five counters."""
    figures, written, draw = window.arena.figures, [], QPainter.drawText

    def seen(painter, *arguments):
        written.append(arguments[-1])
        draw(painter, *arguments)

    monkeypatch.setattr(QPainter, "drawText", seen)
    figures.refresh()
    lanes = figures.bars.lanes
    figures.bars.show_lanes([*lanes, replace(lanes[0], id="gflops", name="speed", origin="measured")], False)
    figures.bars.grab()
    assert figures.tag.text() == "recorded as compiled" and figures.tag.isVisible()
    assert "recorded as compiled" not in written and written.count("measured") == 1
    assert {lane.name for lane in lanes} <= set(written)
    assert figures.bars.accessibleDescription().count("recorded as compiled") == len(lanes)  # for a screen reader
    figures.refresh()


def test_bars_are_long_enough_to_compare_and_the_origin_is_whole_at_any_width(window, comparison):
    """In a window of 1280 x 800 a bar had 20 pixels, as the names stood beside it."""
    figures, places = window.arena.figures, set()
    for width in (340, 376, 480, 900):
        figures.resize(width, 900)
        figures.layout().activate()
        bars = figures.bars
        at = bars._places()
        places.add(at.above)
        assert at.room >= 90 and bars.height() >= bars.minimumSizeHint().height()
        assert at.bars + at.room + at.figure_width + at.ratio_width < width
        assert figures.tag.width() >= figures.tag.sizeHint().width() and figures.tag.geometry().right() < width
        assert figures.tag.toolTip() == "recorded as compiled"
    assert places == {0, 1}


def test_both_stages_show_the_same_lens(window, qtbot, comparison):
    stages = window.stage, window.arena.second
    for name in ("banks", "coalescing"):
        window.session.lens.show(name)
        assert [stage._painter_now().lens.name for stage in stages] == [name, name]
    window.session.lens.show(None)
    assert [stage._painter_now().lens for stage in stages] == [None, None]


def test_the_lens_of_banks_has_a_table_of_lanes_and_banks_of_both_kernels(window, qtbot, comparison):
    lanes = window.arena.figures.lanes
    assert not lanes.isVisible()
    window.session.lens.show("banks")
    assert lanes.isVisible()
    for side, cursor in enumerate((window.session.cursor, window.session.second.cursor)):
        asked = warp_requests(cursor.playable).shown(cursor.playable, cursor.step, 0, cursor.warp, "shared")
        words = dict(zip(asked.access.tolist()[::-1], asked.place.tolist()[::-1], strict=True))
        banks = {int(lane): words[at] % 32 for at, lane in enumerate(asked.lane)}
        assert {row[side][0]: row[side][1] for row in lanes.rows} == banks
    window.session.predict.toggle()
    assert not lanes.isVisible()  # it would show the answer
    window.session.predict.toggle()


def test_the_lines_that_differ_stand_below_the_figures(window, qtbot, comparison):
    """gputiled without its second barrier: one line of it has no counterpart."""
    panel = window.arena.figures.lines
    assert panel.heading.text() == "1 line differs" and panel.isVisible()
    (passage,) = panel.passages
    assert [line.text for line in passage.mine] == ["__syncthreads();"] and not passage.other
    shown = panel.list.toPlainText()
    assert f"line {passage.mine[0].number}" in shown and "__syncthreads();" in shown and "no such line" in shown


def test_the_recording_of_a_removed_rung_is_freed(window, qtbot, comparison):
    recording = weakref.ref(window.session.second.cursor.playable)
    window.session.side_by_side.stop()
    qtbot.waitUntil(lambda: gc.collect() >= 0 and recording() is None)


def test_the_rung_beside_is_found_by_typing(window, qtbot):
    comparison = window.session.comparison
    qtbot.keyClick(window.stage, D, Qt.KeyboardModifier.ControlModifier)
    box = window.findChild(Chooser)
    qtbot.keyClicks(box.box, "gputiled second barrier")
    qtbot.keyClick(box.box, Qt.Key.Key_Down)
    qtbot.keyClick(box.box, Qt.Key.Key_Up)
    qtbot.keyClick(box.box, Qt.Key.Key_Return)
    assert window.session.second.choice.kernel.name == "gputiled~no-second-barrier"
    assert window.session.second.choice.params == window.session.choice.params
    qtbot.keyClick(window.stage, D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert comparison.pace == "bytes" and window.arena.figures.pace.currentData() == "bytes"
    window.arena.figures.pace.setCurrentIndex(0)
    assert comparison.pace == "work"


def test_a_click_on_one_stage_chooses_the_cell_on_both(window, comparison, qtbot):
    beside = window.arena.second
    panel = next(p for p in beside.panels() if p.array == C)
    point = QPoint(round(panel.x + 5.5 * panel.cell), round(panel.y + 2.5 * panel.cell))
    qtbot.mouseClick(beside, Qt.MouseButton.LeftButton, pos=point)
    columns = window.session.cursor.playable.recording.n
    assert window.session.cursor.cell == window.session.second.cursor.cell == (C, 2 * columns + 5)


def test_playing_moves_both(window, comparison, qtbot):
    session = window.session
    qtbot.keyClick(window.stage, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: session.cursor.step > 3 and window.session.second.cursor.step > 3)
    qtbot.keyClick(window.stage, Qt.Key.Key_Space)
    assert window.session.second.cursor.step == comparison.match.step(session.cursor.step)


def test_a_broken_text_on_the_second_stage_does_not_change_the_first(window, qtbot):
    session, comparison = window.session, window.session.comparison
    first = session.cursor.playable
    tiled = find("gputiled", session.choice.kernels)
    text = tiled.text.replace("float sum = 0;", "float sum = nothing;", 1)
    mine = parse(text, tiled.path.with_stem("mine"))
    session.permission.trust.typed(mine.path, tiled.text, text)
    window.session.side_by_side.start(mine)
    qtbot.waitUntil(lambda: window.session.second.messages.current is not None, timeout=RECORDING_MS)
    text = window.session.second.messages.current.text
    assert "nothing" in text and "Ctrl+D" in text
    assert session.cursor.playable is first and session.messages.current is None
    assert comparison.match is None and not window.arena.figures.bars.lanes


class Waits:
    """An engine whose recording lasts until it is cancelled."""

    def run(self, request, cancel):
        assert cancel.wait(RECORDING_MS / 1000)
        yield Failed(request.run, "cancelled", "cancelled")

    def close(self):
        pass


def test_cancelling_ends_the_second_recording_with_a_message(window, qtbot):
    comparison, worker = window.session.comparison, window.controller.engines.second
    worker._engine = Waits()
    window.session.side_by_side.start_named("matmul_kernel_2d_thread_tiling")
    qtbot.waitUntil(lambda: window.session.second.progress["record"] is not None)
    qtbot.keyClick(window.stage, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.session.second.messages.current is not None, timeout=RECORDING_MS)
    assert "cancelled" in window.session.second.messages.current.text
    assert window.session.second.cursor.playable is None and window.session.second.progress["record"] is None
    worker._engine = None  # the next request starts a real one
    qtbot.keyClick(window.stage, D)
    qtbot.keyClick(window.stage, D)
    qtbot.waitUntil(lambda: comparison.match is not None, timeout=RECORDING_MS)


def test_another_size_on_the_left_is_recorded_on_both(window, comparison, qtbot):
    session = window.session
    session.choice.choose(problem=Problem.cube(12))
    window.controller.recording.record()

    def both():
        assert comparison.match is not None
        assert [p.recording.m for p in window.session.side_by_side.pair] == [12, 12]

    qtbot.waitUntil(both, timeout=RECORDING_MS)
