"""The functions that a worker runs. Dask finds them in the worker's own gemmviz, by their names."""

import errno
import multiprocessing
import os
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, get_args

from gemmviz.backends.driver import driver
from gemmviz.backends.environment import cpu_of
from gemmviz.backends.machine import cores, cpu_model
from gemmviz.bench.document import Document
from gemmviz.bench.row import MeasuredOn, Row
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.cluster import engines, sources
from gemmviz.cluster.connection import quieten
from gemmviz.cluster.piece import Piece, Report, Seat
from gemmviz.cluster.software import difference, software
from gemmviz.cluster.wire import NotAMessage, pack, unpack
from gemmviz.engine.messages import (
    BenchDone,
    Checked,
    Done,
    Failed,
    Header,
    Progress,
    Reply,
    Request,
    Result,
    Sample,
    Tried,
)
from gemmviz.language import set_language, tr
from gemmviz.sandbox import scratch

_POLL_S = 0.1
# How often a piece looks whether it has reached its deadline, and whether the scheduler still wants it.
_WATCH_S = 0.5
# One piece at a time measures in this process, however many threads the worker has.
_turn = threading.Lock()
_cancelled: set[str] = set()
_running: dict[str, list[threading.Event]] = {}


def dask_setup(_worker: object) -> None:
    """Prepare the process of a worker; Dask calls it at the start of each."""
    quieten()


def hello() -> bytes:
    """Return the worker's `Software`, packed."""
    return pack(software())


def seat(dask_worker: Any) -> bytes:
    """Return the worker's `Seat`, packed.

    Parameters
    ----------
    dask_worker
        The worker of Dask: `distributed.Client.run` gives it to a parameter of this name.
    """
    gpu, cpu = driver().device, f"{cpu_model()} ({cores()} cores)"
    name, number = (gpu.name, gpu.uuid) if gpu else ("", "")
    return pack(Seat(str(dask_worker.address), socket.gethostname(), name, number, cpu, any(_running.values())))


def cancel(course: str) -> None:
    """Stop the pieces of a course that this worker serves, and those that it gets later."""
    _cancelled.add(course)
    for event in list(_running.get(course, ())):
        event.set()


def topic(course: str) -> str:
    """Return the name under which the workers send the reports of a course."""
    return f"gemmviz-{course}"


def work(data: bytes) -> bytes:
    """Serve a piece.

    Parameters
    ----------
    data
        A `Piece`, packed.

    Returns
    -------
    bytes
        A `Report` with the last reply, packed. No error is raised because of a piece.
    """
    worker = _Dask()
    try:
        piece = unpack(data, (Piece,))
    except NotAMessage as error:
        failed = Failed(0, "internal", tr("the worker cannot read a piece: {why}", why=error))
        return pack(Report(0, "", worker.name, pack(failed)))
    reporter = _Reporter(piece, worker)
    with _cancellable(piece, worker.is_wanted) as event:
        last = _serve(piece, event, reporter)
    return pack(reporter.report(last))


def _serve(piece: Piece, event: threading.Event, reporter: "_Reporter") -> Reply:
    """Run the request of a piece; return its last reply."""
    run = 0
    try:
        other = difference(piece.software, software())
        if other:
            return Failed(run, "refused", tr("{worker} was not used: {why}", worker=reporter.worker.name, why=other))
        request = unpack(piece.request, get_args(Request))
        run = request.run
        while not _turn.acquire(timeout=_POLL_S):
            if event.is_set():
                return Failed(run, "cancelled", tr("cancelled"))
        try:
            set_language(request.language)
            _leave_threads_free()
            return _run(piece, request, event, reporter)
        finally:
            _turn.release()
    except NotAMessage as error:
        return Failed(run, "internal", tr("the worker cannot read a piece: {why}", why=error))
    except GemmvizError as error:
        return Failed(run, "refused", f"{reporter.worker.name}: {error}")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = tr("there is no room left to write {file}", file=error.filename or tempfile.gettempdir())
        else:
            text = str(error)
        return Failed(run, "unsupported", f"{reporter.worker.name}: {text}")
    except Exception as error:  # a defect of gemmviz: it must become a message, and not end the course
        return Failed(run, "internal", f"{reporter.worker.name}: {type(error).__name__}: {error}")


def _run(piece: Piece, request: Request, event: threading.Event, reporter: "_Reporter") -> Reply:
    folder = scratch.make()
    try:
        request, consent = sources.restored(request, piece.sources, folder)
        with sources.include_folders(piece.sources, folder):
            last: Reply | None = None
            checked: Checked | None = None
            with engines.of(piece, consent) as engine:
                for last in engine.run(request, event):
                    last = reporter.sent(last)
                    checked = last if isinstance(last, Checked) else checked
        assert last is not None
        # A piece of a check is one launch, and its result is the report.
        return checked if checked and isinstance(last, Done) else last
    finally:
        scratch.remove(folder)


