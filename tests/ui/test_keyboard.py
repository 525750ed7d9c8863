# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""Everything is within reach of somebody who has no mouse."""

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def tab_to(window, qtbot, wanted):
    for _ in range(60):
        if QApplication.focusWidget() is wanted:
            return
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
    raise AssertionError(f"the Tab key never reaches {wanted.accessibleName() or wanted}")


@pytest.mark.parametrize("name", ["button", "auto", "order"])
def test_tab_reaches_the_recording_controls(window, qtbot, name):
    tab_to(window, qtbot, getattr(window.recording, name))


def test_space_presses_the_button_that_tab_reached_and_does_not_play(window, qtbot):
    tab_to(window, qtbot, window.recording.auto)
    qtbot.keyClick(window.recording.auto, Qt.Key.Key_Space)
    assert not window.recording.auto.isChecked()
    assert not window.session.playing


def test_arrows_change_the_order_of_blocks_when_its_box_has_the_focus(window, qtbot):
    box = window.recording.order
    tab_to(window, qtbot, box)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert window.session.order == "block"
    assert window.session.step == 0


def test_arrows_choose_the_chart(window, qtbot):
    tabs = window.charts.tabBar()
    tab_to(window, qtbot, tabs)
    qtbot.keyClick(tabs, Qt.Key.Key_Right)
    assert window.charts.currentIndex() == 1
    assert window.session.step == 0


def test_space_still_plays_after_a_click_on_a_button(window, qtbot):
    qtbot.mouseClick(window.recording.size.link, Qt.MouseButton.LeftButton)
    qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Space)
    assert window.session.playing


def test_the_ladder_is_chosen_by_keys(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_1, CTRL)
    assert window.ladder.hasFocus()
    names = [k.name for k in window.session.kernels]
    before = names[names.index(window.session.kernel.name) - 1]
    qtbot.keyClick(window.ladder, Qt.Key.Key_Up)
    assert window.session.kernel.name == before
    qtbot.keyClick(window, Qt.Key.Key_2, CTRL)
    assert window.stage.hasFocus()


def test_cells_are_chosen_by_keys(window, qtbot):
    session = window.session
    qtbot.keyClick(window, Qt.Key.Key_Right, SHIFT)
    assert session.cell == (2, 0)
    for _ in range(5):
        qtbot.keyClick(window, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(window, Qt.Key.Key_Down, SHIFT)
    assert session.cell == (2, 8 + 5)
    assert session.playable.recording.block_index(session.block) == (1, 0, 0)
    qtbot.keyClick(window, Qt.Key.Key_Up, SHIFT)
    qtbot.keyClick(window, Qt.Key.Key_Up, SHIFT)
    assert session.cell == (2, 5)
    qtbot.keyClick(window, Qt.Key.Key_X)
    assert session.cell == (3, 0)
    qtbot.keyClick(window, Qt.Key.Key_Backspace)
    assert session.cell is None


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
    window.session.seek(4)
    line, step = window.session.line, window.session.step
    qtbot.keyClick(window, Qt.Key.Key_N)
    assert window.session.line == line and window.session.step > step


def test_digits_typed_into_a_size_are_no_shortcuts(window, qtbot):
    window.recording.auto.setChecked(False)
    box = window.recording.size.boxes["M"]
    tab_to(window, qtbot, box)
    window.stage.zoom(1)
    view = window.stage.view
    box.selectAll()
    for key in (Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_Return):
        qtbot.keyClick(box, key)
    assert window.session.problem.m == 10
    assert window.stage.view == view
