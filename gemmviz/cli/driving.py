"""Runs requests in the engine for the command line, with a progress bar and a Ctrl-C that keeps finished results."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.problem import Problem
from gemmviz.engine import messages
from gemmviz.engine.consent import Consent
from gemmviz.engine.supervisor import Engine

if TYPE_CHECKING:
    from gemmviz.cluster.remote_engine import RemoteEngine


class EngineDriver:
    """Drives an engine; `driving` creates it."""

    def __init__(
        self, bar: Progress, cancel: threading.Event, consent: Consent, elsewhere: "RemoteEngine | None" = None
    ) -> None:
        self._bar, self._cancel = bar, cancel
        self._task: TaskID = bar.add_task("Starting", total=1.0)
        self._engine, self._elsewhere = Engine(consent), elsewhere

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._cancel.is_set()

    def run(self, request: messages.Request, start: float = 0.0, part: float = 1.0) -> messages.Reply:
        """Run a request and return its last reply: see `replies`."""
        return self.replies(request, start, part)[-1]

    def replies(self, request: messages.Request, start: float = 0.0, part: float = 1.0) -> list[messages.Reply]:
        """Run a request; return its replies, without progress and samples, up to the last one.

        Parameters
        ----------
        request
            The request to run.
        start, part
            The request's range of the whole work, from 0 to 1, for the bar.

        Raises
        ------
        GemmvizError
            When the engine ends without a last reply.
        """
        found: list[messages.Reply] = []
        recorded = isinstance(request, messages.RecordRequest)
        engine = self._engine if recorded or self._elsewhere is None else self._elsewhere
        for reply in engine.run(request, self._cancel):
            match reply:
                case messages.Progress():
                    self._show(reply.text, start + part * (reply.share or 0.0))
                case messages.Sample():
                    size = Problem(reply.m, reply.n, reply.k)
                    self._show(f"{reply.label}: {reply.gflops:.4g} GFLOPS at {size}")
                case _:
                    found.append(reply)
                    if isinstance(reply, messages.FINAL):
                        return found
        raise GemmvizError("the engine ended without an answer")

    def renew(self) -> None:
        """Run the next request in a new process."""
        self._engine.close()
        if self._elsewhere is not None:
            self._elsewhere.close()

    def _show(self, text: str, share: float | None = None) -> None:
        self._bar.update(self._task, description=escape(text), completed=share)


@contextmanager
def driving(consent: Consent, elsewhere: "RemoteEngine | None" = None) -> Iterator[EngineDriver]:
    """Provide an `EngineDriver`. The first Ctrl-C ends the run and keeps finished results, the second ends the program.

    Parameters
    ----------
    consent
        Decides which texts may run.
    elsewhere
        Measures, on another machine; recordings are made on this one. None: all is done here.
    """
    cancel = threading.Event()
    with ctrl_c(cancel), progress_bar() as bar:
        driver = EngineDriver(bar, cancel, consent, elsewhere)
        try:
            yield driver
        finally:
            driver.renew()


def progress_bar() -> Progress:
    """Return a progress bar, with a sentence, on standard error; it shows nothing if that is not a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def ctrl_c(cancel: threading.Event) -> Iterator[None]:
    """Set `cancel` at the first Ctrl-C or SIGTERM while it is entered; the second one raises `KeyboardInterrupt`."""

    def handle(number: int, frame: object) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield  # signals can be handled in the main thread only
        return
    # A batch system ends a job by SIGTERM when its time is over: finished results are kept, too.
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
