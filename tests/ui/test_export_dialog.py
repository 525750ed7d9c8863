# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Exporting steps from the window, which stays usable meanwhile."""

import queue
import sys
import threading

import pytest
from PIL import Image
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QMessageBox

from gemmviz.ui.export.dialog import ExportDialog
from gemmviz.ui.export.job import FilmJob

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
LONG_MS = 60_000


@pytest.fixture
def dialog(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_P, CTRL | SHIFT)
    dialog = window.findChild(ExportDialog)
    dialog.pixels.setEditText("320 x 240")
    return dialog


@pytest.fixture
def save_as(monkeypatch):
    """Answers the question where to save."""
    return lambda path: monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def export(dialog, qtbot):
    qtbot.mouseClick(dialog.export_button, Qt.MouseButton.LeftButton)


def choose(dialog, suffix):
    dialog.kind.setCurrentIndex(dialog.kind.findData(suffix))


def test_the_dialog_offers_the_played_range_and_shows_the_length_and_size_of_the_film(window, qtbot):
    window.session.playback.set_loop_range(3, 12)
    dialog = window.saver.export()
    assert (dialog.first.value(), dialog.last.value(), dialog.every.value()) == (4, 13, 0)
    # Nine steps at 0.6 s each, and the last frame for 1.5 s.
    assert "69 frames" in dialog.summary.text() and "6.9 s" in dialog.summary.text()
    dialog.every.setValue(1)
    assert "10 frames" in dialog.summary.text()
    dialog.every.setValue(0)
    qtbot.waitUntil(lambda: "about" in dialog.summary.text(), timeout=LONG_MS)
    dialog.last.setValue(3)
    assert "holds no step" in dialog.summary.text() and not dialog.export_button.isEnabled()
    dialog.last.setValue(13)
    dialog.pixels.setEditText("huge")
    assert "960 × 720" in dialog.summary.text() and not dialog.export_button.isEnabled()


def test_a_gif_is_made_while_the_window_stays_usable(window, dialog, qtbot, tmp_path, save_as):
    path = tmp_path / "film.gif"
    save_as(tmp_path / "film")  # the suffix is added
    dialog.every.setValue(1)
    export(dialog, qtbot)
    assert dialog.progress.isVisible() and not dialog.export_button.isEnabled()
    qtbot.waitUntil(lambda: dialog.progress.value() > 2, timeout=LONG_MS)
    assert not path.exists()
    window.session.cursor.seek(7)  # neither stepping nor another theme touches the film
    window.session.preferences.set_theme("light")
    qtbot.waitUntil(path.exists, timeout=LONG_MS)
    with Image.open(path) as film:
        assert film.n_frames == window.session.cursor.steps and film.size == (320, 240)
        assert film.convert("RGB").getpixel((2, 230))[0] < 60  # dark
    assert str(path) in window.session.messages.current.text
    assert [p.name for p in tmp_path.glob("*film*")] == ["film.gif"]


def begin(dialog, qtbot, folder, save_as):
    """Start a film, and wait until some of it is there."""
    save_as(folder / "film.gif")
    export(dialog, qtbot)
    qtbot.waitUntil(lambda: dialog.progress.value() > 1, timeout=LONG_MS)
    assert list(folder.iterdir())
    return dialog.job


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_a_film_that_is_cancelled_leaves_no_file(window, dialog, qtbot, folder, save_as):
    job = begin(dialog, qtbot, folder, save_as)
    qtbot.mouseClick(dialog.close_button, Qt.MouseButton.LeftButton)
    assert "no file" in dialog.summary.text() and dialog.export_button.isEnabled()
    assert not job._thread.is_alive() and not list(folder.iterdir())
    job = begin(dialog, qtbot, folder, save_as)
    dialog.close()
    assert not job._thread.is_alive() and not list(folder.iterdir())


def test_closing_the_window_ends_the_film(window, dialog, qtbot, folder, save_as):
    job = begin(dialog, qtbot, folder, save_as)
    window.files.may_close = lambda: True
    window.close()
    assert not job._thread.is_alive() and not list(folder.iterdir())


class TakenQueue(queue.Queue):
    """A queue whose last frame the encoder takes just after somebody has seen that it is not empty."""

    def empty(self):
        seen = super().empty()
        self.queue.clear()
        return seen


def test_a_film_is_cancelled_while_its_encoder_takes_the_last_frame(tmp_path, qapp):
    job = FilmJob.__new__(FilmJob)
    job._queue, job._thread = TakenQueue(), threading.Thread(target=lambda: job._queue.get())
    job._queue.put("a frame")
    job._queue.put("another frame")
    cancelling = threading.Thread(target=job._stop_thread, daemon=True)
    job._thread.start()
    cancelling.start()
    cancelling.join(timeout=240)
    assert not cancelling.is_alive()


def test_a_failed_export_is_reported_and_leaves_no_file(window, dialog, qtbot, folder, save_as, monkeypatch):
    def fail(*_):
        raise OSError("the disk is full")

    save_as(folder / "nowhere" / "film.gif")
    export(dialog, qtbot)
    assert "cannot write" in dialog.summary.text() and dialog.isVisible()
    save_as(folder / "film.gif")
    with monkeypatch.context() as patch:
        patch.setattr("gemmviz.ui.export.job.open_writer", fail)
        export(dialog, qtbot)
        qtbot.waitUntil(lambda: "the disk is full" in dialog.summary.text(), timeout=LONG_MS)
    assert not list(folder.iterdir()) and not dialog.progress.isVisible()
    monkeypatch.setitem(sys.modules, "av", None)
    choose(dialog, ".mp4")
    assert "gemmviz[video]" in dialog.summary.text() and not dialog.export_button.isEnabled()


def test_a_question_is_asked_if_the_added_suffix_gives_an_existing_file(
    window, dialog, qtbot, tmp_path, save_as, monkeypatch
):
    path = tmp_path / "film.png"
    path.write_text("old")
    choose(dialog, ".png")
    save_as(tmp_path / "film")
    buttons = QMessageBox.StandardButton
    monkeypatch.setattr(QMessageBox, "question", lambda *_: buttons.No)
    export(dialog, qtbot)
    assert path.read_text() == "old"
    monkeypatch.setattr(QMessageBox, "question", lambda *_: buttons.Yes)
    dialog.pixels.setEditText("320 × 240")
    export(dialog, qtbot)
    assert QImage(str(path)).width() == 320
    assert [p.name for p in tmp_path.glob("film*")] == ["film.png"]


def test_a_step_becomes_an_svg(window, dialog, qtbot, tmp_path, save_as):
    choose(dialog, ".svg")
    dialog.step.setValue(13)
    save_as(tmp_path / "stage.svg")
    export(dialog, qtbot)
    text = (tmp_path / "stage.svg").read_text()
    assert "<svg" in text and "Step 13" in text and "<image" not in text


def test_without_a_recording_there_is_nothing_to_export(make_window):
    window = make_window()
    assert window.saver.export() is None
    assert "record a kernel" in window.session.messages.current.text
