"""The real window, offscreen, driven by the scripts that make pictures for the pages."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


IMAGES = Path(__file__).parent / "images"
_PATIENCE_S, _REST_S = 300.0, 0.7
_REST_TURNS = 20


class DrivenWindow:
    """A window that shows recordings of its own engines, and is at rest before a picture of it is taken.

    Parameters
    ----------
    width, height
        The window's size in pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        from PySide6.QtWidgets import QApplication

        from gemmviz.app import new_session
        from gemmviz.control.controller import Controller
        from gemmviz.engine.supervisor import Engine
        from gemmviz.ui.look import fonts
        from gemmviz.ui.window.qt_loop import QtLoop
        from gemmviz.ui.window.window import Window

        running = QApplication.instance()
        self.qt = running if isinstance(running, QApplication) else QApplication([])
        self.qt.setStyle("Fusion")
        fonts.load(self.qt)
        self.session = session = new_session()
        self.window: Window = Window(session, Controller(session, lambda: Engine(session.permission.trust), QtLoop()))
        self.window.controller.recording.play_next = False
        self.window.resize(width, height)
        self.window.show()

    def wait(self, there: Callable[[], bool]) -> None:
        """Wait until something is true, and then until the layout is at rest.

        The layout needs turns of the event loop, not only time: one turn of a busy machine can take all of the time.

        Raises
        ------
        TimeoutError
            When that takes more than five minutes.
        """
        start = rest = time.monotonic()
        turns = 0
        while turns < _REST_TURNS or time.monotonic() - rest < _REST_S:
            self.qt.processEvents()
            time.sleep(0.01)
            turns += 1
            if not there():
                rest, turns = time.monotonic(), 0
            if rest - start > _PATIENCE_S:
                raise TimeoutError("the window did not come to rest")

    def recorded(self) -> bool:
        """Return whether the chosen kernel's recording is on the stage."""
        playable, kernel = self.session.cursor.playable, self.session.choice.kernel
        return (
            self.session.progress["record"] is None
            and playable is not None
            and (playable.recording.sha256 == kernel.sha256)
        )

    def choose(self, name: str) -> None:
        """Choose a kernel by name, and wait for its demo, at rest."""
        session = self.session
        session.choice.choose_kernel(next(kernel for kernel in session.choice.kernels if kernel.name == name))
        session.demonstration.show()
        self.wait(lambda: self.recorded() and not session.demonstration.waiting)
        session.playback.pause()

    def save(self, name: str, widget: "QWidget | None" = None) -> None:
        """Save a picture of the window, or of another widget, and print its size."""
        path = IMAGES / name
        (widget or self.window).grab().save(str(path))
        print(f"{path.stat().st_size / 1e3:6.0f} kB  {name}")


@contextmanager
def driven_window(width: int, height: int) -> Iterator[DrivenWindow]:
    """Open a window whose settings and trusted texts are those of a new user; close it at the end."""
    with tempfile.TemporaryDirectory() as own:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ[variable] = str(Path(own, variable))
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        driven = DrivenWindow(width, height)
        try:
            driven.window.controller.recording.record()
            results = driven.session.results
            # Without the machine's name no figure of a reference is shown.
            driven.wait(lambda: driven.recorded() and bool(results.device and results.references))
            driven.session.playback.pause()
            yield driven
        finally:
            driven.window.end()
