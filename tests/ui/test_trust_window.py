# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""A foreign text in the real window: it is shown, the question is asked once, and it runs only with permission."""

import pytest
from trust_driving import (
    HOSTILE,
    Sent,
    assert_not_run,
    open_kernel,
    open_lesson,
    open_state_with_a_text_of_another_file,
    open_state_with_path,
    open_state_with_text,
    settle,
)
from window_driving import RECORDING_MS, check_guess, need_qt, wait_guessed, wait_recorded

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gemmviz.app import new_session
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import Failed
from gemmviz.session.trust.trust import Trust

pytestmark = pytest.mark.new_window  # nearly all of these tests change what cannot be put back

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
BARE = """
void plain(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
"""


@pytest.fixture(autouse=True)
def nobody_trusted(tmp_path, monkeypatch):
    """A user without any permission for a text so far."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def sent(window, monkeypatch):
    return Sent(monkeypatch)


@pytest.fixture
def hostile(tmp_path):
    """A kernel that writes a file as soon as it is loaded, and that file."""
    marker = tmp_path / "was-here"
    path = tmp_path / "mail" / "hostile.c"
    path.parent.mkdir()
    path.write_text(find("hostmult0", ladder()).text + HOSTILE % marker)
    return path, marker


@pytest.mark.sweep("open_kernel", "open_state_with_text")
@pytest.mark.parametrize(
    "bring",
    [
        open_kernel,
        open_state_with_text,
        open_state_with_path,
        open_state_with_a_text_of_another_file,
        open_lesson,
    ],
)
def test_a_foreign_text_is_shown_and_runs_only_when_it_is_allowed(window, qtbot, sent, hostile, bring):
    path, marker = hostile
    bring(window, path)
    assert_not_run(window, qtbot, sent, marker)
    assert "gv_hostile" in window.source.toPlainText()
    assert "has not run yet" in window.run_question.title.text()
    qtbot.mouseClick(window.run_question.run_button, Qt.MouseButton.LeftButton)
    wait_recorded(window, qtbot)
    assert "gv_hostile" in window.session.cursor.playable.recording.text
    assert not window.run_question.isVisible()


def test_a_lesson_and_a_state_continue_after_permission(window, qtbot, hostile):
    open_state_with_text(window, hostile[0])
    window.session.permission.run()
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: window.session.cursor.step == 2)
    open_lesson(window, hostile[0])
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: window.session.tour.at == 0)
    assert window.session.cursor.step == window.session.cursor.steps - 1


def test_no_button_avoids_the_question(window, qtbot, sent, hostile):
    path, marker = hostile
    window.open_file(path)
    controller = window.controller
    for act in (
        controller.recording.record,
        controller.measuring.measure_this,
        lambda: controller.measuring.measure_over_n([8], False),
        controller.checks.check_sizes,
        controller.tuning.start,
        window.session.demonstration.show,
        lambda: window.session.choice.break_it(("zero-never-set",)),
        lambda: window.session.choice.break_it(()),
        lambda: window.session.choice.choose(problem=window.session.choice.problem.cube(9)),
        lambda: window.session.choice.choose(as_written=True),
    ):
        act()
        assert_not_run(window, qtbot, sent, marker)


def test_a_foreign_text_does_not_run_on_the_second_stage(window, qtbot, sent, hostile):
    path, marker = hostile
    session = window.session
    window.open_file(path)
    foreign = session.choice.kernel
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    wait_recorded(window, qtbot)
    session.side_by_side.start(foreign)
    qtbot.waitUntil(lambda: session.second.messages.current is not None, timeout=RECORDING_MS)
    assert "hostile.c" in session.second.messages.current.text
    assert not marker.exists() and all("gv_hostile" not in request.text for request in sent)


def test_the_engine_refuses_a_text_if_the_window_does_not_ask(window, qtbot, sent, hostile):
    path, marker = hostile
    replies = []
    window.controller.engines.bench.replied.connect(replies.append)
    window.controller.measuring.measure([{"path": str(path), "text": path.read_text(), "params": {}}])
    qtbot.waitUntil(lambda: any(isinstance(reply, Failed) and reply.kind == "untrusted" for reply in replies))
    # An earlier request may have been cancelled for this one.
    kinds = [reply.kind for reply in replies if isinstance(reply, Failed) and reply.kind != "cancelled"]
    assert kinds == ["untrusted"]
    assert not sent and not marker.exists()


# The question


def test_the_question_is_answered_by_keys_and_the_safe_answer_has_the_focus(window, qtbot, sent, hostile):
    path, marker = hostile
    window.open_file(path)
    question = window.run_question
    qtbot.waitUntil(question.look_button.hasFocus)
    qtbot.keyClick(question.look_button, Qt.Key.Key_Space)
    assert "Only looked at" in question.title.text() and not question.look_button.isVisible()
    assert window.stage.hasFocus()
    assert_not_run(window, qtbot, sent, marker)
    qtbot.keyClick(window, Qt.Key.Key_O, CTRL | SHIFT)
    qtbot.waitUntil(question.look_button.hasFocus)
    qtbot.keyClick(question.look_button, Qt.Key.Key_Tab, SHIFT)
    assert question.run_button.hasFocus()
    qtbot.keyClick(question.run_button, Qt.Key.Key_Space)
    wait_recorded(window, qtbot)


def test_an_audience_sees_that_a_text_has_not_run_and_how_to_run_it(window, qtbot, sent, hostile):
    path, marker = hostile
    window.open_file(path)
    window.session.permission.only_look()
    window.presenting.start()
    stage = window.presenting.presenter.stage
    title, text = stage._empty_text()
    assert title == "hostile.c is shown, not run"
    assert "Esc" in text and "Ctrl+Shift+O" in text
    assert_not_run(window, qtbot, sent, marker)
    before = stage.grab().toImage()
    window.session.permission.run()
    wait_recorded(window, qtbot)
    assert stage.grab().toImage() != before
    window.presenting.end()


def test_the_question_about_a_text_is_asked_once(window, hostile):
    session = window.session
    window.open_file(hostile[0])
    kernel = session.choice.kernel
    session.permission.only_look()
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    assert not window.run_question.isVisible()
    session.choice.choose_kernel(kernel)
    assert session.permission.held and not session.permission.asks
    session.permission.run()
    assert not session.permission.held
    other = new_session()
    other.choice.add_kernel(kernel)
    assert not other.permission.held


def test_the_question_reaches_a_screen_reader_and_does_not_take_the_focus_from_typing(window):
    session = window.session
    window.source.toggle_edit()
    window.source.setFocus()
    session.choice.edit(session.choice.text + "\n// not typed here\n")
    assert session.permission.asks and window.source.hasFocus()
    text = window.run_question.accessibleDescription()
    for part in ("30_gputiled.cu has not run yet", "compiles this text and runs it on this machine"):
        assert part in text
    assert window.run_question.run_button.accessibleDescription() == text


@pytest.mark.sweep("1.5-dark")
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_question_has_room_on_a_small_screen(window, qtbot, hostile, theme, scale):
    window.resize(1280, 800)
    window.session.preferences.set_theme(theme)
    window.session.preferences.set_type_scale(scale)
    window.open_file(hostile[0])
    question = window.run_question
    QApplication.processEvents()
    parts = (question.title, question.text, question.details)
    buttons = (question.run_button, question.look_button, question.folder_button)
    for part in (*parts, *buttons):
        assert part.isVisible()
        assert question.rect().contains(part.rect().translated(part.mapTo(question, part.rect().topLeft())))
    for label in parts:
        assert label.height() >= label.heightForWidth(label.width())
    for button in buttons:
        assert button.width() >= button.minimumSizeHint().width()


def test_files_of_a_trusted_folder_run_after_a_change_in_another_editor(window, qtbot, hostile):
    path, _ = hostile
    window.open_file(path)
    qtbot.mouseClick(window.run_question.folder_button, Qt.MouseButton.LeftButton)
    wait_recorded(window, qtbot)
    path.write_text(path.read_text() + "// more\n")
    qtbot.waitUntil(lambda: "// more" in window.source.toPlainText())
    wait_recorded(window, qtbot)
    assert not window.session.permission.held


def test_the_question_is_asked_again_after_a_change_outside_the_window(window, qtbot, hostile):
    path, _ = hostile
    window.open_file(path)
    window.session.permission.run()
    wait_recorded(window, qtbot)
    path.write_text(path.read_text() + "// more\n")
    qtbot.waitUntil(lambda: "// more" in window.source.toPlainText())
    assert window.session.permission.asks
    assert "has changed since you allowed it" in window.run_question.text.text()
    settle(window, qtbot)
    assert window.session.cursor.playable is None


def test_permissions_can_be_listed_and_removed(window, qtbot, hostile):
    path, _ = hostile
    window.open_file(path)
    window.session.permission.run()
    wait_recorded(window, qtbot)
    qtbot.keyClick(window, Qt.Key.Key_O, CTRL | Qt.KeyboardModifier.AltModifier)
    assert (
        "hostile.c" in window.session.messages.current.text and "1 text may run" in window.session.messages.current.text
    )
    qtbot.mouseClick(window.message_bar.answers[0], Qt.MouseButton.LeftButton)
    assert not Trust().kept.texts and window.session.permission.held


# Typing


def type_at_end(source, text):
    source.toggle_edit()
    source.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(source, text)


def test_text_typed_in_a_shipped_kernel_runs_without_a_question(window, qtbot):
    type_at_end(window.source, "// mine ")
    qtbot.waitUntil(lambda: "// mine" in window.session.choice.kernel.text)
    wait_recorded(window, qtbot)
    assert not window.session.permission.held


def test_typing_undo_and_redo_in_a_foreign_text_run_nothing(window, qtbot, sent, hostile):
    path, marker = hostile
    open_state_with_text(window, path)
    window.session.permission.only_look()
    source = window.source
    type_at_end(source, "// mine ")
    qtbot.waitUntil(lambda: "// mine" in window.session.choice.kernel.text)
    assert_not_run(window, qtbot, sent, marker)
    for _ in range(3):
        source.undo()
        qtbot.wait(400)
    for _ in range(3):
        source.redo()
        qtbot.wait(400)
    settle(window, qtbot)
    assert "gv_hostile" in source.toPlainText()
    assert not marker.exists() and all("gv_hostile" not in request.text for request in sent)


# A file without front matter


def test_the_form_for_a_bare_file_runs_nothing_until_it_is_allowed(window, qtbot, sent, tmp_path):
    marker, path = tmp_path / "was-here", tmp_path / "plain.c"
    path.write_text(BARE + HOSTILE % marker)
    window.open_file(path)
    wait_guessed(window)
    form = check_guess(window)
    qtbot.waitExposed(form)
    settle(window, qtbot)
    assert not sent and not marker.exists()
    assert "This file has not run" in form.outcome.text() and "Run it" in form.attempt.text()
    assert "gv_hostile" in form.preview.toPlainText()
    qtbot.mouseClick(form.attempt, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "C is right at" in form.outcome.text(), timeout=RECORDING_MS)
    qtbot.mouseClick(form.ok, Qt.MouseButton.LeftButton)
    wait_recorded(window, qtbot)
    assert not window.session.permission.held


def test_the_stage_has_the_keys_after_the_form_has_answered_the_question(window, qtbot, tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(BARE)
    window.open_file(path)
    wait_guessed(window)
    assert window.focusWidget() is window.run_question.look_button
    form = check_guess(window)
    qtbot.waitExposed(form)
    qtbot.mouseClick(form.attempt, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "C is right at" in form.outcome.text(), timeout=RECORDING_MS)
    qtbot.mouseClick(form.ok, Qt.MouseButton.LeftButton)
    wait_recorded(window, qtbot)
    assert window.focusWidget() is window.stage  # Space plays: it did nothing on the tabs, the next in Tab's order


def test_the_form_does_not_ask_for_a_text_that_runs_already(window, qtbot, tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(BARE)
    window.open_file(path)
    wait_guessed(window)
    window.session.permission.run()
    wait_recorded(window, qtbot)
    form = check_guess(window)
    qtbot.waitExposed(form)
    assert "has not run" not in form.outcome.text() and "Try it" in form.attempt.text()
    form.reject()


def test_the_question_is_asked_about_a_file_whose_launch_was_guessed(window, qtbot, sent, tmp_path):
    marker, path = tmp_path / "was-here", tmp_path / "plain.c"
    path.write_text(BARE + HOSTILE % marker)
    window.open_file(path)
    wait_guessed(window)
    assert window.session.permission.asks and window.run_question.isVisible()
    # Nobody changed the text here: the question said so, among other possible reasons.
    details = window.run_question.details.text()
    assert "The guess of its launch" in details and "changed here" not in details
    assert_not_run(window, qtbot, sent, marker)


def test_the_question_about_a_guess_says_how_its_folder_can_be_allowed(window, qtbot, tmp_path):
    """After each change in another editor it asked again, and did not say how to end that."""
    path = tmp_path / "plain.c"
    path.write_text(BARE)
    window.open_file(path)
    wait_guessed(window)
    question = window.run_question
    assert not question.folder_button.isVisible()
    assert question.details.text().endswith("save the guess in the file: Ctrl+G, then Ctrl+Alt+S.")
    form = check_guess(window)
    qtbot.waitExposed(form)
    qtbot.mouseClick(form.ok, Qt.MouseButton.LeftButton)
    assert window.files.saving.save() and "---gemmviz" in path.read_text()
    qtbot.waitUntil(question.folder_button.isVisible)
    assert "Trust this folder" in question.details.text()


def test_a_long_name_is_not_cut_off_in_the_question(window, tmp_path):
    path = tmp_path / f"kernel_{'x' * 120}_last.c"
    path.write_text(BARE)
    window.resize(1280, 800)
    window.show()
    window.open_file(path)
    wait_guessed(window)
    title = window.run_question.title
    assert title.text().startswith("kernel_x") and "_last.c has not run yet" in title.text()
    widest = max(title.fontMetrics().horizontalAdvance(word) for word in title.text().split())
    assert title.isVisible() and widest <= title.width()
