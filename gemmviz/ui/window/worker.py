"""The thread that drives one engine: requests go in through a queue, replies come out as signals."""

import queue
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Protocol

from PySide6.QtCore import QThread, Signal

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.checking.waste import wasted
from gemmviz.engine.messages import Failed, Recorded, Reply, Request
from gemmviz.trace import untrusted
from gemmviz.trace.playable import Playable
from gemmviz.trace.untrusted import Damaged


class EngineLike(Protocol):
    """What the worker needs of an engine: see `gemmviz.engine.supervisor.Engine`."""

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """Yield the replies to a request; end soon after `cancel` is set."""

    def close(self) -> None:
        """End the engine's process; any thread may call it."""


class Worker(QThread):
    """One persistent thread that owns one engine.

    A new request takes the place of the one that runs and of all that wait. Cancelling sets a `threading.Event`, which
    takes effect while the engine is at work; a queued slot would arrive after the work it should stop.

    Parameters
    ----------
    name
        For debuggers.
    make_engine
        Makes the engine, in this thread, when the first request comes.
    """

    replied = Signal(object)
    """A `Reply`, in the order in which the engine gave them; a recording goes out by `recorded` instead."""
    recorded = Signal(int, object, object)
    """(run, `Playable`, the `Report` of what is wrong with it, or None where it was too large to look)."""
    computed = Signal(object)
    """What a function given to `compute` returned."""

    def __init__(self, name: str, make_engine: Callable[[], EngineLike]) -> None:
        super().__init__()
        self.setObjectName(name)
        self._make_engine = make_engine
        self._requests: queue.SimpleQueue[tuple[Request, threading.Event] | Callable[[], object] | None] = (
            queue.SimpleQueue()
        )
        self._latest = threading.Event()
        self._engine: EngineLike | None = None

    def submit(self, request: Request) -> None:
        """Start a request; the one before it is cancelled."""
        self._latest.set()
        self._latest = threading.Event()
        self._requests.put((request, self._latest))
        if not self.isRunning():
            self.start()

    def compute(self, work: Callable[[], object]) -> None:
        """Run a function in the thread, behind what waits there; its result goes out by `computed`."""
        self._requests.put(work)
        if not self.isRunning():
            self.start()

    def cancel(self) -> None:
        """Cancel whatever runs or waits."""
        self._latest.set()

    def kill(self) -> None:
        """Cancel, and end the engine's process at once: whatever a kernel does there, the thread goes on."""
        self.cancel()
        engine = self._engine
        if engine is not None:
            engine.close()

    def stop(self) -> None:
        """End the engine's process and the thread, and wait for both."""
        self.kill()
        self._requests.put(None)
        if self.isRunning():
            self.wait()

    def run(self) -> None:
        """Serve requests until `stop` (in the thread)."""
        try:
            while self._serve_next():
                pass
        finally:
            if self._engine is not None:
                self._engine.close()

    def _serve_next(self) -> bool:
        """Wait for a request and serve it; False when there is none to come.

        What was asked and answered is let go at the end: a thread that waits keeps no recording.
        """
        item = self._requests.get()
        if item is None:
            return False
        if callable(item):
            self.computed.emit(item())
            return True
        request, cancel = item
        if cancel.is_set():
            self.replied.emit(Failed(request.run, "cancelled", "cancelled"))
            return True
        try:
            self._engine = self._engine or self._make_engine()
            for reply in self._engine.run(request, cancel):
                if isinstance(reply, Recorded):
                    playable = playable_of(reply)
                    self.recorded.emit(reply.run, playable, report_of(reply, playable))
                else:
                    self.replied.emit(reply)
        except Damaged as error:
            self.replied.emit(Failed(request.run, "crash", str(error)))
        except Exception as error:
            # Whatever goes wrong here must end as a message, not as a dead thread.
            traceback.print_exc()
            self.replied.emit(Failed(request.run, "internal", f"{type(error).__name__}: {error}"))
        return True


def playable_of(reply: Recorded) -> Playable:
    """Unpack a recording, ready to show: done in the worker, so that the window's thread need not."""
    recording = untrusted.recording_of(reply.recording)
    timeline = untrusted.timeline_of(reply.timeline, recording)
    return Playable(recording, timeline, untrusted.traffic_of(reply.traffic, recording, timeline)).prepare()


def report_of(reply: Recorded, playable: Playable) -> Report | None:
    """Return what is wrong with a recording and what it costs; None where nobody has looked."""
    if reply.findings is None:
        return None
    recording = playable.recording
    costs = wasted(playable.traffic.sites, recording) if recording.backend == "cuda" else []
    problem = Problem(recording.m, recording.n, recording.k)
    return Report(recording.label, problem, recording.params, reply.findings, costs)
