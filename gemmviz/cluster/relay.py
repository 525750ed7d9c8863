"""A process between the window and a cluster: only this process imports Dask, and it can be ended at any time."""

import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Annotated, Any, get_args

from msgspec import Meta

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import ladder
from gemmviz.cluster.connection import connected
from gemmviz.cluster.course import Course, Job, seats
from gemmviz.cluster.piece import Name, Scheduler, Seat
from gemmviz.cluster.pieces import deadline_s, joined, split
from gemmviz.cluster.sources import collected
from gemmviz.cluster.wire import MOST_BYTES, pack, unpack
from gemmviz.engine.messages import FINAL, Progress, Reply, Request
from gemmviz.language import language, set_language


@dataclass(frozen=True)
class Connect:
    """To the relay, first: connect to this scheduler; messages are in this language."""

    scheduler: Scheduler
    language: Name


@dataclass(frozen=True)
class Look:
    """To the relay: answer with `Seats`."""


@dataclass(frozen=True)
class Serve:
    """To the relay: serve a packed request on the worker with this address; each reply is an `Answer`."""

    at: Name
    request: bytes


@dataclass(frozen=True)
class Stop:
    """To the relay: end the request that is served."""


@dataclass(frozen=True)
class Seats:
    """From the relay: the workers of the cluster."""

    seats: Annotated[list[Seat], Meta(max_length=100_000)]


@dataclass(frozen=True)
class Answer:
    """From the relay: one of `gemmviz.engine.messages.Reply`, packed."""

    reply: bytes


@dataclass(frozen=True)
class Refusal:
    """From the relay: why it cannot serve a request, as a sentence."""

    text: str


def main(pipe: Connection) -> None:
    """Connect as `Connect` says, and serve until the other end of the pipe is closed.

    Parameters
    ----------
    pipe
        This process's end of the pipe.
    """
    # Ctrl-C in a terminal reaches this process, too: its parent decides, and sends `Stop`.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders: queue.SimpleQueue[Look | Serve | None] = queue.SimpleQueue()
    cancel = threading.Event()
    first = unpack(pipe.recv_bytes(MOST_BYTES), (Connect,))
    set_language(first.language)

    def listen() -> None:
        with suppress(EOFError, OSError):
            while True:
                order: Look | Serve | Stop = unpack(pipe.recv_bytes(MOST_BYTES), get_args(Look | Serve | Stop))
                if isinstance(order, Stop):
                    cancel.set()
                else:
                    orders.put(order)
        cancel.set()
        orders.put(None)

    threading.Thread(target=listen, name="listens", daemon=True).start()
    # The window may have closed the pipe: then there is nobody to answer.
    with suppress(BrokenPipeError, ConnectionResetError):
        try:
            with connected(first.scheduler.address, first.scheduler.tls) as client:
                while (order := orders.get()) is not None:
                    cancel.clear()
                    _follow(client, order, cancel, pipe)
        except GemmvizError as error:
            pipe.send_bytes(pack(Refusal(str(error))))


def _follow(client: Any, order: Look | Serve, cancel: threading.Event, pipe: Connection) -> None:
    if isinstance(order, Look):
        pipe.send_bytes(pack(Seats(seats(client))))
        return
    request = unpack(order.request, get_args(Request))
    for reply in serve(client, order.at, request, cancel):
        pipe.send_bytes(pack(Answer(pack(reply))))


def serve(client: Any, at: str, request: Request, cancel: threading.Event) -> Iterator[Reply]:
    """Serve a request on one worker; yield the replies, as an engine does, the last one is final.

    Parameters
    ----------
    client
        A `distributed.Client`.
    at
        The address of the worker.
    request
        The request.
    cancel
        Set it, from any thread, to end the request.

    Raises
    ------
    GemmvizError
        When the worker cannot be used.
    """
    shipped = ladder()
    parts = split(replace(request, language=language()))
    # If the worker has a GPU, the piece gets it for itself.
    jobs = [Job(*collected(part, shipped), gpu=True, deadline_s=deadline_s(part)) for part in parts]
    course = Course(client, jobs, at, samples=True)
    for number, reply in course.run(cancel):
        if isinstance(reply, Progress):
            yield replace(reply, share=(number + (reply.share or 0.0)) / len(parts))
        elif not isinstance(reply, FINAL):
            yield reply
    yield joined(request, parts, course.heard, cancel.is_set())
