# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Every part of the window can be used without a mouse."""

from itertools import pairwise

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gemmviz.catalogue.ladder import find
from gemmviz.session import Answer, Message
from gemmviz.ui.inspect.lane_table import LaneTable
from gemmviz.ui.panels.kernel_chooser import Chooser
from gemmviz.ui.window.keys import KeyGuard

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def tab_to(window, qtbot, wanted):
    for _ in range(60):
        if QApplication.focusWidget() is wanted:
            return
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
    raise AssertionError(f"the Tab key never reaches {wanted.accessibleName() or wanted}")


def open_size(window, qtbot):
    """Open the sheet with the recording's size, as its key does."""
    qtbot.keyClick(window, Qt.Key.Key_S)
    qtbot.waitUntil(window.size_popover.isVisible)


@pytest.mark.parametrize("name", ["button", "auto", "order"])
def test_tab_reaches_the_recording_controls(window, qtbot, name):
    open_size(window, qtbot)
    tab_to(window, qtbot, getattr(window.recording, name))


def test_tab_goes_through_the_sheet_of_the_size_in_reading_order(window, qtbot):
    window.session.choice.choose_kernel(find("matmul_kernel_2d_thread_tiling", window.session.choice.kernels))
    open_size(window, qtbot)
    controls, sheet = window.recording, window.size_popover
    size, params = controls.size_row, controls.params.boxes
    first = [*size.boxes.values(), size.link, controls.order, controls.auto, controls.button]
    wanted = [*first, *params.values(), window.view_box, window.tour_bar.demo_button]
    assert params
    reached = []
    for _ in wanted:
        reached.append(QApplication.focusWidget())
        qtbot.keyClick(reached[-1], Qt.Key.Key_Tab)
    assert reached == wanted
    assert QApplication.focusWidget() is wanted[0]
    places = [widget.mapTo(sheet, widget.rect().center()) for widget in wanted]
    assert all(low.y() > high.y() + 5 or low.x() > high.x() for high, low in pairwise(places))
    assert all(widget.accessibleName() or widget.text() for widget in wanted)


def test_escape_closes_the_sheet_of_the_size_and_the_stage_has_the_keys(window, qtbot):
    open_size(window, qtbot)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not window.size_popover.isVisible()
    assert QApplication.focusWidget() is window.stage
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert window.session.playback.playing


def test_space_presses_the_button_that_tab_reached_and_does_not_play(window, qtbot):
    open_size(window, qtbot)
    tab_to(window, qtbot, window.recording.auto)
    qtbot.keyClick(window.recording.auto, Qt.Key.Key_Space)
    assert not window.recording.auto.isChecked()
    assert not window.session.playback.playing


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_return_presses_the_button_that_has_the_focus(window, qtbot, key):
    """It did nothing outside of dialogs: Tab went to “Run it”, and only Space pressed it."""
    open_size(window, qtbot)
    tab_to(window, qtbot, window.recording.auto)
    on = window.recording.auto.isChecked()
    qtbot.keyClick(window.recording.auto, key)
    assert window.recording.auto.isChecked() is not on
    qtbot.keyClick(window.recording.auto, key)


@pytest.mark.new_window
def test_only_the_widget_with_the_focus_is_watched_for_keys(monkeypatch, window, qtbot):
    watched, filtered = [], KeyGuard.eventFilter
    monkeypatch.setattr(KeyGuard, "eventFilter", lambda *args: (watched.append(args[1]), filtered(*args))[1])
    window.session.preferences.set_theme("light")
    assert QApplication.focusWidget() is window.stage and not watched
    open_size(window, qtbot)
    tab_to(window, qtbot, window.recording.auto)
    watched.clear()
    qtbot.keyClick(window.recording.auto, Qt.Key.Key_Space)
    assert {*watched} == {window.recording.auto}


def test_arrows_change_the_order_of_blocks_when_its_box_has_the_focus(window, qtbot):
    open_size(window, qtbot)
    box = window.recording.order
    tab_to(window, qtbot, box)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert window.session.choice.order == "block"
    assert window.session.cursor.step == 0


def test_arrows_choose_the_chart(window, qtbot):
    window.pages.turn_to("charts")
    tabs = window.charts.tabBar()
    tab_to(window, qtbot, tabs)
    before = tabs.tabText(tabs.currentIndex())
    qtbot.keyClick(tabs, Qt.Key.Key_Right)
    assert tabs.tabText(tabs.currentIndex()) != before
    assert window.charts.currentWidget() is window.charts.tabs.currentWidget()
    assert window.session.cursor.step == 0


def test_tab_leaves_the_table_of_lanes(window, qtbot):
    """It went from cell to cell, and never out."""
    window.inspector.show_panel("warp")
    table = window.inspector.findChild(LaneTable)
    qtbot.waitUntil(table.isVisible)
    table.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(table, Qt.Key.Key_Tab)
    assert not table.hasFocus()


def test_space_still_plays_after_a_click_on_a_button(window, qtbot):
    open_size(window, qtbot)
    square = window.session.choice.square.linked
    qtbot.mouseClick(window.recording.size_row.link, Qt.MouseButton.LeftButton)
    assert window.session.choice.square.linked != square
    window.size_popover.close()
    qtbot.mouseClick(window.source_side.found, Qt.MouseButton.LeftButton)
    assert window.inspector.panel == "findings"
    qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Space)
    assert window.session.playback.playing


