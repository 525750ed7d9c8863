# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The moment in which a large recording arrives."""

import pytest
from window_driving import need_qt, wait_shown

need_qt()

from PySide6.QtCore import QCoreApplication

from gemmviz.ui.stage import arrival


@pytest.fixture
def paints(window, qtbot, monkeypatch):
    """The paints of the stage after a recording has arrived."""
    window.show()
    wait_shown(window, qtbot)
    QCoreApplication.processEvents()
    painted, paint = [], window.stage._paint
    monkeypatch.setattr(window.stage, "_paint", lambda painter, part: (painted.append(1), paint(painter, part)))
    return painted


def arrive(window):
    recorder = window.controller.recording
    recorder._on_recorded(recorder._run, window.session.cursor.playable, None)
    QCoreApplication.sendPostedEvents()


def test_the_stage_is_painted_after_the_rest_of_the_window(window, qtbot, paints, monkeypatch):
    monkeypatch.setattr(arrival, "LARGE", 1)
    arrive(window)
    assert not paints and not window.stage.updatesEnabled()
    qtbot.waitUntil(lambda: bool(paints))
    assert window.stage.updatesEnabled()


def test_a_small_recording_is_shown_at_once(window, paints):
    arrive(window)
    assert paints and window.stage.updatesEnabled()
