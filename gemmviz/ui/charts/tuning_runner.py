"""Lets the engine that measures search for a kernel's fastest parameters, and keeps what it finds."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.outcome import Outcome
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.engine.messages import Failed, Header, Probed, Progress, Reply, Searched, Tried, TuneRequest
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.ui.source.checks import CheckedJob, Checks
from gemmviz.ui.window.worker import Worker


class TuningRunner(QObject):
    """Runs one search at a time, for the chosen kernel at the size chosen for measuring.

    Parameters
    ----------
    session
        What to tune, and where the candidates go.
    worker
        The thread of the engine that measures.
    next_run
        Gives requests their numbers.
    checks
        Asked about a kernel that is not as gemmviz brings it.
    """

    def __init__(self, session: Session, worker: Worker, next_run: Callable[[], int], checks: Checks) -> None:
        super().__init__()
        self.session = session
        self._worker = worker
        self._next_run = next_run
        self._checks = checks
        self._run = 0
        self._said: tuple[str, float | None] | None = None
        worker.replied.connect(self._on_reply)

    def start(self) -> None:
        """Search for the chosen kernel's parameters, unless something is measured already."""
        session = self.session
        session.choice.settle()
        if session.choice.fault is not None:
            session.messages.tell(Message(str(session.choice.fault), line=session.choice.fault.line))
            return
        if session.progress["bench"] is not None:
            session.messages.tell(Message(tr("Something is being measured: wait for it, or cancel it first."), "info"))
            return
        kernel = session.choice.kernel
        if not session.permission.refresh():
            session.permission.ask()
            return
        if not kernel.params or kernel.exhibit:
            said = tr("{kernel} declares no parameters: there is nothing to tune", kernel=kernel.name)
            if kernel.exhibit:
                said = tr("{kernel} is an exhibit, and never timed", kernel=kernel.name)
            session.messages.tell(Message(said, "info", lasting=True))
            return
        self._checks.judge([(kernel, dict(session.choice.bench_params))], self._judged)

    def use(self) -> None:
        """Measure with what the last search found."""
        if not self.session.tuning.use():
            self.session.messages.tell(Message(tr("There is nothing to use yet: tune this kernel first."), "info"))

    def _judged(self, verdicts: list[CheckedJob]) -> None:
        (verdict,) = verdicts
        kernel = verdict.job[0]
        if not verdict.fault:
            self._begin(kernel)
            return
        anyway = Answer(tr("Tune anyway"), lambda: self._begin(kernel))
        said = tr("{kernel} is not tuned: {why}", kernel=self.session.choice.title, why=verdict.fault)
        self.session.messages.tell(Message(said, "warning", answers=(anyway,), lasting=True))

    def _begin(self, kernel: Kernel) -> None:
        session, problem = self.session, self.session.choice.bench_problem
        self._run = self._next_run()
        session.messages.tell(None)
        session.tuning.start(kernel, problem)
        self._say((tr("Starting"), None))
        seconds = float(session.tuning.seconds)
        path = str(kernel.path)
        self._worker.submit(TuneRequest(self._run, path, kernel.text, problem.m, problem.n, problem.k, seconds=seconds))

    def _on_reply(self, reply: Reply) -> None:
        tuning = self.session.tuning
        if isinstance(reply, Probed):
            tuning.set_machine(reply.facts)
        if reply.run != self._run:
            return
        match reply:
            case Header():
                tuning.set_machine(reply.document)
            case Progress():
                self._say((reply.text, reply.share))
            case Tried():
                tuning.take(reply.number, reply.candidate, reply.best, reply.default, reply.candidates)
            case Searched():
                self._say(None)
                self._keep(reply.document)
                tuning.finish(reply.document)
            case Failed():
                self._say(None)
                tuning.finish(None)
                if reply.kind != "cancelled":
                    self.session.messages.tell(Message(reply.message, "warning", lasting=True))

    def _say(self, progress: tuple[str, float | None] | None) -> None:
        # Another benchmark may have taken the engine: its progress stays.
        if progress is None and self.session.progress["bench"] is not self._said:
            return
        self._said = progress
        self.session.progress.set("bench", progress)

    def _keep(self, document: Outcome) -> None:
        try:
            kept.keep(document)
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error), "warning", lasting=True))
