"""The bytes that launches move: kept for the shipped kernels, recorded at a small size for all others."""

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gemmviz.bench.model.counted_bytes import Counted, Key, kept, key_of
from gemmviz.bench.model.roofline import MovedBytes, moved_bytes, survey_size
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.control.worker import EngineLike, Worker
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Failed, RecordRequest, Reply
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.window.qt_loop import QtLoop


class TrafficSurvey(QObject):
    """The bytes that launches move, recorded in a separate engine that exists only while there are launches.

    Parameters
    ----------
    session
        The session with the kernels. The start of a measurement ends the survey, because it would disturb it.
    make_engine
        Makes the engine, in the worker's thread.
    """

    changed = Signal()
    """A result arrived, or the survey began or ended."""

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike]) -> None:
        super().__init__()
        self.session = session
        self.running = False
        self._known: dict[Key, Counted] = {}
        self._faults: dict[Key, str] = {}
        self._waiting: deque[tuple[Key, Kernel, Problem]] = deque()
        self._now: tuple[Key, Problem] | None = None
        self._run = 0
        self.worker = Worker("surveys", make_engine, QtLoop())
        self.worker.recorded.connect(self._on_recorded)
        self.worker.replied.connect(self._on_reply)
        listen(self, session.progress.changed, self._on_progress)

    def moved_by(self, row: Row) -> MovedBytes | None:
        """Return the bytes that a row's launch moves; None if its source and parameters were not recorded."""
        key = key_of(row)
        known = self._known.get(key) or kept().get(key)
        if known is None:
            return None
        recorded, arrays = known
        return moved_bytes(arrays, recorded, Problem(row["M"], row["N"], row["K"]))

    def missing(self, rows: list[Row]) -> list[Row]:
        """Return the rows whose launch can and may be recorded, and has not been recorded yet."""
        return [row for row in rows if not self._is_known(key_of(row)) and self._kernel(row) is not None]

    def fault(self, row: Row) -> str:
        """Return why a row's launch could not be recorded; empty if it was, or if it was not tried."""
        return self._faults.get(key_of(row), "")

    def _is_known(self, key: Key) -> bool:
        return key in self._known or key in self._faults or key in kept()

    def start(self, rows: list[Row]) -> None:
        """Record the launches of some rows, in this order."""
        missing = self.missing(rows)
        for row in missing:
            kernel = self._kernel(row)
            size = survey_size(kernel, row["params"]) if kernel else None
            if kernel and size:
                self._waiting.append((key_of(row), kernel, size))
            else:
                self._faults[key_of(row)] = tr("{kernel}: no small size is divided by its tiles", kernel=row["label"])
        if self._waiting:
            self._next()
        elif missing:
            self.changed.emit()

    def stop(self) -> None:
        """Drop the launches that are not recorded yet, and end the engine."""
        self._waiting.clear()
        self._now = None
        self.worker.stop()
        if self.running:
            self.running = False
            self.changed.emit()

    def _kernel(self, row: Row) -> Kernel | None:
        """Return the kernel of a row if the list still has exactly this source, and if it may run; else None."""
        for kernel in self.session.choice.kernels:
            if kernel.name == row["kernel"] and kernel.backend == "cuda" and kernel.sha256 == row["source_sha256"]:
                return kernel if self.session.permission.trust.allows(kernel.path, kernel.text) else None
        return None

    def _next(self) -> None:
        if not self._waiting:
            self.stop()
            return
        self.running = True
        key, kernel, size = self._waiting.popleft()
        self._run += 1
        self._now = key, size
        self.worker.submit(RecordRequest(self._run, **launched(kernel, size), params=dict(key[1])))
        self.changed.emit()

    def _on_recorded(self, run: int, playable: Playable) -> None:
        if run == self._run and self._now is not None:
            key, size = self._now
            self._known[key] = size, playable.traffic.arrays
            self._next()

    def _on_reply(self, reply: Reply) -> None:
        if isinstance(reply, Failed) and reply.run == self._run and self._now is not None:
            self._faults[self._now[0]] = reply.message
            self._next()

    def _on_progress(self, engine: str) -> None:
        if engine == "bench" and self.running and self.session.progress["bench"] is not None:
            self.stop()
