# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The source edited in the window, saved, reverted, and read again when its file changes."""

import pytest
from window_driving import RECORDING_MS, edit_as_typed, need_qt, open_trusted, put_cursor, wait_recorded, wait_shown

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from gemmviz.ui.stage.blank import outdated_text

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def line_of(text, part):
    return next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


def unlock(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_E, CTRL | SHIFT)
    assert window.source.hasFocus() and not window.source.locked
    return window.source


def type_over(window, qtbot, old, new):
    """Replace a part of the source like a user: select it and type."""
    source = window.source if not window.source.locked else unlock(window, qtbot)
    put_cursor(source, old, select=True)
    QTest.keyClicks(source, new)


def wait_said(window, qtbot, part):
    qtbot.waitUntil(
        lambda: window.session.messages.current is not None and part in window.session.messages.current.text
    )


@pytest.fixture
def mine(window, qtbot, tmp_path):
    """An opened file of the user's own."""
    path = tmp_path / "mine.cu"
    path.write_text(window.session.choice.kernel.text)
    open_trusted(window, path)
    wait_recorded(window, qtbot)
    return path


def test_the_source_opens_locked_and_typing_shows_how_to_unlock_it(window, qtbot):
    text = window.source.toPlainText()
    qtbot.keyClick(window, Qt.Key.Key_3, CTRL)
    qtbot.keyClick(window.source, Qt.Key.Key_A)
    assert window.source.toPlainText() == text
    assert "Ctrl+Shift+E" in window.message_bar.text.text()
    qtbot.mouseClick(window.message_bar.answers[0], Qt.MouseButton.LeftButton)
    assert not window.source.locked and window.source_side.edit_button.isChecked()


def test_space_and_digits_are_typed_while_editing_and_play_after_esc(window, qtbot):
    source = unlock(window, qtbot)
    put_cursor(source, "float sum")
    view = window.stage.view
    QTest.keyClicks(source, " 0 + n")
    qtbot.keyClick(source, Qt.Key.Key_Left)
    assert " 0 + nfloat sum" in source.toPlainText()
    assert not window.session.playback.playing and window.session.cursor.step == 0 and window.stage.view == view
    qtbot.keyClick(source, Qt.Key.Key_Escape)
    assert window.stage.hasFocus()
    qtbot.keyClick(window.stage, Qt.Key.Key_Space)
    assert window.session.playback.playing


def test_typed_text_is_recorded_and_the_old_picture_is_marked_as_outdated(window, qtbot):
    session = window.session
    before = session.cursor.playable
    type_over(window, qtbot, "sum += As[ty][k]", "sum += 2 * As[ty][k]")
    assert session.staged.outdated and session.cursor.playable is before
    assert window.source_heading.whole == "30_gputiled.cu, edited"
    wait_shown(window, qtbot)
    assert not session.staged.outdated
    assert (
        session.choice.variant
        and session.choice.kernel.name == "gputiled~edited"
        and session.choice.base.name == "gputiled"
    )
    assert session.cursor.playable.recording.wrong > 0
    assert window.ladder.currentItem() is window.ladder.item_of("gputiled")


def test_a_kernel_that_does_not_compile_is_marked_and_the_last_picture_stays(window, qtbot):
    before = window.session.cursor.playable
    type_over(window, qtbot, "float sum = 0;", "float sum = zero;")
    line = line_of(window.source.toPlainText(), "= zero")
    qtbot.waitUntil(lambda: window.source.error() == line, timeout=RECORDING_MS)
    assert window.session.cursor.playable is before and window.session.staged.outdated
    assert outdated_text(window.session.staged) == "Showing the last version that compiled  ·  8 × 8 × 8"
    assert any("zero" in mark.text for mark in window.source.marks[line])
    assert "30_gputiled.cu" in window.message_bar.text.text() and "~" not in window.message_bar.text.text()
    type_over(window, qtbot, "= zero;", "= 0;")
    qtbot.waitUntil(lambda: window.session.messages.current is None, timeout=RECORDING_MS)
    assert not window.session.choice.variant and window.source.error() is None


