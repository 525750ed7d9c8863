"""Measures the same kernels at the same time on further devices of the cluster, each with an engine of its own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gemmviz.backends.environment import cpu_of
from gemmviz.bench.document import Document
from gemmviz.cluster.piece import Seat
from gemmviz.control.elsewhere import remote_engine
from gemmviz.control.engines import Engines
from gemmviz.control.worker import Worker
from gemmviz.engine.messages import BenchDone, BenchRequest, Failed, Header, Progress, Reply, Result
from gemmviz.language import tr
from gemmviz.session import Message, Session


@dataclass
class _Companion:
    """A further device: its worker thread, the number of its present run, and the progress of this run."""

    seat: Seat
    worker: Worker
    run: int = 0
    share: float | None = None
    text: str = ""


class Companions:
    """Gives each measuring request to the further devices, and adds their figures to the session.

    Parameters
    ----------
    session
        The session with the places and the results.
    engines
        Each further device gets an engine there.
    keep
        Keeps the result file of a run.
    """

    def __init__(self, session: Session, engines: Engines, keep: Callable[[Document], None]) -> None:
        self.session = session
        self._engines = engines
        self._keep = keep
        self._of: dict[Seat, _Companion] = {}
        session.places.changed.connect(self._on_places)

    def measure(self, request: BenchRequest) -> None:
        """Measure the kernels of a request on each further device, too."""
        for seat in self.session.places.beside:
            self._know(seat, seat.gpu, seat.cpu, None)
            companion = self._companion(seat)
            companion.run, companion.share = self._engines.next_run(), None
            companion.text = tr("Starting")
            companion.worker.submit(replace(request, run=companion.run))
        self._show_progress()

    def _companion(self, seat: Seat) -> _Companion:
        if seat not in self._of:
            scheduler = self.session.places.scheduler
            assert scheduler is not None
            worker = self._engines.add(
                f"measures on {seat.address}", partial(remote_engine, self.session, scheduler, seat)
            )
            self._of[seat] = _Companion(seat, worker)
            worker.replied.connect(partial(self._on_reply, self._of[seat]))
        return self._of[seat]

    def _on_places(self) -> None:
        """End the engines on devices that measure no longer."""
        for seat in [seat for seat in self._of if seat not in self.session.places.beside]:
            self._engines.remove(self._of.pop(seat).worker)
        self._show_progress()

    def _on_reply(self, companion: _Companion, reply: Reply) -> None:
        if reply.run != companion.run:
            return
        session, seat = self.session, companion.seat
        match reply:
            case Header():
                cpu, device = cpu_of(reply.document["env"]), reply.document["device"]
                name = f"{cpu['model']} ({cpu['cores']} cores)"
                self._know(seat, device["name"] if device else "", name, cpu["cores"])
            case Progress():
                companion.text, companion.share = reply.text, reply.share
                self._show_progress()
            case Result():
                session.results.add_beside(session.places.key_of(seat), reply.row)
            case BenchDone():
                self._end(companion)
                self._keep(reply.document)
            case Failed():
                self._end(companion)
                if reply.kind != "cancelled":
                    session.messages.tell(Message(reply.message, "warning", lasting=True))

    def _know(self, seat: Seat, gpu: str, cpu: str, cores: int | None) -> None:
        places = self.session.places
        self.session.results.know(places.key_of(seat), gpu, cpu, cores, places.host(seat))

    def _end(self, companion: _Companion) -> None:
        companion.run = 0
        self._show_progress()

    def _show_progress(self) -> None:
        """Show the progress of the device that has done the least."""
        running = [one for one in self._of.values() if one.run]
        if not running:
            if self.session.progress["beside"] is not None:
                self.session.progress.set("beside", None)
            return
        last = min(running, key=lambda one: one.share or 0.0)
        place = tr("{device} on {host}", device=last.seat.device, host=self.session.places.host(last.seat))
        self.session.progress.set("beside", (f"{place}: {last.text}", last.share))
