"""The engines of one window, a thread for each, and the numbers of their runs."""

from collections.abc import Callable
from itertools import count
from threading import Thread
from time import monotonic

from psygnal import Signal

from gemmviz.control.event_loop import EventLoop
from gemmviz.control.worker import CLOSING_S, EngineLike, Worker


class Engines:
    """One engine records, one measures, one records the second rung, one makes listings, one compares versions.

    No engine waits for another one.

    Parameters
    ----------
    make_engine
        Makes an engine; called in each worker's thread, at its first request.
    loop
        The event loop of the session's thread.
    make_measuring
        Makes the measuring engine, which may be on another machine; None: as the others.
    """

    cancelled = Signal()
    """All running and waiting requests are being stopped: other users of the engines must not start their next one."""

    def __init__(
        self,
        make_engine: Callable[[], EngineLike],
        loop: EventLoop,
        make_measuring: Callable[[], EngineLike] | None = None,
    ) -> None:
        self.loop = loop
        self.recorder = Worker("records", make_engine, loop)
        self.second = Worker("records beside", make_engine, loop)
        self.bench = Worker("measures", make_measuring or make_engine, loop)
        self.assembler = Worker("assembles", make_engine, loop)
        self.versions = Worker("compares versions", make_engine, loop)
        self.looker = Worker("looks for devices", make_engine, loop)
        self._further: list[Worker] = []
        self._runs = count(1)

    @property
    def workers(self) -> tuple[Worker, ...]:
        """All of them."""
        fixed = self.recorder, self.second, self.bench, self.assembler, self.versions, self.looker
        return *fixed, *self._further

    def add(self, name: str, make_engine: Callable[[], EngineLike]) -> Worker:
        """Return a further worker, which is cancelled and closed with the others.

        Parameters
        ----------
        name
            For debuggers.
        make_engine
            Makes its engine.
        """
        worker = Worker(name, make_engine, self.loop)
        self._further.append(worker)
        return worker

    def remove(self, worker: Worker) -> None:
        """Close a worker that `add` has returned."""
        self._further.remove(worker)
        worker.close()

    def next_run(self) -> int:
        """Return a number for a request: replies carry it, so that several can share an engine."""
        return next(self._runs)

    def cancel(self) -> None:
        """Stop recording and measuring."""
        self.cancelled.emit()
        for worker in self.workers:
            worker.cancel()

    def close(self) -> None:
        """End the engines and their threads."""
        self.cancelled.emit()
        # First all processes are ended, at the same time, and then the threads: each end of a process is waited for.
        ends = [Thread(target=worker.kill, name="ends an engine") for worker in self.workers]
        for end in ends:
            end.start()
        for end in ends:
            end.join()
        until = monotonic() + CLOSING_S
        for worker in self.workers:
            worker.close(max(0.0, until - monotonic()))