def test_front_matter_that_is_wrong_is_marked_and_nothing_is_recorded(window, qtbot):
    before = window.session.cursor.playable
    type_over(window, qtbot, '"C", "A", "B"', '"C", "A", "Q"')
    line = line_of(window.source.toPlainText(), '"Q"')
    qtbot.waitUntil(lambda: window.source.error() == line)
    assert f"30_gputiled.cu:{line}: args names 'Q'" in window.message_bar.text.text()
    assert window.session.cursor.playable is before and window.session.progress["record"] is None
    qtbot.keyClick(window.source, Qt.Key.Key_F6)
    qtbot.waitUntil(lambda: window.session.messages.current is None)
    assert window.source.error() is None


def test_a_new_parameter_in_the_front_matter_gets_a_box(window, qtbot):
    type_over(window, qtbot, "params   = { TS = [16, 8, 32] }", "params   = { TS = [16, 8, 32], Q = [1] }")
    qtbot.waitUntil(lambda: "Q" in window.recording.params.boxes)
    assert window.session.choice.params == {"TS": 4, "Q": 1}


def test_undo_takes_a_change_or_a_revert_back_from_everywhere(window, qtbot):
    session = window.session
    session.choice.break_it((next(iter(session.choice.base.breaks)).id,))
    wait_shown(window, qtbot)
    qtbot.keyClick(window.stage, Qt.Key.Key_Z, CTRL)
    assert not session.choice.variant and not session.choice.all_unsaved()
    wait_recorded(window, qtbot)
    type_over(window, qtbot, "float sum = 0;", "float sum = 7;")
    qtbot.keyClick(window.stage, Qt.Key.Key_F6)
    assert "sum = 0;" in session.choice.text
    qtbot.keyClick(window.stage, Qt.Key.Key_Z, CTRL)
    assert "sum = 7;" in session.choice.text


def test_revert_goes_back_to_the_file_and_undo_brings_the_edit_back(window, qtbot):
    shipped = window.source.toPlainText()
    type_over(window, qtbot, "float sum = 0;", "float sum = 1;")
    edited = window.source.toPlainText()
    qtbot.keyClick(window.source, Qt.Key.Key_F6)
    assert window.source.toPlainText() == shipped and not window.session.choice.variant
    qtbot.keyClick(window.source, Qt.Key.Key_Z, CTRL)
    assert window.source.toPlainText() == edited
    wait_shown(window, qtbot)
    assert window.session.choice.variant and "= 1;" in window.session.choice.kernel.text


def test_ctrl_y_does_again_what_was_undone(window, qtbot):
    window.show()
    unlock(window, qtbot)
    type_over(window, qtbot, "float sum = 0;", "float sum = 0.f;")
    edited = window.source.toPlainText()
    window.source.undo()
    # Not by a key: offscreen, the editor itself takes this one, which it does not on a screen of Linux.
    redo = next(one for one in window.source.findChildren(QShortcut) if one.key() == QKeySequence("Ctrl+Y"))
    assert window.source.toPlainText() != edited
    for _ in range(20):
        redo.activated.emit()
    assert window.source.toPlainText() == edited


def test_edits_are_still_there_when_the_rung_is_chosen_again(window, qtbot):
    session, tiled = window.session, window.session.choice.kernel
    type_over(window, qtbot, "float sum = 0;", "float sum = 3;")
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "gpumult0"))
    assert window.source.locked and "sum = 3" not in window.source.toPlainText()
    session.choice.choose_kernel(tiled)
    assert "float sum = 3;" in window.source.toPlainText()
    assert session.choice.variant and session.choice.title == "30_gputiled.cu, edited"
    wait_shown(window, qtbot)


def test_a_shipped_rung_is_saved_under_another_name_only(window, qtbot, tmp_path, monkeypatch):
    shipped = window.session.choice.base
    on_disk = shipped.path.read_text()
    target = tmp_path / "own_tiles.cu"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    type_over(window, qtbot, "float sum = 0;", "float sum = 0.0f;")
    edited = window.source.toPlainText()
    qtbot.keyClick(window.source, Qt.Key.Key_S, CTRL | SHIFT)
    assert target.read_text() == edited and shipped.path.read_text() == on_disk
    assert window.session.choice.base.path == target and not window.session.choice.variant
    assert window.source_heading.whole == "own_tiles.cu" and not window.source.locked
    wait_recorded(window, qtbot)
    window.session.choice.choose_kernel(shipped)
    assert window.source.toPlainText() == on_disk and not window.session.choice.all_unsaved()


