# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The editor by itself: indenting, comments, undo, colours."""

import pytest
from window_driving import need_qt, put_cursor

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QRegion
from PySide6.QtTest import QTest

from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.source.editor import Editor
from gemmviz.ui.source.highlighter import AFTER_RECORDING_MS

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def editor(qtbot):
    editor = Editor(THEMES["dark"])
    qtbot.addWidget(editor)
    editor.fill("int a;\n    int b;\n\nint c;", anew=True)
    editor.lock(False)
    editor.show()
    editor.setFocus()
    return editor


def test_tab_inserts_blanks_and_indents_a_selection_and_shift_tab_takes_them_away(editor, qtbot):
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text().startswith("    int a;")
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "        int a;\n        int b;\n\n    int c;"
    for _ in range(3):
        qtbot.keyClick(editor, Qt.Key.Key_Backtab, SHIFT)
    assert editor.text() == "int a;\nint b;\n\nint c;"
    editor.undo()
    assert editor.text() == "    int a;\n    int b;\n\nint c;"


def test_lines_are_commented_out_and_in_again(editor, qtbot):
    before = editor.text()
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Slash, CTRL)
    assert editor.text() == "// int a;\n    // int b;\n\n// int c;"
    qtbot.keyClick(editor, Qt.Key.Key_Slash, CTRL)
    assert editor.text() == before


def test_a_new_line_is_indented_like_the_line_before(editor, qtbot):
    put_cursor(editor, ";\n\nint c")
    qtbot.keyClick(editor, Qt.Key.Key_End)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "x")
    assert editor.text() == "int a;\n    int b;\n    x\n\nint c;"


def test_a_text_is_changed_as_one_edit_that_can_be_undone(editor):
    before, typed = editor.text(), []
    editor.typed.connect(typed.append)
    other = "int a;\nint 𝄞;\n\nint d; // 𝄞𝄞"
    editor.fill(other, anew=False)
    editor.fill(other + "\nint e;", anew=False)
    assert editor.text() == other + "\nint e;" and not typed
    editor.undo()
    assert editor.text() == other
    editor.undo()
    assert editor.text() == before and typed == [other, before]


def test_unchanged_text_is_kept_exactly(qtbot):
    editor = Editor(THEMES["light"])
    qtbot.addWidget(editor)
    text = "// a\u00a0b\u2028c\nint x;\n"
    editor.fill(text, anew=True)
    assert editor.text() == text


def test_a_comment_over_several_lines_is_coloured_and_a_keystroke_opens_and_closes_it(editor):
    def colour(line):
        formats = editor.document().findBlockByNumber(line).layout().formats()
        return formats[0].format.foreground().color().name()

    editor.highlighter.begin()
    editor.fill("int a;\nint b;\nint c; */ int d;", anew=True)
    keyword = colour(1)
    editor.fill("/* int a;\nint b;\nint c; */ int d;", anew=False)
    assert colour(0) == colour(1) == colour(2) != keyword
    editor.fill('"/*" int a;\nint b;\nint c; */ int d;', anew=False)
    assert colour(1) == keyword


def test_the_first_paint_does_not_wait_for_colours(qtbot):
    editor = Editor(THEMES["dark"])
    qtbot.addWidget(editor)
    editor.fill("int a;\nint b;", anew=True)

    def coloured():
        return [bool(editor.document().findBlockByNumber(line).layout().formats()) for line in (0, 1)]

    assert coloured() == [False, False]
    editor.show()
    qtbot.waitUntil(lambda: coloured() == [True, True])
    editor.fill("int a;\nint c;\nint b;", anew=False)
    assert coloured() == [True, True], "from now on at once"


def test_a_change_of_two_lines_far_apart_paints_their_numbers_alone(qtbot, monkeypatch):
    editor = Editor(THEMES["dark"])
    qtbot.addWidget(editor)
    editor.setPlainText("\n".join("int a;" for _ in range(30)))
    editor.resize(300, 700)
    editor.show()
    qtbot.waitExposed(editor)
    written = []
    monkeypatch.setattr(editor, "fold_sign", lambda line: written.append(line) or "")
    top = {line: y for line, y, _ in editor.visible_lines()}
    QTest.qWait(50)
    written.clear()
    editor.gutter.repaint(QRegion(0, top[2] + 2, 9, 2) | QRegion(0, top[20] + 2, 9, 2))
    assert written == [2, 20]


def test_colours_wait_for_the_first_recording_and_no_longer(qtbot):
    editor = Editor(THEMES["dark"])
    qtbot.addWidget(editor)
    highlighter = editor.highlighter
    highlighter.begin_soon()
    late = highlighter._begin.interval()
    highlighter.begin_soon(AFTER_RECORDING_MS)
    assert highlighter._begin.interval() == AFTER_RECORDING_MS < late
    highlighter.begin_soon()  # painted once more: the wait that is running stays
    assert highlighter._begin.interval() == AFTER_RECORDING_MS
    qtbot.waitUntil(lambda: highlighter.begun)
    highlighter.begin_soon(AFTER_RECORDING_MS)
    assert not highlighter._begin.isActive()