@contextmanager
def _cancellable(piece: Piece, is_wanted: Callable[[], bool] = lambda: True) -> Iterator[threading.Event]:
    """Provide the event that ends a piece: `cancel` sets it, or its deadline, or that nobody wants its result."""
    event, ended = threading.Event(), threading.Event()
    _running.setdefault(piece.course, []).append(event)
    if piece.course in _cancelled:
        event.set()
    threading.Thread(target=_watch, args=(piece, is_wanted, event, ended), name="watches a piece", daemon=True).start()
    try:
        yield event
    finally:
        ended.set()
        _running[piece.course].remove(event)
        if not _running[piece.course]:
            del _running[piece.course]


def _watch(piece: Piece, is_wanted: Callable[[], bool], event: threading.Event, ended: threading.Event) -> None:
    end = time.monotonic() + piece.deadline_s
    while not ended.wait(min(_WATCH_S, piece.deadline_s)):
        if time.monotonic() > end or not is_wanted():
            event.set()
            return


def _leave_threads_free() -> None:
    """Let engines have child processes, and libraries in them as many threads as without Dask.

    Dask starts its workers as daemons, and limits the threads of BLAS and OpenMP in them to one.
    """
    import dask  # late: it is installed on demand

    with suppress(AssertionError):  # this process was not started by multiprocessing: it is no daemon
        multiprocessing.current_process().daemon = False
    for name, value in (dask.config.get("distributed.nanny.pre-spawn-environ", None) or {}).items():
        if os.environ.get(name) == str(value):
            del os.environ[name]


class _Dask:
    """The Dask worker that runs this thread."""

    def __init__(self) -> None:
        from distributed import get_worker  # late: Dask is installed on demand

        self._worker = get_worker()
        self._task = self._worker.get_current_task()
        self.host = socket.gethostname()
        self.name = f"{self.host} ({self._worker.name})"

    def is_wanted(self) -> bool:
        """Return whether the scheduler still waits for the task of this thread: no longer if its client is gone."""
        task = self._worker.state.tasks.get(self._task)
        return task is not None and task.state in ("executing", "long-running")

    def send(self, course: str, report: Report) -> None:
        """Send a report to the sender of a course; it is lost if the network is."""
        self._worker.log_event(topic(course), pack(report))


@dataclass
class _Reporter:
    """Sends the replies about a piece, and adds to rows where they were measured."""

    piece: Piece
    worker: _Dask

    def __post_init__(self) -> None:
        self._attempt = uuid.uuid4().hex
        self._next = 0.0
        self._place: MeasuredOn | None = None

    def report(self, reply: Reply) -> Report:
        """Return the report with a reply."""
        return Report(self.piece.number, self._attempt, self.worker.name, pack(reply))

    def sent(self, reply: Reply) -> Reply:
        """Send a reply, unless it is one of many about progress; return it with its place."""
        match reply:
            case Header():
                self._place = _place(reply.document, self.worker.host)
                reply = replace(reply, document=_placed(reply.document, self.worker.host))
                self.worker.send(self.piece.course, self.report(reply))
            case Result():
                reply = replace(reply, row=self._with_place(reply.row))
                if reply.final or self.piece.samples:
                    self.worker.send(self.piece.course, self.report(reply))
            case Tried():
                self.worker.send(self.piece.course, self.report(reply))
            case Sample() if self.piece.samples:
                self.worker.send(self.piece.course, self.report(reply))
            case Progress() | Sample():
                if time.monotonic() >= self._next:
                    self._next = time.monotonic() + self.piece.every_s
                    short = replace(reply, seconds=[]) if isinstance(reply, Sample) else reply
                    self.worker.send(self.piece.course, self.report(short))
            case BenchDone():
                document = _placed(reply.document, self.worker.host)
                rows = [self._with_place(row) for row in document["results"]]
                reply = replace(reply, document=document | {"results": rows})
        return reply

    def _with_place(self, row: Row) -> Row:
        if self._place is None:
            return row
        return row | {"measured_on": self._place}


def _place(facts: Document, host: str) -> MeasuredOn:
    device = facts["device"]
    return {
        "host": host,
        "device": device["name"] if device else None,
        "uuid": device.get("uuid") if device else None,
        "cpu": cpu_of(facts["env"])["model"],
        "run_utc": facts["started_utc"],
    }


def _placed(document: Document, host: str) -> Document:
    """Return a result file with its machine in the list of machines."""
    return document | {"machines": [{"host": host, "env": document["env"], "device": document["device"]}]}
