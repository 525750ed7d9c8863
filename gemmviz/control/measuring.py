"""Measures kernels on request, once the checker has passed them, and keeps the figures."""

from gemmviz.backends.driver import DeviceFacts
from gemmviz.backends.environment import CpuFacts, cpu_of
from gemmviz.bench.document import Document
from gemmviz.bench.entries import KernelEntry, kernel_entry
from gemmviz.bench.figures import TRANSFER, Turn
from gemmviz.bench.row import FAILURES
from gemmviz.bench.status_names import status_name
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.control import chosen_text
from gemmviz.control.checks import CheckedJob, Checks, Job
from gemmviz.control.companions import Companions
from gemmviz.control.engines import Engines
from gemmviz.control.failures import failure
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Failed,
    Header,
    Probed,
    ProbeRequest,
    Progress,
    Reply,
    Result,
    Sample,
)
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.session.measurable import reason_and_remedy

_NOT_RUN = ("skipped", "unsupported")


class Measuring:
    """Turns measuring commands into requests, and replies into results; requests the machine's facts once.

    Parameters
    ----------
    session
        The session with the kernels to measure; it takes the figures.
    engines
        The engines; the measuring one is used.
    checks
        Checks kernels that differ from those that gemmviz brings.
    """

    def __init__(self, session: Session, engines: Engines, checks: Checks) -> None:
        self.session = session
        self._engines = engines
        self._checks = checks
        self._companions = Companions(session, engines, self._store)
        self._run = self._probe_run = 0
        engines.bench.replied.connect(self._on_reply)

    def probe_once(self) -> None:
        """Request the machine's facts, to label the figures: after the first recording, which must not wait."""
        if not self._probe_run and self.session.progress["bench"] is None:
            self._probe_run = self._engines.next_run()
            self._engines.bench.submit(ProbeRequest(self._probe_run))

    def probe_again(self) -> None:
        """Request the facts of the machine that measures now."""
        self._probe_run = 0
        self.probe_once()

    def measure_this(self) -> None:
        """Measure the chosen rung with its chosen parameters."""
        session, choice = self.session, self.session.choice
        choice.settle()
        if not self._may_measure():
            return
        try:
            launch(choice.kernel, choice.bench_problem, choice.bench_params)
        except GemmvizError as error:
            session.messages.tell(Message(str(error), "warning", lasting=True))
            return
        self._measure_checked([self._this()])

    def measure_all(self) -> None:
        """Measure every rung with its default parameters, or on request with those tuned here."""
        self._measure_checked(self._every([self.session.choice.bench_problem]))

    def measure_over_n(self, sizes: list[int], every: bool) -> None:
        """Measure the chosen rung, or every one, at M = N = K for each of some sizes."""
        self.session.choice.settle()
        if every or self._may_measure():
            problems = [Problem.cube(n) for n in sizes]
            self._measure_checked(self._every(problems) if every else [self._this()], problems)

    def _may_measure(self) -> bool:
        """Return whether the chosen text can be measured here; if not, show a message with the reason."""
        session = self.session
        if not (chosen_text.is_kernel(session) and chosen_text.may_run(session)):
            return False
        refused = reason_and_remedy(session)  # while the machine is not known, its engine answers
        if refused:
            session.messages.tell(Message(refused, "info", lasting=True))
        return not refused

    def _this(self) -> Job:
        return self.session.choice.kernel, dict(self.session.choice.bench_params)

    def _every(self, problems: list[Problem]) -> list[Job]:
        return [(kernel, self.session.tuning.params_for(kernel, problems)) for kernel in self.session.choice.kernels]

    def _measure_checked(self, jobs: list[Job], problems: list[Problem] | None = None) -> None:
        """Measure the kernels that pass the check; a message names the others and offers to measure them anyway.

        Kernels without the user's consent are left out, and named.
        """
        held = [kernel for kernel, _ in jobs if not self.session.permission.trust.allows(kernel.path, kernel.text)]
        jobs = [job for job in jobs if job[0] not in held]

        def judged(verdicts: list[CheckedJob]) -> None:
            good = [verdict.job for verdict in verdicts if not verdict.fault]
            bad = [verdict for verdict in verdicts if verdict.fault]
            if good:
                self._measure_jobs(good, problems)
            if bad:
                text = "\n".join(
                    tr("{kernel} is not measured: {why}", kernel=self._name(v.job[0]), why=v.fault) for v in bad
                )
                anyway = Answer(tr("Run anyway"), lambda: self._measure_jobs([v.job for v in bad], problems))
                self.session.messages.tell(Message(text, "warning", answers=(anyway,), lasting=True))
            elif held:
                names = ", ".join(map(self._name, held))
                text = tr("Not measured, because it is not allowed to run: {files}.", files=names)
                self.session.messages.tell(Message(text, "info", lasting=True))

        self._checks.judge(jobs, judged)

    def _name(self, kernel: Kernel) -> str:
        return self.session.choice.title if kernel is self.session.choice.kernel else kernel.path.name

    def _measure_jobs(self, jobs: list[Job], problems: list[Problem] | None) -> None:
        for kernel, _ in jobs:
            self.session.results.keep_variant(kernel)
        self.measure([kernel_entry(k, params) for k, params in jobs], problems)

    def measure(self, kernels: list[KernelEntry], problems: list[Problem] | None = None) -> None:
        """Measure some kernels, each in the form of ``BenchRequest``.

        Parameters
        ----------
        kernels
            The kernels to measure.
        problems
            The sizes; by default the one chosen for measuring.
        """
        session = self.session
        sizes = [(p.m, p.n, p.k) for p in problems or [session.choice.bench_problem]]
        self._run = self._engines.next_run()
        session.messages.tell(None)
        session.results.start_samples()
        session.progress.set("bench", (tr("Starting"), None))
        request = BenchRequest(self._run, kernels, sizes, dict(session.choice.protocol))
        self._engines.bench.submit(request)
        self._companions.measure(request)

    def _on_reply(self, reply: Reply) -> None:
        if reply.run not in (self._run, self._probe_run):
            return
        session = self.session
        match reply:
            case Probed():
                self._know(reply.facts["device"], reply.facts["cpu"])
            case Header() if not session.results.device:  # the run has replaced the probe
                self._know(reply.document["device"], cpu_of(reply.document["env"]))
            case Progress() if reply.run == self._run:
                session.progress.set("bench", (reply.text, reply.share))
            case Sample():
                flops = 2.0 * reply.m * reply.n * reply.k
                figures = [flops / s / 1e9 for s in reply.seconds if s > 0]
                size = reply.m, reply.n, reply.k
                turn = Turn(reply.kernel, size, reply.round, reply.rounds, reply.verified)
                session.results.add_samples(reply.label, " × ".join(map(str, size)), figures, reply.gflops, turn)
            case Result():
                session.results.add_result(reply.row)
            case BenchDone():
                session.results.end_samples()
                session.progress.set("bench", None)
                self._keep(reply.document)
                self._show_failure(reply.document)
                if not session.results.device:
                    self._probe_run = 0  # no process of the run had named its machine
                    self.probe_once()
            case Failed() if reply.run == self._run:
                session.results.end_samples()
                session.progress.set("bench", None)
                session.messages.tell(failure(reply, session.choice))
            case Failed() if reply.kind != "cancelled" and session.places.chosen is not None:
                session.messages.tell(Message(reply.message, "warning", lasting=True))
            case Failed() if reply.kind == "cancelled":
                self._probe_run = 0  # another run replaced the probe: it is made again after the next recording

    def _know(self, gpu: DeviceFacts | None, cpu: CpuFacts) -> None:
        """Take the facts of the machine that measures."""
        name = " / ".join(([gpu["name"]] if gpu else []) + [f"{cpu['model']} ({cpu['cores']} cores)"])
        self.session.choice.schedule_for(gpu["sms"] if gpu else None)
        self.session.results.set_device(name, gpu, cpu["cores"])

    def _show_failure(self, document: Document) -> None:
        """Show why the only kernel of a run has no figure: no other part of the window shows it."""
        rows = [row for row in document["results"] if row["backend"] != TRANSFER]
        if self.session.messages.current is not None or len(rows) != 1:
            return
        (row,) = rows
        if row["status"] in _NOT_RUN and row["message"]:
            text = tr("{kernel} cannot be measured here: {why}", kernel=row["label"], why=row["message"])
            self.session.messages.tell(Message(text, "info", lasting=True))
        elif row["status"] in FAILURES:
            text = tr(
                "{kernel} was run and has no GFLOPS. {status}: {why}",
                kernel=row["label"],
                status=status_name(row["status"]),
                why=row["message"],
            )
            self.session.messages.tell(Message(text, "warning", lasting=True))

    def _keep(self, document: Document) -> None:
        """Take the result file of a run, and keep it among the past runs."""
        self.session.results.document = document
        self._store(document)

    def _store(self, document: Document) -> None:
        """Keep a result file among the past runs."""
        if document["results"]:
            try:
                from gemmviz.bench import store  # late: the first picture needs no result files

                store.save(document)
            except GemmvizError as error:
                text = tr("The results are not kept: {error}", error=error)
                self.session.messages.tell(Message(text, "warning", lasting=True))
