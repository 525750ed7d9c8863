"""An engine on another machine: a worker of a cluster, reached through a relay process."""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, get_args

from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.cluster import relay
from gemmviz.cluster.connection import address
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.cluster.relay import Answer, Connect, Look, Refusal, Seats, Serve, Stop
from gemmviz.cluster.wire import MOST_BYTES, NotAMessage, pack, unpack
from gemmviz.engine.consent import Consent, refused
from gemmviz.engine.messages import FINAL, Failed, Progress, Reply, Request
from gemmviz.language import language, tr

_POLL_S = 0.05
# After a cancellation the relay answers within this time: see `gemmviz.cluster.course`.
_CANCELLED_S = 7.0
# The relay imports Dask, connects, and asks each worker.
_LOOKING_S = 60.0
_DYING_S = 2.0


class RemoteEngine:
    """One worker of a cluster, used like `gemmviz.engine.supervisor.Engine`. Only one thread may use it at a time.

    A text without consent is not sent. If the worker dies, no other one serves the request: the user chose a device.

    Parameters
    ----------
    consent
        Decides which source texts may be compiled and run.
    scheduler
        The cluster.
    seat
        The worker.
    """

    def __init__(self, consent: Consent, scheduler: Scheduler, seat: Seat) -> None:
        self._consent, self._seat = consent, seat
        self._relay = _Relay(scheduler)

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """Yield the replies to a request; the last one is one of `gemmviz.engine.messages.FINAL`.

        Parameters
        ----------
        request
            The request.
        cancel
            Set it, from any thread, to end the run.
        """
        held = refused(request, self._consent)
        if held:
            names = ", ".join(path.name for path in held)
            text = tr("{files}: not sent, because you have not allowed it to run.", files=names)
            yield Failed(request.run, "untrusted", text)
            return
        place = tr("{device} on {host}", device=self._seat.device, host=self._seat.host)
        yield Progress(request.run, tr("Waiting for {place}", place=place))
        try:
            self._relay.send(Serve(self._seat.address, pack(request)))
            yield from self._replies(cancel)
        except (OSError, EOFError):
            yield Failed(request.run, "crash", tr("the connection to {place} was lost", place=place))
        except (Unavailable, NotAMessage) as error:
            yield Failed(request.run, "cancelled" if cancel.is_set() else "unsupported", f"{place}: {error}")

    def _replies(self, cancel: threading.Event) -> Iterator[Reply]:
        give_up: float | None = None
        while True:
            if cancel.is_set() and give_up is None:
                give_up = time.monotonic() + _CANCELLED_S
                self._relay.send(Stop())
            answer = self._relay.receive(_POLL_S)
            if answer is None:
                if give_up is not None and time.monotonic() > give_up:
                    self._relay.close()
                    raise Unavailable(tr("cancelled"))
                continue
            if isinstance(answer, Answer):
                reply: Reply = unpack(answer.reply, get_args(Reply))
                yield reply
                if isinstance(reply, FINAL):
                    return

    def close(self) -> None:
        """End the relay; the worker ends its request. Any thread may call this."""
        self._relay.close()


def look(scheduler: Scheduler, cancel: threading.Event | None = None) -> list[Seat]:
    """Return the workers of a cluster, those with a GPU first.

    Parameters
    ----------
    scheduler
        The cluster.
    cancel
        Set it, from any thread, to end the search at once.

    Raises
    ------
    Unavailable
        When the cluster cannot be used, or the search was cancelled.
    """
    try:
        address(scheduler.address, scheduler.tls)  # to know this, no process has to import Dask first
    except ConstraintError as error:
        raise Unavailable(str(error)) from None
    found = _Relay(scheduler)
    end, answer = time.monotonic() + _LOOKING_S, None
    try:
        found.send(Look())
        while answer is None and time.monotonic() < end:
            if cancel is not None and cancel.is_set():
                raise Unavailable(tr("cancelled"))
            answer = found.receive(_POLL_S)
    except (OSError, EOFError, NotAMessage) as error:
        raise Unavailable(tr("the connection to the cluster was lost") + f" ({error})") from None
    finally:
        found.close()
    if not isinstance(answer, Seats):
        raise Unavailable(tr("{address} does not answer", address=scheduler.address))
    return answer.seats


class _Relay:
    """The relay's process: it is started when it is first needed, and again after it has ended."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None

    def send(self, order: Look | Serve | Stop) -> None:
        """Send an order; start the process if there is none.

        Raises
        ------
        OSError
            When the process has ended.
        """
        with self._lock:
            if self._process is None or not self._process.is_alive():
                self._start()
            assert self._pipe is not None
            self._pipe.send_bytes(pack(order))

    def receive(self, seconds: float) -> Seats | Answer | None:
        """Return the next answer; None if there is none within some seconds.

        Raises
        ------
        Unavailable
            With the reason why the relay cannot serve the request.
        EOFError, OSError
            When the process has ended.
        NotAMessage
            When its answer is damaged.
        """
        pipe = self._pipe
        if pipe is None:
            raise EOFError
        if not pipe.poll(seconds):
            return None
        answer: Seats | Answer | Refusal = unpack(pipe.recv_bytes(MOST_BYTES), get_args(Seats | Answer | Refusal))
        if isinstance(answer, Refusal):
            self.close()
            raise Unavailable(answer.text)
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            process, pipe = self._process, self._pipe
            self._process = self._pipe = None
        if process is not None:
            # It could be asked to end, but its connections may hang; a worker notices that its client is gone.
            process.kill()
            process.join(_DYING_S)
            with suppress(ValueError):
                process.close()
        if pipe is not None:
            pipe.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=relay.main, args=(far,), daemon=True, name="gemmviz relay")
        self._process.start()
        far.close()
        self._pipe.send_bytes(pack(Connect(self._scheduler, language())))
