# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The inspector: the frozen warp, a thread's registers, origins by click, and recorded beside measured counters."""

import gc
import weakref

import numpy as np
import pytest
from demo_recordings import at_demo
from inspector_driving import goto, playable, recorded_anew
from window_driving import need_qt

need_qt()

from pixels import pixel, pixels
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from gemmviz.language import LANGUAGES, set_language, tr
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.ui.inspect.box_view import BoxView
from gemmviz.ui.inspect.inspector import TITLES
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import caption
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.value_path import ValuePaths

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def inspector(make_inspector):
    return make_inspector(576, 210)


def test_all_tabs_of_a_duel_are_seen_in_a_small_window(window):
    window.resize(1280, 800)
    inspector, counted = window.inspector, window.inspector.tabText(window.inspector.count() - 1)
    assert inspector.width() < 400 and counted == "Findings 3"
    for code in LANGUAGES:
        set_language(code)
        for at, title in enumerate(TITLES):
            inspector.setTabText(at, tr(title))
        inspector.add_duel(QWidget(), tr("Duel"))
        assert inspector.tabBar().sizeHint().width() <= inspector.width(), code
        inspector.take_duel()
    set_language("en")
    inspector.add_duel(QWidget(), "Duel")
    inspector.take_duel()
    assert inspector.tabText(inspector.count() - 1) == counted


def test_the_tabs_use_the_width_of_their_column(window, qtbot):
    """At 1920 pixels they stood close together at its left."""
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: window.inspector.width() >= 460)
    bar = window.inspector.tabBar()
    assert bar.tabRect(bar.count() - 1).right() >= window.inspector.width() - 12


def test_keys_freeze_the_warp_and_step_by_its_requests(window, qtbot):
    session, inspector = window.session, window.inspector
    session.playback.play()
    qtbot.keyClick(window, Qt.Key.Key_W)
    assert session.frozen_warp.on and not session.playback.playing
    assert inspector.panel == "warp"
    assert inspector.warp.head.text().startswith("Warp 0 of block (0, 0) reads A: line ")
    begins = session.cursor.stations("request")
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert session.cursor.step in begins
    assert f"step {session.cursor.step + 1}" in inspector.warp.head.text()
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert session.playback.playing and not session.frozen_warp.on
    session.playback.pause()
    for name in ("thread", "origin", "counters"):
        qtbot.keyClick(window, Qt.Key.Key_I)
        assert inspector.panel == name
    session.inspection.turn_to("origin")
    assert inspector.panel == "origin"
    # The table by keys alone: choose an element, walk through its origins, go to one.
    qtbot.keyClick(window, Qt.Key.Key_X)
    qtbot.keyClick(window, Qt.Key.Key_5, CTRL)
    table = inspector.origin.table
    assert QApplication.focusWidget() is table
    step = session.cursor.step
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(table, key)
    assert session.cursor.step == step, "arrows belong to the table"
    model, at = table.model(), table.currentIndex()
    assert session.inspection.hop == model.hop(at.row())
    assert table.accessibleDescription().startswith(f"{model.index(at.row(), 1).data()}: read at step ")
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert session.cursor.step == model.step(at.row(), at.column())
    assert model.index(at.row(), 0).data().startswith("▶")


def test_the_warp_tab_shows_the_cost_of_a_request(inspector):
    session = inspector.session
    inspector.show_panel("warp")
    assert "Record a kernel" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    text = inspector.warp.cost.text()
    assert text.startswith("32 lanes, 128 bytes asked for, 32 sectors = 1\N{NARROW NO-BREAK SPACE}024 bytes moved")
    goto(session, "As")
    assert "32-way bank conflict: 32 wavefronts" in inspector.warp.cost.text()
    goto(session, "Bs")
    assert "no bank conflict: 1 wavefront" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 8, TS=4))
    assert "16 lanes, 64 bytes" in inspector.warp.cost.text()
    assert "only 16 threads in this block, so half the warp is empty" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 9, TS=3))
    assert "only 9 threads in this block, so 23 of 32 lanes are empty" in inspector.warp.cost.text()
    session.cursor.show(playable("gputiled", 14, TS=7))
    session.cursor.choose_warp(1)
    assert "the block has 49 threads, so 15 lanes of its last warp are empty" in inspector.warp.cost.text()
    session.cursor.show(playable("hostmult1", 4))
    assert "A CPU has no warps" in inspector.warp.cost.text()
    assert not inspector.warp.frozen.isEnabled()


