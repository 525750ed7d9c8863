"""Qt's event loop, as the interface that `gemmviz.control` uses."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal


class QtLoop(QObject):
    """The loop of the thread that makes this object: see `gemmviz.control.event_loop.EventLoop`."""

    _posted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], object]) -> None:
        """Call a function soon, in this loop's thread; callable from any thread."""
        self._posted.emit(call)

    def _call(self, call: Callable[[], object]) -> None:
        call()

    def later(self, milliseconds: int, call: Callable[[], object]) -> QTimer:
        """Return a timer that calls a function once, after each start."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(call)
        return timer
