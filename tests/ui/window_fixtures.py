"""The real window, offscreen, with the real engine."""

import multiprocessing
import threading
import time

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from remembering_engine import RememberingEngine, ask_for_the_machine
from shared_window import SharedWindow, rests

from gemmviz.app import new_session
from gemmviz.catalogue.ladder import ladder
from gemmviz.control.controller import Controller
from gemmviz.language import set_language
from gemmviz.session import Session
from gemmviz.ui import connections
from gemmviz.ui.charts.measure_page import MeasurePage
from gemmviz.ui.inspect.inspector import Inspector
from gemmviz.ui.look import fonts
from gemmviz.ui.look.style import set_scale, style_sheet
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.source.source_side import SourceSide
from gemmviz.ui.window.garbage import collect_garbage_here
from gemmviz.ui.window.late_tasks import load_references
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.window import Window

PATIENCE_MS = 240_000


@pytest.fixture(scope="session")
def qapp(qapp):
    qapp.setStyle("Fusion")
    fonts.load(qapp)
    collect_garbage_here(qapp)
    return qapp


@pytest.fixture
def qtbot(qtbot):
    """Waits as long as a busy machine may need, because no test measures speed."""
    wait_until = qtbot.waitUntil
    qtbot.waitUntil = lambda callback, *, timeout=PATIENCE_MS: wait_until(callback, timeout=timeout)
    return qtbot


@pytest.fixture(autouse=True)
def usual_type(qapp):
    """Restores the application's size of type and language for the next test."""
    yield
    set_scale(1.0)
    set_language("en")


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    """Keeps the runs of tests out of the user's data folder, also in the engine's process."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def make_window(qapp):
    """Makes windows, and checks afterwards that no thread, no process and no timer of theirs is left."""
    windows = []

    def make(theme="dark"):
        windows.append(_opened(theme))
        return windows[-1]

    yield make
    for window in reversed(windows):
        _end(window)


_before = {}
"""Each open window, in the order in which they were opened, with the threads and the processes that ran before."""


def _opened(theme="dark"):
    """Return a new window that has read the measurements of other machines."""
    before = {*threading.enumerate()}, {*multiprocessing.active_children()}
    session = new_session(theme)
    ask_for_the_machine(session.permission.trust)
    window = Window(session, Controller(session, lambda: RememberingEngine(session.permission.trust), QtLoop()))
    _before[window] = before
    window.show()
    assert wait_until(lambda: bool(session.results.references))
    return window


def _end(window):
    window.files.may_close = lambda: True  # a test cannot answer the question
    window.close()
    timers = window.findChildren(QTimer) + window.controller.engines.loop.findChildren(QTimer)
    assert timers and not [t for t in timers if t.isActive()]
    windows = [*_before]
    later = windows[windows.index(window) + 1 :]
    threads, processes = _before.pop(window)
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if later:  # the next window may have started what is left: it is looked for when that one is closed
        _before[later[0]] = threads, processes
        return
    assert wait_until(lambda: not {*multiprocessing.active_children()} - processes)
    wait_until(lambda: not threads_of_ours(threads))  # an import goes on until its end
    assert threads_of_ours(threads) == []


def wait_until(holds, patience_ms=PATIENCE_MS):
    """Wait until something holds, and return True; False if it does not in time."""
    end = time.monotonic() + patience_ms / 1000
    while not holds():
        if time.monotonic() > end:
            return False
        QTest.qWait(5)
    return True


def threads_of_ours(before):
    """Return the names of the running threads that were started since then; threads of Qt have no names."""
    return [t.name for t in threading.enumerate() if t not in before and not t.name.startswith("Dummy")]


@pytest.fixture
def make_inspector(qtbot):
    """Makes the tabs beside the stage for a session without a window and without engines."""

    def make(width, height):
        session = Session(ladder(), "dark")
        inspector = Inspector(session, SourceSide(session))
        qtbot.addWidget(inspector)
        inspector.resize(width, height)
        inspector.show()
        return inspector

    return make


@pytest.fixture(scope="session")
def shared_window(qapp):
    """The window that the tests of a process share; see `shared_window`."""
    yield _shared
    _shared.close()


@pytest.fixture(scope="module", autouse=True)
def no_other_window(request):
    """Closes the shared window before a file whose tests do not use it."""
    tests = (test for test in request.session.items if test.path == request.path)
    if not any("shared_window" in test.fixturenames for test in tests):
        _shared.close()


def _with_recording(make=_opened):
    window = make()
    window.controller.recording.play_next = False
    window.controller.recording.record()
    # The answer about the machine comes at any time, and the strip shows references only after it.
    assert wait_until(lambda: rests(window) and bool(window.session.results.device))
    return window


_shared = SharedWindow(_with_recording, _end, wait_until)


@pytest.fixture
def window(request, qtbot, shared_window):
    """A window with its first recording on the stage, paused at the first step."""
    if request.node.get_closest_marker("new_window"):
        window = _with_recording(request.getfixturevalue("make_window"))
    else:
        window = shared_window.take()
        request.addfinalizer(shared_window.give_back)
    window.activateWindow()
    qtbot.waitUntil(lambda: window.isActiveWindow())
    return window


class _PageAlone(QWidget):
    """A page where a window would be: with a session and the window's style."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setStyleSheet(style_sheet(THEMES[session.preferences.theme], session.preferences.type_scale))
        self.charts = MeasurePage(session)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.charts)


@pytest.fixture
def charts(qtbot):
    """The charts of a session without an engine, as large as in a window of 1280 x 800; `window()` has the session."""
    session = new_session("dark")
    load_references(session)
    alone = _PageAlone(session)
    qtbot.addWidget(alone)
    alone.resize(934, 767)
    alone.show()
    alone.charts.refresh()
    qtbot.wait(20)
    yield alone.charts
    alone.charts.stop()
    connections.close(alone)


@pytest.fixture
def charts_in_window(make_window, qtbot):
    """The charts on their page of a window."""
    window = make_window()
    window.resize(1280, 800)
    window.pages.turn_to("charts")
    qtbot.wait(20)
    return window.charts
