# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The state of the screen as a file and as a command line, in the real window."""

import json
import shlex

import pytest
from window_driving import RECORDING_MS, need_qt, open_trusted, wait_recorded

need_qt()

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import _parser, run
from gemmviz.cli.window import snapshot as from_options
from gemmviz.session.files.snapshot import apply
from gemmviz.ui.stage.view import View

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


def go_somewhere(window, qtbot):
    """Choose, step, pick and zoom until every part of the state differs from the start."""
    session = window.session
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.break_it(("no-second-barrier",))
    session.choice.choose(problem=Problem(8, 12, 8))
    wait_recorded(window, qtbot)
    session.playback.pause()
    session.cursor.pick((2, 30), 2)
    session.playback.set_speed(4.0)
    session.playback.set_loop_range(2, 21)
    session.cursor.seek(17)
    window.stage.view = View(1.75, -120.0, -60.5)
    window.stage.update()


def go_elsewhere(window, qtbot):
    session = window.session
    session.preferences.set_theme("light")
    session.playback.set_speed(1.0)
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    session.choice.choose(problem=Problem.cube(8))
    wait_recorded(window, qtbot)
    window.stage.reset_view()
    session.playback.play()


def picture(window):
    window.session.messages.tell(None)  # a message reduces the height of the stage
    QCoreApplication.processEvents()
    window.stage.clearFocus()
    return window.stage.grab().toImage()


def wait_placed(window, qtbot, step):
    wait_recorded(window, qtbot)
    qtbot.waitUntil(lambda: window.session.cursor.step == step, timeout=RECORDING_MS)
    qtbot.waitUntil(window.stage.updatesEnabled)  # it is painted after the rest of the window


def test_a_saved_state_reopens_with_the_same_picture_to_the_pixel(window, qtbot, tmp_path, monkeypatch):
    go_somewhere(window, qtbot)
    path = tmp_path / "mine.gemmviz"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), ""))
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL | ALT)
    assert json.loads(path.read_text())["state_version"] == 1
    assert str(path) in window.session.messages.current.text
    before, state = picture(window), window.saver.states.take()
    go_elsewhere(window, qtbot)
    assert picture(window) != before
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    qtbot.keyClick(window, Qt.Key.Key_O, CTRL)
    wait_placed(window, qtbot, 17)
    assert not window.session.playback.playing
    assert picture(window) == before
    assert window.saver.states.take() == state