@pytest.mark.parametrize("case", ["the shipped file", "no such folder"])
def test_a_failed_save_is_reported_and_writes_nothing(window, qtbot, tmp_path, monkeypatch, case):
    shipped = window.session.choice.base.path
    target, text = {
        "the shipped file": (shipped, "choose another name"),
        "no such folder": (tmp_path / "nowhere" / "x.cu", "No such file or directory"),
    }[case]
    before = shipped.read_text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    type_over(window, qtbot, "float sum = 0;", "float sum = 5;")
    assert not window.files.saving.save_as()
    assert text in window.message_bar.text.text()
    assert shipped.read_text() == before and not list(tmp_path.glob("*.cu"))
    assert window.session.choice.all_unsaved()


def test_an_opened_file_is_saved_in_place(window, qtbot, mine):
    type_over(window, qtbot, "float sum = 0;", "float sum = 0 * 1;")
    assert window.source_heading.whole == "mine.cu, edited"
    assert window.files.saving.save()
    assert "float sum = 0 * 1;" in mine.read_text()
    assert window.source_heading.whole == "mine.cu" and not window.session.choice.all_unsaved()
    qtbot.keyClick(window.source, Qt.Key.Key_Z, CTRL)
    assert "0 * 1" not in window.source.toPlainText() and window.session.choice.all_unsaved()


def test_a_text_that_is_not_yet_a_kernel_is_saved_too(window, qtbot, mine):
    type_over(window, qtbot, 'args     = ["C"', 'args     = ["Q"')
    assert window.files.saving.save()
    assert '["Q"' in mine.read_text() and not window.session.choice.all_unsaved()


def change(path, old, new):
    """Change a file like most editors: write a new file and replace the old one."""
    text = path.read_text()
    assert old in text
    part = path.with_suffix(".part")
    part.write_text(text.replace(old, new))
    part.replace(path)


def test_a_file_that_changes_on_disk_is_recorded_again(window, qtbot, mine):
    for value in (1, 2):  # the second one is a change of a file that replaced the watched one
        change(mine, f"sum = {value - 1};", f"sum = {value};")
        qtbot.waitUntil(lambda value=value: f"sum = {value};" in window.source.toPlainText())
        wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.wrong == 64
    assert window.session.choice.params == {"TS": 4}


def test_a_question_is_asked_before_a_changed_file_replaces_edits(window, qtbot, mine):
    type_over(window, qtbot, "float sum = 0;", "float sum = 7;")
    change(mine, "sum = 0;", "sum = 1;")
    wait_said(window, qtbot, "changed on disk")
    assert "sum = 7;" in window.source.toPlainText()
    window.session.choice.edit(window.session.choice.text.replace("sum = 7;", "sum = 7; // typed meanwhile"))
    assert "changed on disk" in window.session.messages.current.text  # a question stands until it is answered
    keep = window.message_bar.answers[1]
    assert keep.text() == "Keep mine"
    qtbot.mouseClick(keep, Qt.MouseButton.LeftButton)
    assert "sum = 7;" in window.source.toPlainText() and window.session.choice.all_unsaved()
    change(mine, "sum = 1;", "sum = 2;")
    wait_said(window, qtbot, "changed on disk")
    qtbot.mouseClick(window.message_bar.answers[0], Qt.MouseButton.LeftButton)
    assert "sum = 2;" in window.source.toPlainText() and not window.session.choice.all_unsaved()
    window.source.undo()
    assert "sum = 7;" in window.source.toPlainText()


def test_a_deleted_file_is_reported_and_its_text_is_kept(window, qtbot, mine):
    text = mine.read_text()
    mine.unlink()
    wait_said(window, qtbot, "gone from disk")
    assert window.source.toPlainText() == text
    assert window.files.saving.save() and mine.read_text() == text


def test_a_file_broken_on_disk_is_reported_and_the_last_picture_stays(window, qtbot, mine):
    wait_recorded(window, qtbot)
    before = window.session.cursor.playable
    change(mine, '"C", "A", "B"', '"C", "A", "Q"')
    wait_said(window, qtbot, "args names 'Q'")
    assert window.session.cursor.playable is before
    change(mine, '"C", "A", "Q"', '"C", "A", "B"')
    qtbot.waitUntil(lambda: window.session.messages.current is None)
    wait_recorded(window, qtbot)


