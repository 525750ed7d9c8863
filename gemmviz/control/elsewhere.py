"""Finds the devices of a cluster, and lets the measuring engine be on one of them."""

import platform
import threading
from collections.abc import Callable
from functools import partial

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.control.engines import Engines
from gemmviz.control.failures import tell_busy
from gemmviz.control.worker import EngineLike
from gemmviz.session import Session

_Found = tuple[Scheduler, list[Seat], str]
_Search = tuple[threading.Event, _Found]


class Elsewhere:
    """Looks for devices on request, and moves the measuring engine to the chosen one.

    Parameters
    ----------
    session
        The session with the places and the results.
    engines
        The engines; the measuring one is moved.
    probe
        Asks the measuring engine for the facts about its machine.
    """

    def __init__(self, session: Session, engines: Engines, probe: Callable[[], None]) -> None:
        self.session = session
        self._engines = engines
        self._probe = probe
        self._cancel = threading.Event()
        engines.looker.computed.connect(self._on_found)
        engines.cancelled.connect(self._on_cancelled)

    def use(self, scheduler: Scheduler | None) -> None:
        """Name a cluster and look for its devices; None: use this machine only."""
        self._cancel.set()
        self.session.places.name(scheduler)
        self.session.preferences.note_cluster(scheduler)
        if scheduler is None:
            self.choose(None)
        else:
            self.look()

    def look(self) -> None:
        """Look for the devices of the named cluster again."""
        scheduler = self.session.places.scheduler
        if scheduler is not None:
            self.session.places.look()
            self._cancel.set()  # the search before this one
            self._cancel = threading.Event()
            self._engines.looker.compute(partial(_searched, scheduler, self._cancel))

    def choose(self, seat: Seat | None) -> None:
        """Measure on a worker, or on this machine (None), unless something is being measured."""
        session = self.session
        if seat == session.places.chosen and session.results.device:
            return
        if self._is_busy():
            return
        self._engines.bench.stop()  # the next request makes the engine of the new place
        session.places.choose(seat)
        if seat is None:
            session.results.move("", platform.node())
        else:
            session.results.move(session.places.key, session.places.host(seat), seat.device)
        self._probe()

    def measure_beside(self, seat: Seat, wanted: bool) -> None:
        """Let a further worker measure the same at the same time, or no longer, unless something is being measured."""
        if not self._is_busy():
            self.session.places.measure_beside(seat, wanted)

    def _is_busy(self) -> bool:
        """Return whether something is being measured, and tell the user."""
        busy = self.session.progress.is_any("bench", "beside")
        if busy:
            tell_busy(self.session.messages)
        return busy

    def _on_cancelled(self) -> None:
        self._cancel.set()

    def _on_found(self, search: _Search) -> None:
        cancel, (scheduler, seats, fault) = search
        places = self.session.places
        if scheduler != places.scheduler or cancel is not self._cancel:
            return  # it was ended by a later search, whose result is to come
        if cancel.is_set():
            places.found(places.seats)  # as before the search
        else:
            places.found(seats, fault)


def _searched(scheduler: Scheduler, cancel: threading.Event) -> _Search:
    return cancel, _look(scheduler, cancel)


def _look(scheduler: Scheduler, cancel: threading.Event) -> _Found:
    from gemmviz.cluster.remote_engine import look  # late: few people have a cluster

    try:
        return scheduler, look(scheduler, cancel), ""
    except GemmvizError as error:
        return scheduler, [], str(error)


def engine_maker(session: Session, here: Callable[[], EngineLike]) -> Callable[[], EngineLike]:
    """Return a function that makes the measuring engine, on the chosen device.

    Parameters
    ----------
    session
        The session with the places and the user's consent.
    here
        Makes an engine of this machine.
    """

    def make() -> EngineLike:
        scheduler, seat = session.places.scheduler, session.places.chosen
        return here() if scheduler is None or seat is None else remote_engine(session, scheduler, seat)

    return make


def remote_engine(session: Session, scheduler: Scheduler, seat: Seat) -> EngineLike:
    """Return an engine on a device of the cluster, with the user's consent."""
    from gemmviz.cluster.remote_engine import RemoteEngine  # late: as in `_look`

    return RemoteEngine(session.permission.trust, scheduler, seat)