def test_the_warp_tab_has_the_bank_or_sector_of_each_lane(inspector, qtbot):
    session, warp = inspector.session, inspector.warp
    inspector.show_panel("warp")
    assert not warp.lanes.isVisible()
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    rows = [[warp.lanes.item(row, column).text() for column in range(5)] for row in range(32)]
    assert rows[0] == ["0", "(0, 0)", "[0, 0]", "0", "0"]
    assert rows[3] == ["3", "(3, 0)", "[3, 0]", "384", "12"]  # 3 rows of 32 floats
    assert warp.figure.text() == "32 sectors" and warp.formula.text().startswith("sector = byte ÷ 32")
    goto(session, "As")  # a column: each word lies in bank 0, and waits for its own wavefront
    rows = [[warp.lanes.item(row, column).text() for column in range(5)] for row in range(32)]
    assert [row[3] for row in rows] == ["0"] * 32
    assert [row[4] for row in rows] == [str(wavefront) for wavefront in range(1, 33)]
    assert warp.figure.text() == "32 wavefronts" and warp.formula.text() == "bank = (32 × row + column) mod 32"
    assert warp.lanes.horizontalHeaderItem(2).text() == "As"
    warp.lanes.setCurrentCell(5, 0)
    assert session.inspection.lane == 5
    session.inspection.choose_lane(9)
    assert warp.lanes.currentRow() == 9
    session.predict.toggle()
    assert not warp.lanes.isVisible() or session.warp_steps.request().step <= session.cursor.step


def test_a_click_on_a_lane_chooses_it(inspector, qtbot):
    session = inspector.session
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    inspector.show_panel("warp")
    view = inspector.warp.view
    grid = view._grid()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=grid.box(7, 2, 10).center().toPoint())
    assert session.inspection.lane == 7
    inspector.show_panel("thread")
    assert "thread (7, 0), warp 0" in inspector.by_thread.head.text() and inspector.by_thread.lane.value() == 7
    inspector.by_thread.lane.setValue(3)
    assert session.inspection.lane == 3


def test_the_next_request_is_hidden_while_it_is_predicted(inspector):
    session = inspector.session
    recording = playable("gputiled", 8, TS=4).recording
    timeline = build(recording, "block")
    session.cursor.show(Playable(recording, timeline, measure(recording, timeline)).prepare())
    inspector.show_panel("warp")
    session.cursor.pick((2, 7), 1)
    assert "next request" in inspector.warp.cost.text()
    session.predict.toggle()
    inspector.warp.refresh()
    assert inspector.warp.head.text() == "" and "while you predict it" in inspector.warp.cost.text()


@pytest.mark.parametrize("width", [340, 700])
def test_the_banks_of_a_box_are_apart_in_a_narrow_column(qtbot, monkeypatch, width):
    recorded, view, written = at_demo("warp_specialised"), BoxView(), []
    qtbot.addWidget(view)
    view.show_box(recorded, 0, False, THEMES["dark"])
    view.resize(width, view.height())
    text = QPainter.drawText
    monkeypatch.setattr(QPainter, "drawText", lambda self, *args: (written.append(args), text(self, *args))[1])
    view.grab()
    metrics = QFontMetrics(view.font())
    banks = [(box, name) for box, align, name in written if align == Qt.AlignmentFlag.AlignCenter and box.top() == 2]
    assert [name.partition("–")[0] for _, name in banks] == ["0", "4", "8", "12", "16", "20", "24", "28"]
    assert all(metrics.horizontalAdvance(name) + 4 <= box.width() for box, name in banks)
    assert banks[-1][1] == ("28" if width == 340 else "28–31")


@pytest.mark.sweep("rung0-*")
@pytest.mark.parametrize("tab", ["origin", "warp", "thread"])
@pytest.mark.parametrize("rung", [("gputiled", 8, {"TS": 4}), ("matmul_tc", 32, {}), ("wgmma", 64, {"BN": 64})])
def test_a_tab_keeps_only_the_shown_recording(inspector, qtbot, tab, rung):
    session, (name, size, params) = inspector.session, rung
    inspector.show_panel(tab)
    recordings = []
    for cell in ((2, 5), (0, 3), None, (2, 6)):
        shown = recorded_anew(name, size, **params)
        session.cursor.show(shown)
        session.cursor.pick(cell)
        recordings.append(weakref.ref(shown.recording))
    inspector.show_panel("counters")
    session.cursor.show(None)
    del shown
    qtbot.waitUntil(lambda: gc.collect() >= 0 and not [one for one in recordings if one() is not None])


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_columns_of_the_origins_are_seen_in_a_narrow_window(make_inspector, qtbot, language):
    """In a window of 1280 x 800 the columns of shared memory and of the use were beyond the right side."""
    set_language(language)
    inspector = make_inspector(376, 708)
    inspector.show_panel("origin")
    inspector.session.cursor.show(playable("gputiled", 8, TS=4))
    inspector.session.cursor.pick((2, 11), 0)
    table = inspector.origin.table
    qtbot.waitUntil(lambda: table.isVisible() and table.viewport().width() > 300)
    ends = table.columnViewportPosition(6) + table.columnWidth(6)
    assert ends <= table.viewport().width() + 1
    metrics = QFontMetrics(table.horizontalHeader().font())
    texts = [table.model().headerData(column, Qt.Orientation.Horizontal).split("\n") for column in range(7)]
    widths = [table.columnWidth(column) for column in range(7)]
    assert [t for t, w in zip(texts, widths, strict=True) if max(map(metrics.horizontalAdvance, t)) > w] == []