def test_the_ladder_is_chosen_by_keys(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_1, CTRL)
    assert window.ladder.hasFocus()
    names = [k.name for k in window.session.choice.kernels]
    before = names[names.index(window.session.choice.kernel.name) - 1]
    qtbot.keyClick(window.ladder, Qt.Key.Key_Up)
    assert window.session.choice.kernel.name == before
    qtbot.keyClick(window, Qt.Key.Key_2, CTRL)
    assert window.stage.hasFocus()


def test_the_key_of_the_kernels_shows_the_folded_list(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_K)
    assert not window.ladder.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_1, CTRL)
    assert window.ladder.hasFocus() and window.ladder.isVisible()


def test_a_kernel_is_found_by_its_name(window, qtbot):
    window.stage.setFocus()
    QTest.keySequence(window, QKeySequence("Ctrl+K"))
    box = window.findChild(Chooser)
    assert box.isVisible() and box.list.count() == len(window.session.choice.kernels)
    qtbot.keyClicks(box.box, "banks")
    assert not box.list.isRowHidden([item.name for item in window.session.choice.kernels].index("RR"))
    box.box.clear()
    qtbot.keyClicks(box.box, "shared-memory layout rr")
    qtbot.keyClick(box.box, Qt.Key.Key_Return)
    assert window.session.choice.base.name == "RR" and not box.isVisible()


def test_arrows_move_along_the_menus_and_not_through_the_steps(window, qtbot):
    bar, step = window.menuBar(), window.session.cursor.step
    window.activateWindow()
    QTest.keySequence(window, QKeySequence("F10"))
    first, second = bar.actions()[:2]
    assert QApplication.focusWidget() is bar and bar.activeAction() is first
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.activeAction() is second and window.session.cursor.step == step
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is not bar


def test_cells_are_chosen_by_keys(window, qtbot):
    session = window.session
    qtbot.keyClick(window, Qt.Key.Key_Right, SHIFT)
    assert session.cursor.cell == (2, 0)
    for _ in range(5):
        qtbot.keyClick(window, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(window, Qt.Key.Key_Down, SHIFT)
    assert session.cursor.cell == (2, 8 + 5)
    assert session.cursor.playable.recording.block_index(session.cursor.block) == (1, 0, 0)
    qtbot.keyClick(window, Qt.Key.Key_Up, SHIFT)
    qtbot.keyClick(window, Qt.Key.Key_Up, SHIFT)
    assert session.cursor.cell == (2, 5)
    qtbot.keyClick(window, Qt.Key.Key_X)
    assert session.cursor.cell == (3, 0)
    qtbot.keyClick(window, Qt.Key.Key_Backspace)
    assert session.cursor.cell is None


def test_keys_zoom_and_shift_the_stage(window, qtbot):
    before = window.stage.panels()[0]
    qtbot.keyClick(window, Qt.Key.Key_Plus, CTRL)
    zoomed = window.stage.panels()[0]
    assert zoomed.cell > before.cell
    qtbot.keyClick(window, Qt.Key.Key_Right, CTRL)
    assert window.stage.panels()[0].x > zoomed.x
    qtbot.keyClick(window, Qt.Key.Key_0)
    assert window.stage.panels()[0] == before


def test_a_key_goes_to_the_next_step_of_the_same_line(window, qtbot):
    window.session.cursor.seek(4)
    line, step = window.session.cursor.line, window.session.cursor.step
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.cursor.line == line and window.session.cursor.step > step


def test_digits_typed_into_a_size_are_no_shortcuts(window, qtbot):
    window.recording.auto.setChecked(False)
    open_size(window, qtbot)
    box = window.recording.size_row.boxes["M"]
    tab_to(window, qtbot, box)
    window.stage.zoom(1)
    view = window.stage.view
    box.selectAll()
    for key in (Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_Return):
        qtbot.keyClick(box, key)
    assert window.session.choice.problem.m == 10
    assert window.stage.view == view


def test_escape_closes_the_question_before_it_cancels_anything(window, qtbot, monkeypatch):
    predict, cancelled = window.session.predict, []
    monkeypatch.setattr(window.controller.engines, "cancel", lambda: cancelled.append(1))
    for key in (Qt.Key.Key_P, Qt.Key.Key_1, Qt.Key.Key_Return):
        qtbot.keyClick(window, key)
    assert predict.revealed
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not predict.on and not window.predict.isVisible() and not cancelled
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert cancelled


def test_keys_answer_and_close_a_message(window, qtbot):
    answered = []
    session, alt = window.session, Qt.KeyboardModifier.AltModifier
    yes, no = Answer("Yes", lambda: answered.append("yes")), Answer("No", lambda: answered.append("no"))
    for key, expected in ((Qt.Key.Key_2, ["no"]), (Qt.Key.Key_1, ["yes"]), (Qt.Key.Key_X, [])):
        answered.clear()
        session.messages.tell(Message("Really?", "info", answers=(yes, no)))
        qtbot.keyClick(window, key, alt)
        assert answered == expected
        assert session.messages.current is None
