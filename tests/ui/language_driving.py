"""The window of the program as it is replaced when the language changes."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from remembering_engine import RememberingEngine, ask_for_the_machine
from window_driving import wait_recorded

from gemmviz import language
from gemmviz.app import new_session
from gemmviz.control.controller import Controller
from gemmviz.language.catalogue import Catalogue
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.windows import Windows

KOREAN = {"Kernels": "커널", "Record": "기록", "Play": "재생", "Measure": "측정"}


@pytest.fixture
def windows(qtbot, monkeypatch):
    """The window of the program with a recording on the stage; the Korean catalogue has only a few texts."""
    monkeypatch.setitem(language._state, "ko", Catalogue(KOREAN, {}, lambda n: 0))
    monkeypatch.setattr("gemmviz.ui.look.korean.can_write_korean", lambda: True)
    session = new_session()
    ask_for_the_machine(session.permission.trust)
    windows = Windows(session, Controller(session, lambda: RememberingEngine(session.permission.trust), QtLoop()))
    windows.window.show()
    windows._controller.recording.play_next = False
    windows._controller.recording.record()
    wait_recorded(windows.window, qtbot)
    qtbot.waitUntil(lambda: bool(session.results.references))
    yield windows
    session.choice._drafts.clear()
    windows.window.close()
    assert not windows._controller.engines.recorder.running
    assert not [t for t in windows.window.findChildren(QTimer) if t.isActive()]
    windows.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    language.set_language("en")


def speak(windows, qtbot, code):
    """Change the language, and wait for the new window."""
    with qtbot.waitSignal(windows.exchanged):
        windows.session.preferences.speak(code)
