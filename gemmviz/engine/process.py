"""The engine's process: its start, requests and replies, its end, and its replacement if it died or grew too large."""

import multiprocessing
import os
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, get_args

from gemmviz.backends.host import available_memory
from gemmviz.bench.row import Status
from gemmviz.engine import framing, start
from gemmviz.engine.messages import (
    FINAL,
    AssembleRequest,
    BenchRequest,
    Cancel,
    CheckRequest,
    CountRequest,
    Failed,
    ProfileRequest,
    Progress,
    RecordRequest,
    Reply,
    Request,
    TuneRequest,
)
from gemmviz.engine.patience import Patience
from gemmviz.engine.setting import Setting
from gemmviz.engine.wear import worn
from gemmviz.language import language, tr
from gemmviz.sandbox import processes, scratch
from gemmviz.sandbox.ends import by_signal
from gemmviz.sandbox.limits import Limits

_POLL_S = 0.02
_GRACE_S = 0.3
# On a busy machine, a process with gigabytes of memory was seen to take longer than two seconds to end.
_DYING_S = 5.0
# A running process reads some part of a request within this time.
_TAKING_S = 20.0

_End = Literal["crash", "timeout", "cancelled", "internal"]


class ProcessLost(Exception):
    """The process has ended; ``kind`` is ``"crash"``, ``"timeout"``, ``"cancelled"`` or ``"internal"``."""

    def __init__(self, kind: _End, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def status(self) -> Status:
        """The status for the row of the running kernel; a result file has none for a process that cannot be killed."""
        return "crash" if self.kind == "internal" else self.kind


class EngineProcess:
    """The process of one engine. Only one thread may use it at a time, except for `kill`.

    It is started with the first request, and again after it has died. A process that has loaded many kernels is
    replaced between two requests.

    Parameters
    ----------
    limits
        The resources that a stranger's text may use.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._scratch: Path | None = None
        self._remove_scratch: weakref.finalize[Any, Any] | None = None
        self._confined = True
        self._process: Any = None
        self._pipe: Connection | None = None
        self._receiver: framing.Receiver | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The id of the process, or None if there is none."""
        return self._process.pid if self._process is not None else None

    def prepare(self) -> None:
        """Start the process before its first request, which will be a recording."""
        self._start(confined=True, records=True)

    def converse(self, request: Request, cancel: threading.Event, limit: float | None) -> Iterator[Reply]:
        """Send a request and yield its replies, up to the final one.

        Parameters
        ----------
        request
            The request.
        cancel
            Set it, from any thread, to end the run within half a second.
        limit
            The longest time in seconds without a reply, until a `Progress` sets another limit; None: no limit. It is
            longer on a busy machine, see `gemmviz.engine.patience.Patience`.

        Raises
        ------
        ProcessLost
            When the process dies or has to be killed.
        """
        if cancel.is_set():
            raise ProcessLost("cancelled", tr("cancelled"))
        over = False
        try:
            self._submit(request)
            patience = Patience(lambda: self.pid, limit)
            give_up: float | None = None
            while not over:
                reply = self._receive()
                if reply is None:
                    if give_up is None and cancel.is_set():
                        give_up = self._ask_to_stop(request.run)
                    elif give_up is not None and time.monotonic() > give_up:
                        raise ProcessLost("cancelled", tr("cancelled"))
                    elif patience.is_over():
                        text = tr(
                            "still running after {time} s: an endless loop, or too large a size",
                            time=f"{patience.given:g}",
                        )
                        raise ProcessLost("timeout", text)
                    continue
                if reply.run != request.run:
                    continue
                if isinstance(reply, Progress):
                    limit = reply.deadline_s
                patience.heard(limit)
                over = isinstance(reply, FINAL)
                if isinstance(reply, Failed) and reply.kind in ("crash", "timeout"):
                    self.kill()  # the process is ending by itself; the next request must not reach it
                yield reply
                if give_up is None and cancel.is_set() and not over:
                    give_up = self._ask_to_stop(request.run)
                elif give_up is not None and time.monotonic() > give_up and not over:
                    raise ProcessLost("cancelled", tr("cancelled"))
        finally:
            # The process is lost, or the caller takes no more replies: its current work is no longer needed.
            if not over:
                self.kill()
            else:
                self._renew()

    def _submit(self, request: Request) -> None:
        confined = not isinstance(request, ProfileRequest | CountRequest)
        if self._process is None or not self._process.is_alive() or self._confined != confined:
            self._start(confined)
        pipe, folder = self._pipe, self._scratch
        if pipe is None or folder is None:  # killed by another thread, for example when the window is closed
            raise self._cause_of_end()
        for path, text in _sources(request):
            scratch.hand_over(folder, Path(path), text)
            if self._scratch is None:
                scratch.remove(folder)  # it was written to after its end
                raise self._cause_of_end()
        try:
            framing.send(pipe.fileno(), replace(request, language=language()), _TAKING_S)
        except OSError:
            raise self._cause_of_end() from None

    def _renew(self) -> None:
        """Replace the process if its memory has grown too much: the next one starts while there is nothing to do."""
        pid = self.pid
        if pid is not None and worn(pid):
            self._start(self._confined)

    def _ask_to_stop(self, run: int) -> float:
        """Ask the process to end a run; return its deadline (`time.monotonic`)."""
        pipe = self._pipe
        if pipe is not None:
            with suppress(OSError):  # it has ended already: the next read from the pipe gives the reason
                framing.send(pipe.fileno(), Cancel(run), _GRACE_S)
        return time.monotonic() + _GRACE_S

    def _receive(self) -> Reply | None:
        """Return the next reply, or None if none arrives within a short time."""
        receiver = self._receiver
        if receiver is None:
            raise ProcessLost("cancelled", tr("the engine was closed"))
        try:
            message = receiver.receive(_POLL_S)
        except framing.NotAMessage as error:
            text = tr("the engine's process sent an invalid message ({why}): a kernel may have damaged it", why=error)
            raise ProcessLost("crash", text) from None
        except (EOFError, OSError):
            raise self._cause_of_end() from None
        assert message is None or isinstance(message, Reply)
        return message

    def _start(self, confined: bool, records: bool = False) -> None:
        self.kill()
        self._confined, self._scratch = confined, scratch.make()
        # Also if this engine is never closed.
        self._remove_scratch = weakref.finalize(self, scratch.remove, self._scratch)
        setting = Setting(self._scratch, self._limits, confined, records)
        context = multiprocessing.get_context("spawn")
        pipe, other = context.Pipe()
        process = context.Process(target=start.main, args=(other, setting), name="gemmviz-engine", daemon=True)
        self._pipe, self._process = pipe, process
        # The process inherits the mask: it ignores a Ctrl-C while it starts and is still in our group.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()
        if pipe.closed:  # another thread has killed it, for example when the window is closed: the process ends itself
            raise self._cause_of_end()
        self._receiver = framing.Receiver(pipe.fileno(), get_args(Reply), available_memory)

    def kill(self) -> None:
        """End the process at once, with its child processes; if there is none, do nothing.

        Raises
        ------
        ProcessLost
            When it cannot be killed.
        """
        with self._lock:
            process, pipe, remove = self._process, self._pipe, self._remove_scratch
            self._process = self._pipe = self._receiver = self._scratch = self._remove_scratch = None
        try:
            if process is not None and process.pid is not None:
                self._end(process)
        finally:
            # Not before: without the pipe the process ends itself, and its child processes could not be found
            # afterwards.
            if pipe is not None:
                pipe.close()
            if remove is not None:
                remove()  # once: nothing is kept of a process that has ended

    def _end(self, process: Any) -> None:
        if process.is_alive():
            # First its children: a compiler, or a process that a kernel started, must not continue.
            processes.end_tree(process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.join(_DYING_S)
        if process.is_alive():
            raise ProcessLost(
                "internal",
                tr(
                    "the engine (process {number}) cannot be killed: the GPU's driver may hang. "
                    "Do not trust figures that are measured now; restart the machine if this message appears again.",
                    number=process.pid,
                ),
            )
        process.close()

    def _cause_of_end(self) -> ProcessLost:
        """Return the reason why the process died."""
        process = self._process
        if process is None:
            return ProcessLost("cancelled", tr("the engine was closed"))
        process.join(_DYING_S)
        code = process.exitcode
        why = tr("exit code {code}", code=code) if code is None or code >= 0 else by_signal(-code)
        return ProcessLost("crash", tr("The engine ended: {why}. The next run starts a new one.", why=why))


def _sources(request: Request) -> Iterator[tuple[str, str]]:
    """Yield path and text of each source of a request."""
    match request:
        case RecordRequest() | CheckRequest() | TuneRequest() | AssembleRequest():
            yield request.path, request.text
        case BenchRequest():
            yield from ((entry["path"], entry["text"]) for entry in request.kernels if "text" in entry)
        case ProfileRequest() | CountRequest():
            yield from ((entry["path"], entry["text"]) for entry in request.launches)
