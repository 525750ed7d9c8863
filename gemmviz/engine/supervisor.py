"""Drives the engine's process: starts it, hands it requests, passes its replies on, and replaces it when it dies."""

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
from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row, Status
from gemmviz.engine import framing, start
from gemmviz.engine.attempts import Attempts
from gemmviz.engine.consent import Consent, refused
from gemmviz.engine.launches import Launches
from gemmviz.engine.ledger import Ledger
from gemmviz.engine.messages import (
    FINAL,
    BenchDone,
    BenchRequest,
    Cancel,
    Checked,
    CheckRequest,
    Done,
    Failed,
    Header,
    ProfileRequest,
    Progress,
    RecordRequest,
    Reply,
    Request,
    Result,
    Sample,
    Searched,
    Tried,
    TuneRequest,
)
from gemmviz.engine.setting import Setting
from gemmviz.engine.wear import worn
from gemmviz.language import language, tr
from gemmviz.sandbox import processes, scratch
from gemmviz.sandbox.ends import by_signal
from gemmviz.sandbox.limits import Limits

_POLL_S = 0.02
_GRACE_S = 0.3
# A process that holds gigabytes was seen to take longer than two seconds to die on a busy machine.
_DYING_S = 5.0
# A process that is to take a request takes some of it within this time.
_TAKING_S = 20.0
# A new process says its first word, and answers a probe, within this time.
_FIRST_S = 120.0


_End = Literal["crash", "timeout", "cancelled", "internal"]


