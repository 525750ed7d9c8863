# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Broken files, broken kernels and killed engines: a clear message, and the next run works."""

import multiprocessing
import os
import signal
from itertools import pairwise

import pytest
from window_driving import RECORDING_MS, bare, need_qt, open_trusted, wait_guessed, wait_recorded

need_qt()

from PySide6.QtCore import Qt

from gemmviz.catalogue.problem import Problem
from gemmviz.session import Message
from gemmviz.ui.inspect.inspector import PANELS


def open_variant(window, folder, old, new, name="mine.cu"):
    """Open a copy of the chosen kernel with one thing changed; return the line (from 1) of the change."""
    text = window.session.choice.kernel.text
    assert old in text
    path = folder / name
    path.write_text(text.replace(old, new))
    open_trusted(window, path)
    return text[: text.index(old)].count("\n") + 1


def wait_message(window, qtbot):
    qtbot.waitUntil(lambda: window.session.messages.current is not None, timeout=RECORDING_MS)
    qtbot.waitUntil(lambda: window.session.progress["record"] is None, timeout=RECORDING_MS)
    return window.session.messages.current


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('"C", "A", "B"', '"C", "A", "Q"', "args names 'Q'"),
        ("params   = {", "params   = = {", "not TOML"),
        ("// idea", "// ideas", "unknown key 'ideas'"),
        ("ceil(N / TS)", "ceil(N / TT)", "'TT', which is not declared"),
    ],
)
def test_wrong_front_matter_is_shown_with_its_line_marked(window, tmp_path, old, new, text):
    shipped = window.source.toPlainText()
    line = open_variant(window, tmp_path, old, new)
    assert text in window.message_bar.text.text() and f"mine.cu:{line}:" in window.message_bar.text.text()
    assert window.source.error() == line
    assert new in window.source.toPlainText() and window.source_heading.text() == "mine.cu"
    window.message_bar.close_button.click()
    assert window.source.toPlainText() == shipped and window.source_heading.text() == "30_gputiled.cu"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("host.cu", "int main(void) { return 0; }\n", "marked `__global__`"),
        ("sum.c", "int sum(int a, int b) { return a + b; }\n", "three pointers"),
    ],
)
def test_a_file_without_a_kernel_is_reported_without_a_wrong_remedy(window, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    window.open_file(tmp_path / name)
    wait_guessed(window)
    sentence = window.session.messages.current.text
    assert "no kernel in this file" in sentence and message in sentence
    assert "describe" not in sentence


def test_the_header_with_the_kernel_of_a_host_file_is_opened_by_a_click(window, tmp_path):
    kernel = bare(window, tmp_path).read_text()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "kernels.cuh").write_text(kernel)
    (tmp_path / "bare.cu").unlink()
    main = tmp_path / "main.cu"
    main.write_text('#include "include/kernels.cuh"\nint main() { return 0; }\n')
    window.open_file(main)
    wait_guessed(window)
    assert window.message_bar.answers[0].text() == "Open include/kernels.cuh"
    window.message_bar.answer(0)
    wait_guessed(window)
    assert window.session.choice.base.path == tmp_path / "include" / "kernels.cuh"


@pytest.mark.parametrize(
    ("count", "remedy"),
    [
        (1, "A file beside it has one: open kernel0.cu"),
        (2, "Open one of the files beside it that have kernels: kernel0.cu, kernel1.cu"),
    ],
)
def test_a_file_without_a_kernel_names_the_files_beside_it_that_have_one(window, tmp_path, count, remedy):
    """One file was called "these files", and a list that was cut ended with "….\"."""
    (tmp_path / "host.cu").write_text("int main() { return 0; }\n")
    for number in range(count):
        (tmp_path / f"kernel{number}.cu").write_text(
            "__global__ void f(float *a, float *b, float *c) { *c = *a * *b; }"
        )
    window.open_file(tmp_path / "host.cu")
    wait_guessed(window)
    assert window.session.messages.current.text.endswith(remedy)


def test_the_message_about_a_file_stays_after_the_running_recording(window, qtbot, tmp_path):
    window.session.choice.choose(params={"TS": 2})
    window.controller.recording.record()
    (tmp_path / "nothing.cu").write_text("int x;\n")
    window.open_file(tmp_path / "nothing.cu")
    wait_recorded(window, qtbot)
    assert "front matter" in window.message_bar.text.text()


def test_an_argument_too_few_marks_the_line_of_args(window, qtbot, tmp_path):
    line = open_variant(window, tmp_path, '"M", "K", "N"]', '"M", "K"]')
    assert "cannot be called" in wait_message(window, qtbot).text
    assert window.source.error() == line


def test_a_crash_marks_its_line_and_the_next_run_works(window, qtbot, tmp_path):
    line = open_variant(window, tmp_path, "float sum = 0;", "float sum = 0; *(volatile int *)8 = 1;")
    message = wait_message(window, qtbot)
    assert message.kind == "error" and "Segmentation fault" in message.text
    assert window.source.error() == line
    window.session.choice.choose_kernel(next(k for k in window.session.choice.kernels if k.name == "gputiled"))
    wait_recorded(window, qtbot)
    assert window.session.messages.current is None


def test_an_access_out_of_bounds_is_marked_in_the_source(window, qtbot, tmp_path):
    line = open_variant(window, tmp_path, "C[row * Bx + col] = sum;", "C[row * Bx + col + 1000] = sum;")
    assert "out of bounds" in wait_message(window, qtbot).text
    assert window.source.error() == line


