"""Searches for a kernel's fastest parameters in the measuring engine, and keeps the result."""

from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.outcome import Outcome
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control import chosen_text
from gemmviz.control.checks import CheckedJob, Checks
from gemmviz.control.engines import Engines
from gemmviz.control.failures import tell_busy
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import Failed, Header, Probed, Progress, Reply, Searched, Tried, TuneRequest
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session.models.progress import Share


class TuningRunner:
    """Runs one search at a time, for the chosen kernel at the size chosen for measuring.

    Parameters
    ----------
    session
        The session with the kernel to tune; it takes the candidates.
    engines
        The engines; the measuring one is used.
    checks
        Checks a kernel that differs from those that gemmviz brings.
    """

    def __init__(self, session: Session, engines: Engines, checks: Checks) -> None:
        self.session = session
        self._engines = engines
        self._checks = checks
        self._run = 0
        self._shown: Share | None = None
        engines.bench.replied.connect(self._on_reply)

    def start(self) -> None:
        """Search for the chosen kernel's parameters, unless a measurement is in progress."""
        session = self.session
        session.choice.settle()
        if not chosen_text.is_kernel(session):
            return
        if session.progress["bench"] is not None:
            tell_busy(session.messages)
            return
        kernel = session.choice.kernel
        if not chosen_text.may_run(session):
            return
        if not kernel.params or kernel.exhibit:
            text = tr("{kernel} declares no parameters: there is nothing to tune", kernel=kernel.name)
            if kernel.exhibit:
                text = tr("{kernel} is an exhibit: exhibits are never timed", kernel=kernel.name)
            session.messages.tell(Message(text, "info", lasting=True))
            return
        self._checks.judge([(kernel, dict(session.choice.bench_params))], self._judged)

    def use(self) -> None:
        """Measure with the parameters of the last search."""
        if not self.session.kept_parameters.use_found():
            self.session.messages.tell(Message(tr("There is nothing to use yet: tune this kernel first."), "info"))

    def _judged(self, verdicts: list[CheckedJob]) -> None:
        (verdict,) = verdicts
        kernel = verdict.job[0]
        if not verdict.fault:
            self._begin(kernel)
            return
        anyway = Answer(tr("Tune anyway"), lambda: self._begin(kernel))
        text = tr("{kernel} is not tuned: {why}", kernel=self.session.choice.title, why=verdict.fault)
        self.session.messages.tell(Message(text, "warning", answers=(anyway,), lasting=True))

    def _begin(self, kernel: Kernel) -> None:
        session, problem = self.session, self.session.choice.bench_problem
        self._run = self._engines.next_run()
        session.messages.tell(None)
        session.tuning.start(kernel, problem)
        self._show_progress(tr("Starting"), None)
        seconds = float(session.tuning.seconds)
        self._engines.bench.submit(TuneRequest(self._run, **launched(kernel, problem), seconds=seconds))

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
                self._show_progress(reply.text, reply.share)
            case Tried():
                tuning.take(reply.number, reply.candidate, reply.best, reply.default, reply.candidates)
            case Searched():
                self.session.progress.end("bench", self._shown)
                self._keep(reply.document)
                tuning.finish(reply.document)
            case Failed():
                self.session.progress.end("bench", self._shown)
                tuning.finish(None)
                if reply.kind != "cancelled":
                    self.session.messages.tell(Message(reply.message, "warning", lasting=True))

    def _show_progress(self, text: str, share: float | None) -> None:
        self._shown = text, share
        self.session.progress.set("bench", self._shown)

    def _keep(self, document: Outcome) -> None:
        try:
            kept.keep(document)
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error), "warning", lasting=True))
