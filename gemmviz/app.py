"""Builds the objects of the window and hands them to each other."""

import argparse
import os
import signal
import sys
from pathlib import Path

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.session import Session

_FIRST = "gputiled"
_FIRST_SIZE = 8


def new_session(theme: str | None = None) -> Session:
    """Return a session that opens on a small tiled recording: 8 x 8 x 8 in 2 x 2 blocks."""
    kernels = ladder()
    session = Session(kernels, theme or "dark")
    session.choose(problem=Problem.cube(_FIRST_SIZE))
    session.choose_kernel(find(_FIRST, kernels))
    return session


def run_window(args: argparse.Namespace) -> int:
    """Open the window and stay until it is closed.

    Parameters
    ----------
    args
        ``file``: a kernel file to open, or None; ``theme``: ``"dark"``, ``"light"`` or None.

    Returns
    -------
    int
        0; or 2, after one line that says what to do, when there is no display or Qt lacks a system library.
    """
    from gemmviz.ui.display import missing

    problem = missing(os.environ)
    if problem is not None:
        print(f"gemmviz: {problem}", file=sys.stderr)
        return 2
    session = new_session(args.theme)
    from PySide6.QtCore import QTimer  # noqa: TID251 (the window's own entry: Qt is known to load)
    from PySide6.QtWidgets import QApplication  # noqa: TID251

    from gemmviz.engine.supervisor import Engine
    from gemmviz.ui.controller import Controller
    from gemmviz.ui.window import Window

    application = QApplication(sys.argv[:1])
    application.setApplicationName("gemmviz")
    application.setStyle("Fusion")
    window = Window(session, Controller(session, Engine))
    # Python runs a signal's handler only when it gets to run at all: the timer lets it, also while nothing happens.
    signal.signal(signal.SIGINT, lambda *_: window.close())
    signal.signal(signal.SIGTERM, lambda *_: window.close())
    heartbeat = QTimer()
    heartbeat.timeout.connect(lambda: None)
    heartbeat.start(200)
    window.show()
    QTimer.singleShot(0, window.controller.record)
    if args.file:
        QTimer.singleShot(0, lambda: window.open_file(Path(args.file)))
    return application.exec()
