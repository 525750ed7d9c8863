"""Serves many pieces on the workers of a cluster, and loses no report that has arrived."""

import queue
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, get_args

from gemmviz.catalogue.errors import Unavailable
from gemmviz.cluster import asking, work
from gemmviz.cluster.line import Line
from gemmviz.cluster.piece import Piece, Report, Seat, SentSources
from gemmviz.cluster.presence import Presence
from gemmviz.cluster.software import difference, software
from gemmviz.cluster.wire import NotAMessage, pack, unpack
from gemmviz.engine.messages import FINAL, Checked, Failed, Header, Reply, Request, Result, Tried
from gemmviz.language import tr

GPU = "GPU"
"""The resource that a worker with a GPU announces: ``--resources GPU=1``."""
_FETCH_S = 1.0  # for the result of a piece; then a cancel is looked for
_POLL_S = 0.1
# After a cancellation, workers that can be reached have answered within this time.
_CANCELLED_S = 5.0
# A worker that died is started again within seconds. A cluster without workers for so long is given up.
_LOOK_S, _ABANDONED_S = 5.0, 120.0
# A worker that somebody has chosen is not replaced: if it is started again, it has another address.
_GONE_S = 8.0
# The shortest time between two reports about progress, per worker: the scheduler passes on about 2000 per second.
_EVERY_S, _WORKERS_PER_S = 0.5, 500


@dataclass(frozen=True)
class Job:
    """A piece before it is sent.

    Attributes
    ----------
    request, sources
        From `gemmviz.cluster.sources.collected`.
    gpu
        Whether it needs a worker with a GPU, alone on it.
    deadline_s
        The longest time that it may take.
    flops
        From `gemmviz.cluster.pieces.flops`; 0 if unknown. Larger pieces start first.
    """

    request: Request
    sources: SentSources
    gpu: bool
    deadline_s: float
    flops: int = 0


@dataclass
class Heard:
    """The replies about one piece.

    Attributes
    ----------
    last
        The last reply; None if it never arrived.
    why
        Why it did not arrive, as a sentence.
    worker
        Host and name of the worker that served it, for people.
    header, results, tried
        Of the attempt with the most of them: replies that arrived before the last one.
    """

    last: Reply | None = None
    why: str = ""
    worker: str = ""
    header: Header | None = None
    results: list[Result] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)


