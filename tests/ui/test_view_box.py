# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The choice between the views as compiled and as written, in the window and in pictures."""

import pytest
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage

from gemmviz.cli import run
from gemmviz.session.files import snapshot
from gemmviz.ui.stage.caption import provenance

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


@pytest.fixture
def naive(window, qtbot):
    """The window with a kernel that adds to C in memory."""
    session = window.session
    session.choice.choose_kernel(next(k for k in session.choice.kernels if k.name == "gpumult0"))
    wait_recorded(window, qtbot)
    return window


def reads_of_c(window):
    return next(a.reads for a in window.session.cursor.playable.traffic.arrays if a.name == "C")


def choose(window, qtbot, text):
    """Open the box and click on one of its items, like a user."""
    box = window.view_box
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    items = box.view()
    qtbot.waitUntil(items.isVisible)
    place = items.visualRect(box.model().index(box.findText(text), 0)).center()
    qtbot.mouseMove(items.viewport(), place)
    qtbot.wait(QGuiApplication.styleHints().mouseDoubleClickInterval())  # otherwise it counts as a double click
    qtbot.mouseClick(items.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_clicks_switch_between_as_written_and_as_compiled(naive, qtbot):
    assert naive.view_box.currentText() == "as compiled" and reads_of_c(naive) == 0
    choose(naive, qtbot, "as written")
    wait_recorded(naive, qtbot)
    assert naive.session.choice.as_written and reads_of_c(naive) == 16**3
    assert all("as written" in text for text in provenance(naive.session.cursor.playable))
    assert naive.inspector.counters.heading.text() == "recorded as written"
    choose(naive, qtbot, "as compiled")
    wait_recorded(naive, qtbot)
    assert not naive.session.choice.as_written and reads_of_c(naive) == 0
    assert naive.inspector.counters.heading.text().startswith("recorded as compiled")


def test_keys_choose_the_view_too(naive, qtbot):
    qtbot.keyClick(naive, Qt.Key.Key_R, CTRL_ALT)
    wait_recorded(naive, qtbot)
    assert naive.session.choice.as_written and naive.view_box.currentText() == "as written"
    naive.view_box.setFocus()
    qtbot.keyClick(naive.view_box, Qt.Key.Key_Up)
    wait_recorded(naive, qtbot)
    assert not naive.session.choice.as_written


def test_until_the_next_recording_the_picture_is_labelled_with_its_view(naive, qtbot):
    naive.recording.auto.setChecked(False)
    choose(naive, qtbot, "as written")
    assert naive.session.staged.outdated
    assert provenance(naive.session.cursor.playable, naive.session.staged.outdated)[0].startswith("recorded before")


def test_the_choice_is_hidden_in_a_lesson_and_on_other_pages(naive, qtbot):
    qtbot.keyClick(naive, Qt.Key.Key_S)
    assert naive.view_box.isVisible()
    naive.size_popover.close()
    naive.pages.turn_to("charts")
    assert not naive.view_box.isVisible()
    qtbot.keyClick(naive, Qt.Key.Key_S)
    assert naive.pages.name() == "stage" and naive.view_box.isVisible()
    naive.size_popover.close()
    qtbot.keyClick(naive, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: naive.session.tour.at == 0)
    qtbot.keyClick(naive, Qt.Key.Key_S)
    assert not naive.view_box.isVisible()
    naive.session.guide.leave()
    qtbot.keyClick(naive, Qt.Key.Key_S)
    assert naive.view_box.isVisible()
    wait_recorded(naive, qtbot)


def test_a_demo_is_shown_as_compiled(naive, qtbot):
    choose(naive, qtbot, "as written")
    wait_recorded(naive, qtbot)
    qtbot.mouseClick(naive.tour_bar.demo_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not naive.session.demonstration.waiting)
    assert naive.view_box.currentText() == "as compiled" and not naive.session.cursor.playable.recording.as_written


def test_a_state_restores_the_view(naive, qtbot):
    choose(naive, qtbot, "as written")
    wait_recorded(naive, qtbot)
    naive.session.playback.pause()
    naive.session.cursor.seek(30)
    plain = snapshot.take(naive.session)
    choose(naive, qtbot, "as compiled")
    wait_recorded(naive, qtbot)
    snapshot.apply(naive.session, plain)
    wait_recorded(naive, qtbot)
    qtbot.waitUntil(lambda: naive.session.cursor.step == 30)
    assert naive.view_box.currentText() == "as written" and reads_of_c(naive) == 16**3


def test_both_rungs_side_by_side_are_recorded_in_the_same_view(naive, qtbot):
    session = naive.session
    session.side_by_side.start_named("gpumult1")
    qtbot.waitUntil(lambda: session.comparison.match is not None)
    choose(naive, qtbot, "as written")
    wait_recorded(naive, qtbot)
    qtbot.waitUntil(lambda: session.comparison.match is not None)
    assert all(playable.recording.as_written for playable in session.side_by_side.pair)


def test_a_picture_is_labelled_with_its_view(qapp, tmp_path):
    pictures = []
    for extra in ([], ["--as-written"]):
        path = tmp_path / f"{len(extra)}.svg"
        assert run(["render", "gpumult0", "--step", "5", *extra, "-o", str(path)]) == 0
        pictures.append(path.read_text())
        assert run(["render", "gpumult0", "--step", "5", "--window", *extra, "-o", str(path.with_suffix(".png"))]) == 0
        assert not QImage(str(path.with_suffix(".png"))).isNull()
    assert ["as compiled" in text for text in pictures] == [True, False]
    assert ["as written" in text for text in pictures] == [False, True]
