"""Qt's application with one window: opens it, shows it, and runs until it is closed."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gemmviz.control.controller import Controller
from gemmviz.control.worker import EngineLike
from gemmviz.sandbox import heap
from gemmviz.session import Session
from gemmviz.session.files import preferences_file
from gemmviz.session.files.drafts import Drafts
from gemmviz.session.rules.last_place import keep_place
from gemmviz.ui.known import qt
from gemmviz.ui.look import fonts
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.window.freed_memory import FreedMemory
from gemmviz.ui.window.garbage import collect_garbage_here
from gemmviz.ui.window.leaving import Leaving, offer
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.window import Window
from gemmviz.ui.window.windows import Windows

_STYLE = "fusion"
# Buttons of boxes have icons in another style where no desktop forbids it. Qt asks when it makes them.
_PLAIN_BUTTONS = "QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }"
_HEARTBEAT_MS = 200
_KEEPING_MS = 5000
# The largest size of the window: on a huge screen a teacher must still reach all of it.
_SHARE, _LARGEST = 0.9, QSize(1920, 1200)


def application() -> QApplication:
    """Return the application of the process. The first call makes it, in the Qt style that the themes need."""
    result = qt() if QApplication.instance() else QApplication(sys.argv[:1])
    result.setApplicationName("gemmviz")
    if result.styleSheet() != _PLAIN_BUTTONS:  # to set them again would style every widget anew
        result.setStyle(_STYLE)
        result.setStyleSheet(_PLAIN_BUTTONS)
    fonts.load(result)
    heap.keep_little()
    collect_garbage_here(result)
    open_fonts(result)
    return result


def fit(window: Window, screen: QSize) -> None:
    """Open the window maximised. Its normal size is nine tenths of the screen, up to its largest useful size."""
    window.resize((screen * _SHARE).boundedTo(_LARGEST))
    window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


def show(
    session: Session, make_engine: Callable[[], EngineLike], file: Path | None, opens_with_doors: bool = False
) -> int:
    """Open the window, record the chosen kernel, and stay until the window is closed.

    Parameters
    ----------
    session
        The session that the window shows.
    make_engine
        Makes an engine; see `Controller`.
    file
        A kernel file to open, or None.
    opens_with_doors
        Whether the command line chose nothing to show: then the doors are shown, if the user wants them.

    Returns
    -------
    int
        The exit code.
    """
    running = application()
    preferences_file.remember(session.preferences)
    keep_place(session.choice, session.tour, session.preferences)
    drafts = Drafts(session)
    windows = Windows(session, Controller(session, make_engine, QtLoop()))
    leaving = Leaving(windows, drafts)
    freed = FreedMemory(running)
    session.cursor.recorded.connect(freed.give_back_soon)
    garbage = collect_garbage_here(running)
    garbage.collected.connect(freed.give_back_soon)
    garbage.busy = lambda: session.playback.playing
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leaving.on_signal)
    # Python runs a signal handler only while it runs code: the timer lets it run even when the window is idle.
    heartbeat = QTimer()
    heartbeat.timeout.connect(lambda: None)
    heartbeat.start(_HEARTBEAT_MS)
    # A pause in typing saves the text; this timer saves it during typing without a pause.
    keeping = QTimer()
    keeping.timeout.connect(drafts.keep)
    keeping.start(_KEEPING_MS)
    # No reference to the window is kept here, because a new window replaces it when the language changes.
    fit(windows.window, running.primaryScreen().availableSize())
    windows.window.show()
    if file is not None:
        # If a file cannot be opened, the first recording is still made.
        QTimer.singleShot(0, lambda: windows.window.open_file(file))
    elif opens_with_doors and session.preferences.doors:
        windows.window.open_doors()
    QTimer.singleShot(0, windows.window.controller.recording.record)
    QTimer.singleShot(0, lambda: offer(session, drafts))
    code = running.exec()
    drafts.close(keep=leaving.at_once)
    if leaving.at_once and drafts.fault:
        print(f"gemmviz: edited text is lost: {drafts.fault}", file=sys.stderr)
    return code
