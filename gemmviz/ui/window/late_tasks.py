"""Tasks after the first paint of a window: they read files, open fonts, and import the modules of other pages."""

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from threading import Thread
from time import monotonic

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QWidget

from gemmviz import data
from gemmviz.bench.model import devices
from gemmviz.catalogue.lens_names import LENSES
from gemmviz.session import Message, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.known import qt
from gemmviz.ui.lenses.by_name import module_of
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.window.gradual_import import gradually, resolve

_KEPT_MS, _FIRST_LOOK_MS, _BREATH_MS, _LOOK_AGAIN_MS = 120, 1500, 30, 400
_END = object()
_TABS = ("origin_panel", "warp_panel", "counters", "thread_panel", "assembly_tab")


class LateTasks(QObject):
    """Starts after the first paint of a window and runs one task after another, with pauses.

    Parameters
    ----------
    window
        The window.
    session
        The session that the window shows.
    """

    def __init__(self, window: QWidget, session: Session) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        session.results.reading = not session.results.references
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._do_next)
        self._tasks = self._all()
        self._chosen = 0.0
        listen(self, session.choice.chosen, self._on_chosen)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the first paint."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._timer.start(0)
        return False

    def _on_chosen(self) -> None:
        self._chosen = monotonic()

    def _do_next(self) -> None:
        wait_ms = next(self._tasks, None)
        if wait_ms is not None:
            self._timer.start(wait_ms)

    def _all(self) -> Iterator[int]:
        """Run the tasks; yield the pause after each, in milliseconds."""
        for _ in gradually("gemmviz.ui.stage.painter"):  # the recording comes soon
            yield 0
        yield _KEPT_MS  # a recording from the cache comes first; another one is still being made then
        self._window.setWindowIcon(QIcon(str(data.root("resources") / "icons" / "gemmviz.svg")))
        devices.published()  # the views of a recording ask for it
        yield 0
        from gemmviz.proving import proofs

        proofs.kept()
        yield 0
        load_references(self._session)
        yield _FIRST_LOOK_MS  # the first recording comes first
        yield from self._for_later()

    def _for_later(self) -> Iterator[int]:
        """Let lenses, tabs and other pages open faster; while nothing moves, as a frame has no time for a module."""
        pieces = chain(
            *(gradually(name) for name in (*map(module_of, LENSES), *(f"gemmviz.ui.inspect.{tab}" for tab in _TABS))),
            _other_fonts(),
            gradually("gemmviz.control.claims_runner"),
            resolve((QtCore, QtGui, QtWidgets)),
            _charts_library(),
            gradually("gemmviz.ui.charts.measure_page"),
            gradually("gemmviz.ui.claims.claims_page"),
        )
        while True:
            while self._busy():
                yield _LOOK_AGAIN_MS
            if next(pieces, _END) is _END:
                return
            yield _BREATH_MS

    def _busy(self) -> bool:
        """Return whether a kernel was just chosen or is measured, or a recording plays, is made or arrives."""
        progress = self._session.progress
        if monotonic() - self._chosen < _LOOK_AGAIN_MS / 1000:
            return True
        return self._session.playback.playing or any(progress[engine] is not None for engine in progress)


def _other_fonts() -> Iterator[None]:
    fonts = open_fonts(qt())
    while fonts.open_next():  # some milliseconds each
        yield


def _charts_library() -> Iterator[None]:
    """Import pyqtgraph, which takes 150 ms in one piece: in a thread, as it makes no object of Qt meanwhile."""
    thread = Thread(target=import_module, args=("pyqtgraph",), name="imports")
    thread.start()
    while thread.is_alive():
        yield


def load_references(session: Session) -> None:
    """Read the measurements and proofs of other machines, unless the session has them already."""
    results = session.results
    if results.references:
        results.reading = False
        return
    from gemmviz.bench import reference_results  # late: after the first paint
    from gemmviz.proving import proofs

    references, faults = reference_results.load()
    results.set_references(references)
    results.set_proofs(proofs.kept())
    if faults:
        session.messages.tell(Message("\n".join(faults), "warning", lasting=True))