class Course:
    """One run over many pieces. Each piece is counted once.

    Parameters
    ----------
    client
        A `distributed.Client`.
    jobs
        The pieces; their numbers are their places in this sequence.
    at
        The address of the only worker that may serve them, from `seats`; empty: any worker.
    samples
        Whether somebody watches: then the times of all samples arrive, too.

    Attributes
    ----------
    id
        The course, for `gemmviz.cluster.work.cancel`.
    heard
        The replies about each piece.
    notes
        Sentences about workers that are not used.

    Raises
    ------
    Unavailable
        When the cluster has no worker that can be used.
    """

    def __init__(self, client: Any, jobs: Sequence[Job], at: str = "", samples: bool = False) -> None:
        self._client, self._jobs = client, jobs
        self._at, self._samples = at, samples
        self.id = uuid.uuid4().hex
        self._inbox: queue.SimpleQueue[Report | tuple[int, Any]] = queue.SimpleQueue()
        self._attempts: dict[tuple[int, str], Heard] = {}
        self.heard = [Heard() for _ in jobs]
        self.notes: list[str] = []
        self._workers = self._known_workers()
        self._only = self._usable(self._workers)
        self._futures: dict[int, Any] = {}
        self._line = Line()
        self._moves, self._slots = 0, 1

    @property
    def has_gpu(self) -> bool:
        """Whether a worker that can be used announces a GPU."""
        return any(self._workers[at].get("resources", {}).get(GPU, 0) >= 1 for at in self._only)

    def run(self, cancel: threading.Event) -> Iterator[tuple[int, Reply]]:
        """Serve the pieces; yield the number of a piece and a reply about it, as they arrive.

        Parameters
        ----------
        cancel
            Set it, from any thread, to end the run: workers that can be reached end their pieces within a second.
            Results that have arrived are kept.
        """
        client, handler = self._client, self._on_event
        client.subscribe_topic(work.topic(self.id), handler)
        waiting = set(range(len(self._jobs)))
        self._line_up(waiting)
        give_up: float | None = None
        presence, absence = Presence(client, _LOOK_S), _Absence()
        why = tr("cancelled")
        try:
            while waiting:
                with suppress(queue.Empty):
                    yield from self._take(self._inbox.get(timeout=_POLL_S), waiting)
                if cancel.is_set() and give_up is None:
                    give_up = time.monotonic() + _CANCELLED_S
                    self._cancel(waiting)
                if give_up is not None and time.monotonic() > give_up:
                    break
                if (workers := presence.news()) is not None:
                    self._slots = self._count(workers)
                    self._move(workers, waiting)
                    absence.note(self._can_serve(workers, waiting))
                self._send(waiting)
                if give_up is None and (found := self._abandoned(presence.silent_s, absence.seconds)):
                    why = found
                    break
        finally:
            for number in waiting:
                self._settle(number, why)
            with suppress(Exception):  # without a scheduler there is nothing to release
                client.unsubscribe_topic(work.topic(self.id))
                client.cancel(list(self._futures.values()), force=True)

    def _known_workers(self) -> dict[str, Any]:
        found = asking.workers(self._client)
        if not found:
            raise Unavailable(tr("the cluster has no worker: start one with `gemmviz cluster worker ADDRESS`"))
        if self._at and self._at not in found:
            raise Unavailable(tr("this worker has left the cluster: choose another device"))
        return {at: worker for at, worker in found.items() if self._at in ("", at)}

    def _can_serve(self, workers: dict[str, Any], waiting: set[int]) -> bool:
        """Return whether one of these workers can serve one of the waiting pieces."""
        if self._is_restricted:
            workers = {at: one for at, one in workers.items() if at in self._only}
        needs_gpu = self.has_gpu and all(self._jobs[number].gpu for number in waiting)
        return any(not needs_gpu or one.get("resources", {}).get(GPU, 0) >= 1 for one in workers.values())

    def _abandoned(self, silent_s: float, absent_s: float) -> str:
        """Return why the pieces are given up after so many seconds without an answer, or without a worker."""
        if silent_s > _ABANDONED_S:
            return tr("the scheduler does not answer")
        if absent_s <= (_GONE_S if self._at else _ABANDONED_S):
            return ""
        if self._at:
            return tr("this worker has left the cluster: choose another device")
        return tr("the cluster has no worker any more that could serve it")

    def _usable(self, workers: dict[str, Any]) -> list[str]:
        """Return the addresses of the workers with the same software; note the others."""
        answers = asking.answers(self._client, work.hello, list(workers))
        usable = []
        for at, worker in workers.items():
            answer = answers.get(at)
            try:
                why = difference(software(), unpack(answer, (type(software()),))) if isinstance(answer, bytes) else ""
            except NotAMessage as error:
                why = str(error)
            if not isinstance(answer, bytes):
                why = tr("it does not answer") if answer is None else f"{type(answer).__name__}: {answer}"
            if why:
                self.notes.append(
                    tr("worker {name} ({host}) is not used: {why}", name=worker["name"], host=worker["host"], why=why)
                )
            else:
                usable.append(at)
        if not usable:
            raise Unavailable("\n".join([*self.notes, tr("no worker of the cluster can be used")]))
        return usable

    @property
    def _is_restricted(self) -> bool:
        """Whether some workers may not serve the pieces. Where all are alike, one that joins later is used, too."""
        return bool(self._at) or len(self._only) < len(self._workers)

    def _move(self, workers: dict[str, Any], waiting: set[int]) -> None:
        """Give the pieces to other workers if all that may serve them are gone.

        A worker that is started again has another address, and for Dask it is another worker.
        """
        if self._at or not self._is_restricted or not workers or any(at in workers for at in self._only):
            return
        with suppress(Unavailable):
            self._only, self._workers = self._usable(workers), workers
            left = [self._futures.pop(number) for number in waiting & self._futures.keys()]
            self._moves += 1
            self._line_up(waiting)
            self._client.cancel(left, force=True)

    def _count(self, workers: dict[str, Any]) -> int:
        """Return how many of these workers may serve pieces, but at least 1: Dask keeps a piece until one is there."""
        return max(1, len(workers.keys() & set(self._only) if self._is_restricted else workers))

    def _line_up(self, numbers: set[int]) -> None:
        """Put pieces in order, and send the first ones."""
        flops = {number: self._jobs[number].flops for number in numbers}
        self._line.fill(numbers, flops if len(self._only) > 1 else None)
        self._slots = self._count(self._workers)
        self._send(numbers)

    def _send(self, waiting: set[int]) -> None:
        """Send as many pieces as there are workers, the others when these are served."""
        every_s = max(_EVERY_S, len(self._only) / _WORKERS_PER_S)
        where = {"workers": self._only} if self._is_restricted else {}
        for priority, number in self._line.next(self._slots - len(waiting & self._futures.keys())):
            job = self._jobs[number]
            request, sources = pack(job.request), job.sources
            piece = Piece(self.id, number, software(), request, sources, job.deadline_s, every_s, self._samples)
            gpu = {"resources": {GPU: 1}} if job.gpu and self.has_gpu else {}
            future = self._client.submit(
                work.work,
                pack(piece),
                key=f"gemmviz-{self.id}-{self._moves}-{number}",
                pure=False,
                priority=priority,
                **gpu,
                **where,
            )
            self._futures[number] = future
            self._follow(number, future)

    def _follow(self, number: int, future: Any) -> None:
        future.add_done_callback(lambda done: self._inbox.put((number, done)))

    def _on_event(self, event: tuple[float, object]) -> None:
        """Take an event, in Dask's thread."""
        body = event[1]
        with suppress(NotAMessage):
            if isinstance(body, bytes):
                self._inbox.put(unpack(body, (Report,)))

    def _take(self, found: Report | tuple[int, Any], waiting: set[int]) -> Iterator[tuple[int, Reply]]:
        if isinstance(found, Report):
            if found.number in waiting and (reply := _reply(found)) is not None:
                self._keep(found, reply)
                yield found.number, reply
            return
        number, future = found
        if number not in waiting & self._futures.keys() or future is not self._futures[number]:
            return
        waiting.discard(number)
        if future.status != "finished":
            why = _why(future)
            self._settle(number, why)
            if future.status == "cancelled":  # the connection is lost, so nothing else can be sent
                for unsent in self._line.clear():
                    waiting.discard(unsent)
                    self._settle(unsent, why)
            return
        try:
            report = unpack(future.result(timeout=_FETCH_S), (Report,))
        except TimeoutError:
            # A worker that dies before its result is fetched takes it along: Dask starts the piece again, if it can.
            waiting.add(number)
            self._follow(number, future)
            return
        except (NotAMessage, TypeError, OSError) as error:
            self._settle(number, tr("its result cannot be read: {why}", why=error))
            return
        reply = _reply(report)
        if reply is None or report.number != number or not isinstance(reply, (*FINAL, Checked)):
            self._settle(number, tr("its result cannot be read: {why}", why=type(reply).__name__))
            return
        self._attempts = {key: heard for key, heard in self._attempts.items() if key[0] != number}
        self.heard[number] = Heard(last=reply, worker=report.worker)
        # Dask serves a piece again if its worker dies, also a finished one, as long as somebody holds its future.
        self._futures.pop(number).release()
        if isinstance(reply, Failed):
            self.heard[number].why = reply.message
        yield number, reply

    def _keep(self, report: Report, reply: Reply) -> None:
        attempt = self._attempts.setdefault((report.number, report.attempt), Heard(worker=report.worker))
        self.heard[report.number].worker = report.worker
        match reply:
            case Header():
                attempt.header = reply
            case Result():
                attempt.results.append(reply)
            case Tried():
                attempt.tried.append(reply)

    def _settle(self, number: int, why: str) -> None:
        """Keep the replies about a piece whose last reply never arrives: of one attempt only, so of one device."""
        attempts = [heard for (of, _), heard in self._attempts.items() if of == number]
        self.heard[number] = max(attempts, key=lambda heard: len(heard.results) + len(heard.tried), default=Heard())
        self.heard[number].why = why

    def _cancel(self, waiting: set[int]) -> None:
        """Cancel the pieces that wait for a worker, and tell the workers to end the others."""
        idle = waiting - {number for number, _ in self._attempts}
        waiting -= idle
        self._line.clear()
        for number in idle:
            self._settle(number, tr("cancelled"))
        client, course = self._client, self.id
        unused = [self._futures[number] for number in idle & self._futures.keys()]

        def tell() -> None:
            with suppress(Exception):  # a worker that cannot be reached ends its piece at its deadline
                client.run(work.cancel, course, on_error="ignore")
                client.cancel(unused, force=True)

        threading.Thread(target=tell, name="cancels", daemon=True).start()