class _Lost(Exception):
    """The process is gone; ``kind`` is ``"crash"``, ``"timeout"``, ``"cancelled"`` or ``"internal"``."""

    def __init__(self, kind: _End, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def status(self) -> Status:
        """What a row says whose kernel was running; a result file has no status for a process that stays."""
        return "crash" if self.kind == "internal" else self.kind


class Engine:
    """One engine. Not for several threads at once, except `close`.

    The process is started when it is first needed, and again after it died. One that has loaded many kernels is
    replaced between two requests. What its consent does not allow reaches no process: neither a compiler nor a kernel
    sees it.

    Parameters
    ----------
    consent
        Says which source texts may be compiled and run.
    limits
        What a stranger's text may use.
    """

    def __init__(self, consent: Consent, limits: Limits | None = None) -> None:
        self._consent = consent
        self._limits = limits or Limits()
        self._scratch: Path | None = None
        self._remove_scratch: weakref.finalize[Any, Any] | None = None
        self._confined = True
        self._process: Any = None
        self._pipe: Connection | None = None
        self._receiver: framing.Receiver | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The number of the process, or None while there is none."""
        return self._process.pid if self._process is not None else None

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """Yield the replies to a request; the last one is one of `messages.FINAL`.

        Nothing that a kernel does raises here: a crash or an endless loop ends as `Failed`, or costs one row of a bench
        run or one report of a check, whose others are still made.

        Parameters
        ----------
        request
            What to do.
        cancel
            Set it, from any thread, to end the run within half a second. A bench run then still ends with `BenchDone`:
            what was finished, and rows with the status "cancelled"; a search with `Searched` and the best so far.
        """
        held = refused(request, self._consent)
        if held:
            names = ", ".join(path.name for path in held)
            said = tr("{files}: not run, because it does not come with gemmviz and nobody has allowed it.", files=names)
            yield Failed(request.run, "untrusted", said)
            return
        if isinstance(request, BenchRequest):
            yield from self._bench(request, cancel)
            return
        if isinstance(request, CheckRequest):
            yield from self._check(request, cancel)
            return
        if isinstance(request, TuneRequest):
            yield from self._tune(request, cancel)
            return
        try:
            yield from self._converse(request, cancel, _FIRST_S)
        except _Lost as lost:
            yield Failed(request.run, lost.kind, str(lost))

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with suppress(_Lost):
            self._kill()

    def _check(self, request: CheckRequest, cancel: threading.Event) -> Iterator[Reply]:
        launches = Launches(request)
        while launches.left:
            part = launches.rest()
            start, whole = part.first, len(request.launches)
            begun = False
            try:
                for reply in self._converse(part, cancel, _FIRST_S):
                    match reply:
                        case Progress():
                            begun = True
                            share = (start + (reply.share or 0.0) * (whole - start)) / whole
                            yield replace(reply, share=share)
                        case Checked():
                            launches.take(reply)
                            yield reply
                        case Failed() if begun and reply.kind in ("crash", "timeout"):
                            yield from launches.fail(reply)
                        case Failed():
                            yield reply
                            return
            except _Lost as lost:
                if lost.kind not in ("crash", "timeout") or not begun:
                    yield Failed(request.run, lost.kind, str(lost))
                    return
                yield from launches.fail(Failed(request.run, lost.kind, str(lost)))
        yield Done(request.run)

    def _bench(self, request: BenchRequest, cancel: threading.Event) -> Iterator[Reply]:
        rows: list[Row] = []
        header: Document | None = None
        for number, size in enumerate(request.sizes):
            ledger = Ledger(request.kernels, size)
            # Every size has the same part of the whole; after a death, the rest of the work has the rest of that part.
            done, whole = 0.0, len(request.sizes)
            silent_deaths = 0
            while not cancel.is_set():
                todo = ledger.submit()
                if not todo:
                    break
                start, running, heard = done, None, False
                try:
                    for reply in self._converse(replace(request, kernels=todo, sizes=[size]), cancel, None):
                        match reply:
                            case Header():
                                header = header or reply.document
                            case Progress():
                                running = reply.job
                                done = start + (reply.share or 0.0) * (1 - start)
                                job = None if running is None else ledger.job(running)
                                yield replace(reply, share=(number + done) / whole, job=job)
                            case Result():
                                heard, running = True, None
                                ledger.take(reply)
                                yield replace(reply, job=ledger.job(reply.job))
                            case Failed():
                                yield reply
                                return
                            case Sample():
                                yield reply
                    break
                except _Lost as lost:
                    if lost.kind == "cancelled":
                        break
                    if running is not None:
                        row = ledger.fail(running, lost.status, str(lost))
                        yield Result(request.run, row, ledger.job(running))
                    elif not heard:
                        silent_deaths += 1
                        if silent_deaths > 1:
                            yield Failed(request.run, "internal", tr("the engine does not start: {why}", why=lost))
                            return
            if cancel.is_set():
                for job, row in ledger.settle(Protocol.from_plain(request.protocol)):
                    yield Result(request.run, row, job)
            rows += ledger.rows()
        if header is None:
            header = results.document({}, None, Protocol.from_plain(request.protocol))
        yield BenchDone(request.run, header | {"results": rows})

    def _tune(self, request: TuneRequest, cancel: threading.Event) -> Iterator[Reply]:
        attempts = Attempts(request)
        silent_deaths = 0
        while True:
            running: int | None = None
            heard = False
            try:
                for reply in self._converse(attempts.rest(), cancel, None):
                    match reply:
                        case Header():
                            attempts.header = attempts.header or reply.document
                        case Progress():
                            running = reply.job
                        case Tried():
                            heard, running = True, None
                            attempts.take(reply)
                    yield reply
                    if isinstance(reply, Searched | Failed):
                        return
            except _Lost as lost:
                if lost.kind == "cancelled":
                    yield attempts.conclude() or Failed(request.run, lost.kind, str(lost))
                    return
                if running is not None:
                    yield attempts.fail(running, lost.status, str(lost))
                elif not heard:
                    silent_deaths += 1
                    if silent_deaths > 1:
                        yield Failed(request.run, "internal", tr("the engine does not start: {why}", why=lost))
                        return

    def _converse(self, request: Request, cancel: threading.Event, limit: float | None) -> Iterator[Reply]:
        """Send a request and yield what comes back, up to the final reply.

        Raises
        ------
        _Lost
            When the process dies or has to be killed.
        """
        if cancel.is_set():
            raise _Lost("cancelled", tr("cancelled"))
        over = False
        try:
            self._submit(request)
            heard = time.monotonic()
            give_up: float | None = None
            while not over:
                reply = self._receive()
                now = time.monotonic()
                if reply is None:
                    if give_up is None and cancel.is_set():
                        give_up = self._ask_to_stop(request.run)
                    elif give_up is not None and now > give_up:
                        raise _Lost("cancelled", tr("cancelled"))
                    elif limit is not None and now - heard > limit:
                        said = tr(
                            "still running after {time} s: an endless loop, or too large a size", time=f"{limit:g}"
                        )
                        raise _Lost("timeout", said)
                    continue
                if reply.run != request.run:
                    continue
                if isinstance(reply, Progress):
                    limit = reply.deadline_s
                heard = now
                over = isinstance(reply, FINAL)
                if isinstance(reply, Failed) and reply.kind in ("crash", "timeout"):
                    self._kill()  # the process ends by itself now; the next request must not reach it
                yield reply
                if give_up is None and cancel.is_set() and not over:
                    give_up = self._ask_to_stop(request.run)
                elif give_up is not None and time.monotonic() > give_up and not over:
                    raise _Lost("cancelled", tr("cancelled"))
        finally:
            # Lost, or the caller has stopped asking: what the process is doing is nobody's business any more.
            if not over:
                self._kill()
            else:
                self._renew()

    def _submit(self, request: Request) -> None:
        confined = not isinstance(request, ProfileRequest)
        if self._process is None or not self._process.is_alive() or self._confined != confined:
            self._start(confined)
        assert self._pipe is not None and self._scratch is not None
        for path, text in _sources(request):
            scratch.hand_over(self._scratch, Path(path), text)
        try:
            framing.send(self._pipe.fileno(), replace(request, language=language()), _TAKING_S)
        except OSError:
            raise self._obituary() from None

    def _renew(self) -> None:
        """Replace the process where it has had its time: the next one starts while there is nothing to do."""
        pid = self.pid
        if pid is not None and worn(pid):
            self._start(self._confined)

    def _ask_to_stop(self, run: int) -> float:
        """Ask the process to end a run; return until when it has time to (`time.monotonic`)."""
        pipe = self._pipe
        if pipe is not None:
            with suppress(OSError):  # it is dead already: the next look into the pipe tells how
                framing.send(pipe.fileno(), Cancel(run), _GRACE_S)
        return time.monotonic() + _GRACE_S

    def _receive(self) -> Reply | None:
        """Return the next reply, or None when there is none for a while."""
        receiver = self._receiver
        if receiver is None:
            raise _Lost("cancelled", tr("the engine was closed"))
        try:
            message = receiver.receive(_POLL_S)
        except framing.NotAMessage as error:
            said = tr("the engine's process sent what is no message ({why}): a kernel may have broken it", why=error)
            raise _Lost("crash", said) from None
        except (EOFError, OSError):
            raise self._obituary() from None
        assert message is None or isinstance(message, Reply)
        return message

    def _start(self, confined: bool) -> None:
        self._kill()
        self._confined, self._scratch = confined, scratch.make()
        # Also where nobody closes this engine.
        self._remove_scratch = weakref.finalize(self, scratch.remove, self._scratch)
        setting = Setting(self._scratch, self._limits, confined)
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=start.main, args=(other, setting), name="gemmviz-engine", daemon=True)
        # The process inherits the mask: a Ctrl-C while it starts, still in our group, is not for it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()
        self._receiver = framing.Receiver(self._pipe.fileno(), get_args(Reply), available_memory)

    def _kill(self) -> None:
        with self._lock:
            process, pipe, remove = self._process, self._pipe, self._remove_scratch
            self._process = self._pipe = self._receiver = self._scratch = self._remove_scratch = None
        try:
            if process is not None and process.pid is not None:
                self._end(process)
        finally:
            # Not before: without it the process ends itself, and what is below it would be out of reach.
            if pipe is not None:
                pipe.close()
            if remove is not None:
                remove()  # once: nothing of a process that is gone is kept

    def _end(self, process: Any) -> None:
        if process.is_alive():
            # First what is below it: a compiler, or what a kernel started, must not outlive it.
            processes.end_tree(process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.join(_DYING_S)
        if process.is_alive():
            raise _Lost(
                "internal",
                tr(
                    "the engine (process {number}) cannot be killed: the GPU's driver may hang. "
                    "Figures taken now are not to be trusted; restart the machine if this stays.",
                    number=process.pid,
                ),
            )
        process.close()

    def _obituary(self) -> _Lost:
        """Say how the process died."""
        process = self._process
        if process is None:
            return _Lost("cancelled", tr("the engine was closed"))
        process.join(_DYING_S)
        code = process.exitcode
        if code is None or code >= 0:
            return _Lost("crash", tr("the engine's process ended with exit code {code}", code=code))
        return _Lost("crash", by_signal(-code))


def _sources(request: Request) -> Iterator[tuple[str, str]]:
    """Yield path and text of the sources that a request is about."""
    match request:
        case RecordRequest() | CheckRequest() | TuneRequest():
            yield request.path, request.text
        case BenchRequest():
            yield from ((entry["path"], entry["text"]) for entry in request.kernels if "text" in entry)
        case ProfileRequest():
            yield from ((entry["path"], entry["text"]) for entry in request.launches)
