"""The thread that drives one engine: it takes requests from a queue, and emits replies as signals in the loop's thread.

It is a plain thread without an event loop, so it needs no Qt.
"""

import queue
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Protocol

from psygnal import Signal

from gemmviz.control.event_loop import EventLoop
from gemmviz.control.unpacking import playable_of, report_of
from gemmviz.engine.messages import Failed, Recorded, Reply, Request
from gemmviz.trace.untrusted import Damaged

CLOSING_S = 0.3
"""The time in seconds for which the end of a program waits for its threads, all together."""


class EngineLike(Protocol):
    """The part of an engine that the worker uses: see `gemmviz.engine.supervisor.Engine`."""

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """Yield the replies to a request; end soon after `cancel` is set."""

    def close(self) -> None:
        """End the engine's process; any thread may call it."""


class Worker:
    """One persistent thread that owns one engine.

    A new request replaces the running request and all waiting ones. Cancelling sets a `threading.Event`, which has an
    effect while the engine is working; a queued call would arrive after the work that it should stop.

    Parameters
    ----------
    name
        For debuggers.
    make_engine
        Creates the engine, in this thread, at the first request, and at the first one after `stop`.
    loop
        The event loop of the thread in which the signals are emitted.
    """

    replied = Signal(object)
    """A `Reply`, in the order of the engine; a recording with a timeline is emitted by `recorded`."""
    recorded = Signal(int, object, object)
    """(run, `Playable`, the `Report` of its defects, or None if it was too large to check)."""
    computed = Signal(object)
    """The result of a function given to `compute`."""

    def __init__(self, name: str, make_engine: Callable[[], EngineLike], loop: EventLoop) -> None:
        self.name = name
        self._make_engine = make_engine
        self._loop = loop
        self._requests: queue.SimpleQueue[tuple[Request, threading.Event] | Callable[[], object] | None] = (
            queue.SimpleQueue()
        )
        self._latest = threading.Event()
        self._engine: EngineLike | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None and self._thread.is_alive()

    def submit(self, request: Request) -> None:
        """Start a request; the one before it is cancelled. After `close` nothing is started."""
        self._latest.set()
        self._latest = threading.Event()
        self._put((request, self._latest))

    def compute(self, work: Callable[[], object]) -> None:
        """Run a function in the thread, after the waiting requests; `computed` emits its result."""
        self._put(work)

    def cancel(self) -> None:
        """Cancel the running request and the waiting ones."""
        self._latest.set()

    def kill(self) -> None:
        """Cancel, and end the engine's process at once: the thread continues even if a kernel in that process hangs."""
        self.cancel()
        engine = self._engine
        if engine is not None:
            engine.close()

    def stop(self) -> None:
        """End the engine and the thread, and wait for both; the next request makes new ones."""
        self._end(None)

    def close(self, most_s: float = CLOSING_S) -> None:
        """Stop forever: this worker emits no more signals.

        Nobody waits for the analysis of a large recording, which cannot be cancelled: its thread ends with it, or with
        the program.

        Parameters
        ----------
        most_s
            The time limit in seconds for the thread's end.
        """
        self._closed = True
        self._end(most_s)

    def _end(self, most_s: float | None) -> None:
        """End the engine and the thread, and wait for the thread, at most for some seconds."""
        self.kill()
        thread, self._thread = self._thread, None
        if thread is not None:
            self._requests.put(None)
            thread.join(most_s)

    def _put(self, item: tuple[Request, threading.Event] | Callable[[], object]) -> None:
        if self._closed:
            return
        self._requests.put(item)
        if not self.running:
            # A program that ends without `close` does not wait for the thread.
            self._thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
            self._thread.start()

    # In the thread

    def _serve(self) -> None:
        """Serve requests until `stop`."""
        try:
            while self._serve_next():
                pass
        finally:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.close()

    def _serve_next(self) -> bool:
        """Wait for a request and serve it; return False if there will be no more requests.

        Request and replies are released at the end, so that a waiting thread keeps no recording.
        """
        item = self._requests.get()
        if item is None:
            return False
        if callable(item):
            result = item()
            self._post(lambda: self.computed.emit(result))
            return True
        request, cancel = item
        if cancel.is_set():
            self._reply(Failed(request.run, "cancelled", "cancelled"))
            return True
        try:
            self._engine = self._engine or self._make_engine()
            for reply in self._engine.run(request, cancel):
                if isinstance(reply, Recorded) and reply.timeline is not None:
                    self._record(reply)
                else:
                    self._reply(reply)
        except Damaged as error:
            self._reply(Failed(request.run, "crash", str(error)))
        except Exception as error:
            # Every failure here must become a message and must not end the thread.
            traceback.print_exc()
            self._reply(Failed(request.run, "internal", f"{type(error).__name__}: {error}"))
        return True

    def _reply(self, reply: Reply) -> None:
        self._post(lambda: self.replied.emit(reply))

    def _record(self, reply: Recorded) -> None:
        run, playable = reply.run, playable_of(reply)
        report = report_of(reply, playable)
        self._post(lambda: self.recorded.emit(run, playable, report))

    def _post(self, emit: Callable[[], object]) -> None:
        if self._closed:
            return  # perhaps there is no loop any more
        self._loop.post(lambda: None if self._closed else emit())