class _Absence:
    """How long the cluster has been without a worker that can serve what waits, at the time of the last news."""

    def __init__(self) -> None:
        self.seconds, self._since = 0.0, time.monotonic()

    def note(self, is_there: bool) -> None:
        now = time.monotonic()
        self._since = now if is_there else self._since
        self.seconds = now - self._since


def seats(client: Any) -> list[Seat]:
    """Return the workers of a cluster, those with a GPU first; a worker that does not answer is left out."""
    answers = asking.answers(client, work.seat, list(asking.workers(client)))
    found = []
    for answer in answers.values():
        with suppress(NotAMessage):
            if isinstance(answer, bytes):
                found.append(unpack(answer, (Seat,)))
    return sorted(found, key=lambda seat: (not seat.gpu, seat.host, seat.gpu, seat.address))


def _reply(report: Report) -> Reply | None:
    try:
        reply: Reply = unpack(report.reply, get_args(Reply))
    except NotAMessage:
        return None
    return reply


def _why(future: Any) -> str:
    """Return why a task of Dask has no result, as a sentence."""
    if future.status == "cancelled":
        return tr("the connection to the cluster was lost")
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        worker = getattr(error.last_worker, "name", error.last_worker)
        return tr("every worker that served it died, the last one was {worker}", worker=worker)
    return f"{type(error).__name__}: {error}"