def test_the_copied_command_line_reopens_with_the_same_picture(window, qtbot):
    go_somewhere(window, qtbot)
    qtbot.keyClick(window, Qt.Key.Key_C, CTRL | SHIFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[:3] == ["gemmviz", "--kernel", "gputiled~no-second-barrier"]
    assert "gputiled~no-second-barrier" in window.session.messages.current.text
    before, state = picture(window), window.saver.states.take()
    go_elsewhere(window, qtbot)
    apply(window.session, from_options(_parser("window").parse_args(["window", *words[1:]])))
    wait_placed(window, qtbot, 17)
    assert picture(window) == before
    assert window.saver.states.take() == state


def test_a_damaged_state_is_reported_and_nothing_is_lost(window, tmp_path):
    window.session.cursor.seek(5)
    before = window.saver.states.take()
    path = tmp_path / "bad.gemmviz"
    for text, message in (("{", "bad.gemmviz is damaged"), ('{"state_version": 99}', "state version 99")):
        path.write_text(text)
        window.open_file(path)
        assert message in window.session.messages.current.text
        assert window.saver.states.take() == before


def test_a_state_asks_before_it_replaces_edits_also_where_its_path_repeats_folders(window, tmp_path):
    choice = window.session.choice
    path = tmp_path / "new" / "mine.cu"
    path.parent.mkdir()
    path.write_text(choice.text)
    open_trusted(window, path)
    state = tmp_path / "mine.gemmviz"
    other = json.dumps({"path": f"{path.parent}/../new/mine.cu", "text": choice.text})
    state.write_text(f'{{"state_version": 1, "kernel": {other}}}')
    choice.edit(choice.text + "// mine\n")
    window.open_file(state)
    assert window.session.messages.current.text.startswith("mine.cu has edits here that are not saved")
    window.session.messages.current.answers[0].act()
    assert choice.base.path == path and not choice.unsaved(choice.base)


@pytest.mark.sweep("NaN-1")
@pytest.mark.parametrize(("zoom", "seen"), [(0, 1), (0.1, 1), (99, 60), ("NaN", 1), (1e308, 1)])
def test_a_view_that_cannot_be_drawn_is_left_out_or_the_nearest_is_taken(window, qtbot, tmp_path, zoom, seen):
    path = tmp_path / "mine.gemmviz"
    view = f'{{"zoom": {zoom}, "shift": [0.1, 0.1]}}'
    path.write_text(f'{{"state_version": 1, "kernel": {{"name": "gpumult1"}}, "view": {view}}}')
    window.open_file(path)
    wait_recorded(window, qtbot)
    assert window.session.choice.kernel.name == "gpumult1"
    assert window.stage.view.zoom == seen
    assert not window.stage.grab().isNull()
    text = window.session.messages.current
    assert ("zoom cannot be" in text.text) if zoom in (0, "NaN", 1e308) else text is None


def test_a_question_is_asked_about_unsaved_edits(window, qtbot, tmp_path):
    session = window.session
    path = tmp_path / "mine.gemmviz"
    path.write_text('{"state_version": 1, "kernel": {"name": "gputiled"}}')
    mine = session.choice.text.replace("float sum = 0;", "float sum = 0; // mine")
    session.choice.edit(mine)
    window.open_file(path)
    assert session.choice.text == mine
    opened, kept = session.messages.current.answers
    kept.act()
    assert session.choice.text == mine
    opened.act()
    assert session.choice.text == session.choice.base.text


@pytest.mark.sweep("charts")
@pytest.mark.parametrize("page", ["charts", "claims"])
def test_the_page_comes_back(window, qtbot, page):
    window.pages.turn_to(page)
    plain = window.saver.states.take()
    window.pages.turn_to("stage")
    apply(window.session, plain)
    qtbot.waitUntil(lambda: window.pages.name() == page, timeout=RECORDING_MS)


def test_a_kernel_may_be_named_without_its_option(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr("gemmviz.app.run_window", lambda args, chosen: opened.append((args.file, chosen)) or 0)
    assert run(["stream_k"]) == 0
    [(file, chosen)] = opened
    assert file is None and chosen["kernel"]["name"] == "stream_k"


def test_a_file_that_is_not_there_is_said_where_it_was_typed(monkeypatch, tmp_path, capsys):
    """In the window another message, such as that about edits that were not saved, may take its place."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gemmviz.app.run_window", lambda *_: pytest.fail("the window was opened"))
    for words in (["mine.cu"], ["window", "mine.cu"]):
        assert run(words) == 2
        assert "no file mine.cu" in capsys.readouterr().err


def test_a_file_of_a_kernel_takes_a_size(monkeypatch, tmp_path, capsys):
    """The command said that a .cu file “already gives the state to open”."""
    opened = []
    monkeypatch.setattr("gemmviz.app.run_window", lambda args, chosen: opened.append((args.file, chosen)) or 0)
    path, bare = tmp_path / "mine.cu", tmp_path / "bare.cu"
    path.write_text('// ---gemmviz\n// entry = "mine"\n// ---\n')
    bare.write_text("__global__ void mine(float *A, float *B, float *C) {}\n")
    assert run(["window", str(path), "--size", "64"]) == 0
    [(file, chosen)] = opened
    assert file is None and chosen["kernel"]["path"] == str(path) and chosen["size"] == [64, 64, 64]
    assert run(["window", str(bare), "--size", "64"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no front matter" in said and "open it without these options" in said
    assert run(["window", str(path), "--kernel", "gputiled"]) == 2
    assert "open one of them" in capsys.readouterr().err
