# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The moment in which a kernel is chosen or a recording arrives."""

import pytest
from window_driving import need_qt, wait_shown

need_qt()

from PySide6.QtCore import QCoreApplication

from gemmviz.catalogue.problem import Problem


@pytest.fixture
def paints(window, qtbot, monkeypatch):
    """The paints of the stage from now on."""
    window.show()
    wait_shown(window, qtbot)
    qtbot.waitUntil(window.stage.updatesEnabled)
    QCoreApplication.processEvents()
    painted, paint = [], window.stage._paint
    monkeypatch.setattr(window.stage, "_paint", lambda painter, part: (painted.append(1), paint(painter, part)))
    return painted


def arrive(window):
    recorder = window.controller.recording
    recorder._on_recorded(recorder._run, window.session.cursor.playable, None)


def choose(window):
    window.session.choice.choose(problem=Problem.cube(16))


@pytest.mark.parametrize("happens", [arrive, choose])
def test_the_stage_is_painted_after_the_rest_of_the_window(window, qtbot, paints, happens):
    happens(window)
    QCoreApplication.sendPostedEvents()
    assert not paints and not window.stage.updatesEnabled()
    qtbot.waitUntil(lambda: bool(paints))
    assert window.stage.updatesEnabled()


def test_the_painter_is_made_before_the_turn_in_which_it_paints(window, paints, qtbot, monkeypatch):
    stage, made, make = window.stage, [], window.stage.make_painter
    monkeypatch.setattr(
        stage, "make_painter", lambda of: (made.append((len(paints), stage.updatesEnabled())), make(of))[1]
    )
    arrive(window)
    assert stage._painter is None
    qtbot.waitUntil(lambda: bool(paints))
    assert made == [(0, False)]
