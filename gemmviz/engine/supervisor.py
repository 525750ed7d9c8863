"""Serves requests with the engine's process, and completes them if the process dies."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from gemmviz.bench.document import Document
from gemmviz.bench.row import Row
from gemmviz.checking.plan import CheckEntry
from gemmviz.engine.consent import Consent, refused
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Checked,
    CheckRequest,
    Done,
    Failed,
    Header,
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
from gemmviz.engine.process import EngineProcess, ProcessLost
from gemmviz.language import tr
from gemmviz.sandbox.limits import Limits

# A new process sends its first reply, and answers a probe, within this time.
_FIRST_S = 120.0
# What `_watched` looks for: an index outside of a local array, or a local variable without a value.
_OF_LOCALS = ("out of bounds", "read of memory nobody wrote")


class Engine:
    """One engine. Only one thread may use it at a time, except for `close`.

    The process is started when it is first needed, and again after it died. A process that has loaded many kernels is
    replaced between two requests. A text without consent is sent to no process: it is neither compiled nor run.

    Parameters
    ----------
    consent
        Decides which source texts may be compiled and run.
    limits
        The resources that a stranger's text may use.
    """

    def __init__(self, consent: Consent, limits: Limits | None = None) -> None:
        self._consent = consent
        self._process = EngineProcess(limits or Limits())

    @property
    def pid(self) -> int | None:
        """The id of the process, or None if there is none."""
        return self._process.pid

    def prepare(self) -> None:
        """Start the process now, with the modules that a recording needs, so that the first recording is ready earlier.

        Call it before `run`.
        """
        self._process.prepare()

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """Yield the replies to a request; the last one is one of `messages.FINAL`.

        This method raises no error because of a kernel: a crash or an endless loop becomes `Failed`, or one row of a
        bench run or one report of a check; the other rows and reports are still made.

        Parameters
        ----------
        request
            The request.
        cancel
            Set it, from any thread, to end the run within half a second. A bench run then still ends with `BenchDone`,
            with finished rows and rows of status "cancelled"; a search ends with `Searched` and the best result up to
            now.
        """
        held = refused(request, self._consent)
        if held:
            names = ", ".join(path.name for path in held)
            text = tr(
                "{files}: not run, because it does not come with gemmviz and you have not allowed it.", files=names
            )
            yield Failed(request.run, "untrusted", text)
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
            for reply in self._process.converse(request, cancel, _FIRST_S):
                # A trial among many launches ("verdict") only asks whether C is right.
                if isinstance(request, RecordRequest) and request.order != "verdict" and _is_crash(reply):
                    reply = self._watched(_watching(request), cancel) or reply
                yield reply
        except ProcessLost as lost:
            yield Failed(request.run, lost.kind, str(lost))

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with suppress(ProcessLost):
            self._process.kill()

    def _check(self, request: CheckRequest, cancel: threading.Event) -> Iterator[Reply]:
        from gemmviz.engine.launches import Launches  # late, as below: the first request is a recording

        launches = Launches(request)
        while launches.left:
            part = launches.rest()
            start, whole = part.first, len(request.launches)
            begun = False
            try:
                for reply in self._process.converse(part, cancel, _FIRST_S):
                    match reply:
                        case Progress():
                            begun = True
                            share = (start + (reply.share or 0.0) * (whole - start)) / whole
                            yield replace(reply, share=share)
                        case Checked():
                            launches.take(reply)
                            yield reply
                        case Failed() if begun and reply.kind in ("crash", "timeout"):
                            yield from launches.fail(self._watched(launches.first(), cancel) or reply)
                        case Failed():
                            yield reply
                            return
            except ProcessLost as lost:
                if lost.kind not in ("crash", "timeout") or not begun:
                    yield Failed(request.run, lost.kind, str(lost))
                    return
                ended = Failed(request.run, lost.kind, str(lost))
                yield from launches.fail(self._watched(launches.first(), cancel) or ended)
        yield Done(request.run)

    def _watched(self, request: CheckRequest, cancel: threading.Event) -> Failed | None:
        """Return how a launch misuses its local variables, after its process ended; None if not, or not first."""
        with suppress(ProcessLost):
            for reply in self._process.converse(request, cancel, _FIRST_S):
                if isinstance(reply, Failed) and reply.defect in _OF_LOCALS:
                    return reply
        return None

    def _bench(self, request: BenchRequest, cancel: threading.Event) -> Iterator[Reply]:
        # Late: a window that measures nothing needs none of these.
        from gemmviz.bench import results
        from gemmviz.bench.protocol import Protocol
        from gemmviz.engine.ledger import Ledger

        rows: list[Row] = []
        header: Document | None = None
        for number, size in enumerate(request.sizes):
            ledger = Ledger(request.kernels, size)
            # Every size has an equal share of the progress; after a crash, the remaining work has the rest of the
            # share.
            done, whole = 0.0, len(request.sizes)
            silent_deaths = 0
            while not cancel.is_set():
                todo = ledger.submit()
                if not todo:
                    break
                start, running, heard = done, None, False
                try:
                    for reply in self._process.converse(replace(request, kernels=todo, sizes=[size]), cancel, None):
                        match reply:
                            case Header():
                                if header is None:
                                    header = reply.document
                                    yield reply
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
                except ProcessLost as lost:
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
        from gemmviz.engine.attempts import Attempts  # late: a window that tunes nothing does not need it

        attempts = Attempts(request)
        silent_deaths = 0
        while True:
            running: int | None = None
            heard = False
            try:
                for reply in self._process.converse(attempts.rest(), cancel, None):
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
            except ProcessLost as lost:
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


def _is_crash(reply: Reply) -> bool:
    return isinstance(reply, Failed) and reply.kind == "crash"


def _watching(request: RecordRequest) -> CheckRequest:
    """Return the request that looks at the local arrays of a launch whose recording crashed."""
    launch = CheckEntry(m=request.m, n=request.n, k=request.k, params=request.params)
    return CheckRequest(
        request.run,
        request.path,
        request.text,
        [launch],
        request.deadline_s,
        watches=True,
        folders=request.folders,
        language=request.language,
    )