def test_pictures_use_the_colours_of_the_theme(inspector):
    session = inspector.session
    session.cursor.show(playable("gputiled", 32, "row-by-x", TS=32))
    session.cursor.pick((2, 40), 0)
    goto(session, "As")
    for name in ("warp", "thread"):
        inspector.show_panel(name)
        for theme in THEMES.values():
            session.preferences.set_theme(theme.name)
            colours = {*pixels(inspector.grab().toImage())[60:210:3, :576:3].flat}
            assert {pixel(theme.background), pixel(theme.read)} <= colours


def test_a_frozen_warps_lanes_are_outlined_on_the_stage(qapp):
    shown, theme = playable("gputiled", 16, TS=8), THEMES["light"]
    panels = StagePainter(shown, theme, QFont()).panels(QRectF(0, 0, 900, 700), Moment().view)
    image = QImage(900, 700, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.magenta)
    painter = QPainter(image)
    ValuePaths(shown, theme, QFont()).draw(painter, panels, Moment(0, 0, None, warp=1))
    assert image.pixelColor(round(panels[0].x + 1), round(panels[0].y + 4.5 * panels[0].cell)) == Qt.GlobalColor.magenta
    ValuePaths(shown, theme, QFont()).draw(painter, panels, Moment(0, 0, None, warp=1, frozen=True))
    painter.end()
    drawn = np.argwhere(pixels(image) != pixel("magenta"))
    # Warp 1 reads rows 4 to 7 of the block's tile of A: eight columns, a lane each.
    a = panels[0]
    box = (a.x, a.y + 4 * a.cell, a.x + 8 * a.cell, a.y + 8 * a.cell)
    edges = (*drawn.min(0)[::-1], *drawn.max(0)[::-1])
    assert edges == pytest.approx(box, abs=3)


def test_lanes_that_missed_the_array_are_not_called_inactive(inspector):
    session = inspector.session
    inspector.show_panel("warp")
    session.cursor.show(playable("gputiled", 7, "no-store-check", TS=4))
    last = session.cursor.steps - 1
    session.cursor.seek(last)
    session.cursor.pick(None, 3)
    asked = session.warp_steps.request()
    assert asked.step == last and asked.outside
    assert f"{asked.outside} lanes out of bounds" in inspector.warp.cost.text()
    assert "inactive" not in inspector.warp.cost.text()
    most = int(session.cursor.playable.out_of_bounds.most[last])
    assert f"{most} out of bounds, not drawn" in caption(session.cursor.playable, last)
    # With blocks so large whole warps miss: there is nothing to show of them at this step.
    session.cursor.show(playable("gputiled", 7, "no-store-check", TS=16))
    session.cursor.seek(session.cursor.steps - 1)
    session.cursor.choose_warp(session.cursor.warps - 1)
    assert "At this step this warp makes no access within bounds" in inspector.warp.cost.text()


@pytest.mark.sweep("wmma_shared-thread")
@pytest.mark.parametrize(("name", "panel"), [("CC", "warp"), ("wmma_shared", "thread")])
def test_a_scroll_bar_never_makes_a_picture_need_another_height(inspector, monkeypatch, name, panel):
    """Otherwise the bar and the height change each other endlessly, and the stack of the window overflows."""
    session = inspector.session
    session.cursor.show(playable(name, 32))
    view = inspector.warp.view if panel == "warp" else inspector.by_thread.warp
    turns = []
    take = view._take_height

    def counted():
        turns.append(view.width())
        if len(turns) < 40:  # without a limit a failure would end the process
            take()

    monkeypatch.setattr(view, "_take_height", counted)
    inspector.show_panel(panel)
    session.warp_steps.toggle()
    inspector.setUpdatesEnabled(False)  # only the layout matters here
    for width in range(340, 1300, 160):
        for height in range(90, 420, 5):
            turns.clear()
            inspector.resize(width, height)
            QApplication.processEvents()
            assert len(turns) < 12, (width, height, turns)
    assert view.isVisible()