def test_a_kernel_that_touches_no_memory_is_drawn(window, qtbot, tmp_path):
    kernel = window.session.choice.kernel
    body = kernel.text.index("{\n    __shared__")
    path = tmp_path / "idle.cu"
    path.write_text(kernel.text[:body] + "{\n}\n")
    open_trusted(window, path)
    wait_recorded(window, qtbot)
    assert "64 wrong elements" in window.message_bar.text.text()
    (button,) = (button for button in window.message_bar.answers if button.isVisible())
    button.click()
    assert PANELS[window.inspector.currentIndex()] == "findings" and window.session.messages.current is None
    assert not window.stage.grab().isNull()
    qtbot.keyClick(window, Qt.Key.Key_Space)


@pytest.mark.parametrize("kind", ["folder", "huge", "pipe", "gone", "bytes", "link", "circle"])
def test_a_file_that_is_no_source_is_reported(window, tmp_path, kind):
    path = tmp_path / "x.cu"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "huge":
        path.write_text("x" * 2_000_000)
    elif kind == "bytes":
        path.write_bytes(b"\xff\xfe\x00" * 100)
    elif kind in ("link", "circle"):
        path.symlink_to("missing.cu" if kind == "link" else path.name)
    rungs = window.ladder.count()
    window.open_file(path)
    messages = {"folder": "x.cu is a folder", "pipe": "not a regular file", "huge": "1 MB"}
    messages |= {"gone": "no file", "link": "is a link to", "circle": "symbolic links", "bytes": "UTF-8"}
    assert messages[kind] in window.message_bar.text.text()
    assert window.ladder.count() == rungs


def test_a_killed_engine_is_reported_and_the_next_run_works(window, qtbot):
    window.session.choice.choose(problem=Problem.cube(96))
    window.controller.recording.record()
    qtbot.waitUntil(lambda: window.session.progress["record"] != ("Recording gputiled", None), timeout=RECORDING_MS)
    for child in multiprocessing.active_children():
        os.kill(child.pid, signal.SIGKILL)
    message = wait_message(window, qtbot)
    assert "The engine ended" in message.text and "SIGKILL" in message.text
    window.session.choice.auto = False
    window.session.choice.choose(problem=Problem.cube(8))
    assert message.answers[0].title == "Record again"
    message.answers[0].act()
    wait_recorded(window, qtbot)
    assert window.session.messages.current is None


def test_a_failed_listener_leaves_no_picture_of_the_previous_recording(window, qtbot):
    session = window.session
    small = session.cursor.playable
    window.stage.grab()
    session.choice.choose(problem=Problem(8, 8, 32))
    wait_recorded(window, qtbot)
    large = session.cursor.playable
    assert large.timeline.steps > small.timeline.steps
    session.playback.pause()
    session.cursor.show(small)
    window.stage.grab()

    def fail():
        raise ValueError("a fault somewhere else")

    session.cursor.recorded.connect(fail, priority=1)  # before the stage hears of it
    with pytest.raises(Exception, match="a fault somewhere else"):
        session.cursor.show(large)
    session.cursor.recorded.disconnect(fail)
    session.cursor.seek(large.timeline.steps - 1)
    assert not window.stage.grab().isNull()


def test_a_place_that_the_recording_does_not_have_is_not_chosen(window):
    session = window.session
    session.cursor.pick((2, 3), 1)
    for cell, block in (((99, 0), 10**6), ((2, 10**9), -1), ((-1, 0), 4)):
        session.cursor.pick(cell, block)
        assert (session.cursor.cell, session.cursor.block) == (None, 1)
        assert not window.stage.grab().isNull()


def test_a_very_long_message_leaves_room_for_the_stage(window, qtbot):
    width = window.width()
    for text in ("x" * 5000, "\n" * 300 + "end"):
        window.session.messages.tell(Message(text))
        qtbot.wait(20)
        assert window.width() == width
        assert window.message_bar.height() < 200 < window.stage.height()


def test_controls_do_not_overlap_in_the_smallest_window(window, qtbot):
    window.resize(100, 100)
    qtbot.wait(20)
    assert window.width() <= 1024 and window.height() <= 768
    qtbot.keyClick(window, Qt.Key.Key_S)
    qtbot.waitUntil(window.size_popover.isVisible)
    screen = window.screen().availableGeometry()
    assert screen.contains(window.size_popover.geometry()), "all of it is to be seen"
    size = window.recording.size_row
    widgets = [*size.boxes.values(), size.link]
    for left, right in pairwise(widgets):
        assert left.geometry().right() < right.geometry().left()
    assert size.geometry().right() < window.recording.order.geometry().left()


def test_a_recording_cancelled_leaves_the_window_ready(window, qtbot):
    window.session.choice.choose(problem=Problem.cube(96))  # a small one may be done before the key is
    window.controller.recording.record()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert "cancelled" in wait_message(window, qtbot).text
    window.session.choice.choose(problem=Problem.cube(8))
    window.controller.recording.record()
    wait_recorded(window, qtbot)
    assert window.session.messages.current is None


def test_rungs_chosen_quickly_end_with_the_last_one_on_the_stage(window, qtbot):
    session = window.session
    last = next(k for k in session.choice.kernels if k.backend == "cuda")
    for kernel in (*session.choice.kernels[::9], *session.choice.kernels[:4], last):
        session.choice.choose_kernel(kernel)
        qtbot.wait(10)
    wait_recorded(window, qtbot)
    assert session.cursor.playable.recording.kernel == last.name
    assert session.messages.current is None