@pytest.mark.parametrize("answer", ["Cancel", "Discard", "Save"])
def test_closing_asks_what_to_do_with_edits(window, qtbot, mine, monkeypatch, answer):
    asked = []

    def warning(*args):
        asked.append(args[2])
        return getattr(QMessageBox.StandardButton, answer)

    monkeypatch.setattr(QMessageBox, "warning", warning)
    type_over(window, qtbot, "float sum = 0;", "float sum = 9;")
    closed = window.close()
    assert asked == ["Not saved: mine.cu."]
    assert closed == (answer != "Cancel")
    assert ("sum = 9;" in mine.read_text()) == (answer == "Save")


def test_an_edit_before_it_is_recorded_is_not_lost_either(window, qtbot):
    type_over(window, qtbot, "float sum = 0;", "float sum = 9;")
    assert [k.name for k in window.session.choice.all_unsaved()] == ["gputiled"]


def test_f5_asks_before_it_drops_edits(window, qtbot, mine):
    type_over(window, qtbot, "float sum = 0;", "float sum = 4;")
    qtbot.keyClick(window.source, Qt.Key.Key_F5)
    assert "edits that are not saved" in window.message_bar.text.text()
    assert "sum = 4;" in window.source.toPlainText()


def test_the_latest_text_is_measured_unless_it_is_no_kernel(window, qtbot, monkeypatch):
    asked = []
    monkeypatch.setattr("gemmviz.control.measuring.reason_and_remedy", lambda session: "")  # on any machine
    window.controller.checks.judge = lambda jobs, done: asked.append(jobs[0][0].text)
    type_over(window, qtbot, "float sum = 0;", "float sum = 6;")
    qtbot.keyClick(window.source, Qt.Key.Key_M, CTRL)
    assert "float sum = 6;" in asked[0]
    type_over(window, qtbot, '"C", "A", "B"', '"C", "A", "Q"')
    qtbot.keyClick(window.source, Qt.Key.Key_M, CTRL)
    assert len(asked) == 1 and "args names 'Q'" in window.message_bar.text.text()


def test_a_message_about_another_file_leaves_the_text_that_is_edited_alone(window, qtbot, mine):
    session = window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "gputiled"))
    type_over(window, qtbot, "float sum = 0;", "float sum = 8;")
    change(mine, '"C", "A", "B"', '"C", "A", "Q"')
    wait_said(window, qtbot, "args names 'Q'")
    assert "float sum = 8;" in window.source.toPlainText() and window.source.error() is None
    assert window.source_heading.whole == "30_gputiled.cu, edited"
    QTest.keyClicks(window.source, " // 8")
    assert "float sum = 8; // 8" in window.source.toPlainText()


def test_typing_does_not_wipe_a_message_about_another_file(window, qtbot, mine):
    session = window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "gputiled"))
    change(mine, '"C", "A", "B"', '"C", "A", "Q"')
    wait_said(window, qtbot, "args names 'Q'")
    edit_as_typed(session, session.choice.text.replace("float sum = 0;", "float sum = 0.f;"))
    assert "args names 'Q'" in session.messages.current.text


def test_a_long_recording_is_cancelled_when_the_text_changes_again(window, qtbot):
    from gemmviz.catalogue.problem import Problem

    window.session.choice.choose(problem=Problem.cube(96))
    window.controller.recording.record()
    type_over(window, qtbot, "float sum = 0;", "float sum = 0.f;")
    window.session.choice.choose(problem=Problem.cube(8))
    wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.m == 8


def test_find_goes_to_each_match_and_wraps_around(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_F, CTRL)
    box = window.source_side.find_bar.box
    assert QApplication.focusWidget() is box
    QTest.keyClicks(box, "gputiled")
    lines = [n for n, line in enumerate(window.source.toPlainText().splitlines()) if "gputiled" in line]
    found = [window.source.textCursor().blockNumber()]
    for _ in lines:
        qtbot.keyClick(box, Qt.Key.Key_Return)
        found.append(window.source.textCursor().blockNumber())
    assert len(lines) > 1 and found == [*lines, lines[0]]
    qtbot.keyClick(box, Qt.Key.Key_Return, SHIFT)
    assert window.source.textCursor().blockNumber() == lines[-1]
    QTest.keyClicks(box, "nowhere")
    assert window.source_side.find_bar.nothing.isVisible()
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert not window.source_side.find_bar.isVisible() and window.source.hasFocus()


def test_shortcuts_with_control_still_work_while_editing(window, qtbot):
    source = unlock(window, qtbot)
    theme = window.session.preferences.theme
    qtbot.keyClick(source, Qt.Key.Key_T, CTRL)
    assert window.session.preferences.theme != theme
