"""Turns what the session wants into requests to the two engines, and their replies into the session's state."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from PySide6.QtCore import QObject, QTimer, Signal

from gemmviz.backends.machine import Probe
from gemmviz.bench import store
from gemmviz.bench.entries import KernelEntry
from gemmviz.bench.figures import TRANSFER
from gemmviz.bench.results import FAILURES, Document
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Failed,
    Probed,
    ProbeRequest,
    Progress,
    RecordRequest,
    Reply,
    Result,
    Sample,
)
from gemmviz.language import tr, trn
from gemmviz.session import Answer, Message, Session
from gemmviz.trace.playable import Playable
from gemmviz.ui.charts.tuning_runner import TuningRunner
from gemmviz.ui.comparison.recording import SecondRecorder
from gemmviz.ui.look.figure_text import status_name
from gemmviz.ui.source.checks import CheckedJob, Checks, Job
from gemmviz.ui.window.worker import EngineLike, Worker

_DEBOUNCE_MS = 250


class Controller(QObject):
    """Drives one engine that records and one that measures, so that recording stays quick during a benchmark.

    Parameters
    ----------
    session
        What is wanted, and where answers go.
    make_engine
        Makes an engine; called once in each worker's thread.
    """

    cancelled = Signal()
    """Everything that runs or waits is being stopped: others that use the engines must not go on with the next."""

    def __init__(self, session: Session, make_engine: Callable[[], EngineLike]) -> None:
        super().__init__()
        self.session = session
        self.auto = True
        self.play_next = True
        self.recorder = Worker("records", make_engine)
        self.bench = Worker("measures", make_engine)
        self._runs = count(1)
        self._base = session.choice.base
        self._record_run = self._bench_run = self._probe_run = 0
        self.checks = Checks(session, self.recorder, self.next_run)
        self.tuning = TuningRunner(session, self.bench, self.next_run, self.checks)
        self.second = SecondRecorder(session, make_engine, self.next_run)
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(_DEBOUNCE_MS)
        self._debounce.timeout.connect(self.record)
        self.recorder.replied.connect(self._on_record_reply)
        self.recorder.recorded.connect(self._on_recorded)
        self.bench.replied.connect(self._on_bench_reply)
        session.choice.chosen.connect(self._on_chosen)
        session.tour.recording_wanted.connect(self.record)
        session.reopening.recording_wanted.connect(self.record)
        session.demonstration.recording_wanted.connect(self.record)
        session.permission.granted.connect(self.record)

    def close(self) -> None:
        """End both engines and their threads."""
        self._debounce.stop()
        self.cancelled.emit()
        self._record_run = self._bench_run = self._probe_run = -1
        # All processes first, and only then the threads: none waits for the other.
        for worker in (self.recorder, self.bench, self.second.worker):
            worker.kill()
        self.second.close()
        self.recorder.stop()
        self.bench.stop()

    def next_run(self) -> int:
        """Return a number for a request: replies carry it, so that others can share the engines."""
        return next(self._runs)

    # Recording

    def _on_chosen(self) -> None:
        session = self.session
        if session.choice.fault is not None:
            # The text that is being edited is no kernel yet: what was recorded of the one before stays.
            self._debounce.stop()
            self._tell_fault()
            return
        # A lesson says by itself what an exhibit shows, and needs the room.
        exhibit = session.choice.kernel.exhibit if session.tour.lesson is None else ""
        if session.choice.base is not self._base or not self._outlives_typing():
            session.messages.tell(Message(_exhibit_text(exhibit), "info", lasting=True) if exhibit else None)
        self._base = session.choice.base
        if self.auto:
            self._debounce.start()

    def _outlives_typing(self) -> bool:
        """Say whether the message is a question, or about another file than the one being edited."""
        message = self.session.messages.current
        if message is None or not message.lasting:
            return False
        return message.asks or (message.source is not None and message.source[0] != self.session.choice.base.path.name)

    def _tell_fault(self) -> bool:
        """Say why the text is no kernel; False where it is one."""
        fault = self.session.choice.fault
        if fault is not None:
            self.session.messages.tell(Message(str(fault), line=fault.line))
        return fault is not None

    def record(self) -> None:
        """Record what is chosen; a size that does not fit is said so, with one that does."""
        session = self.session
        session.choice.settle()
        self._debounce.stop()
        if self._tell_fault():
            return
        if not session.choice.kernel.recordable or not session.permission.refresh():
            self.cancel_recording()
            self._record_run = 0
            session.progress.set("record", None)
            session.playback.pause()
            session.cursor.show(None)
            return
        try:
            session.choice.launch()
        except GemmvizError as error:
            fix = nearest_size(session.choice.kernel, session.choice.problem, session.choice.params)
            use = Answer(tr("Use {size}", size=fix), lambda: session.choice.choose(problem=fix))
            answers = (use,) if fix and fix != session.choice.problem else ()
            session.messages.tell(Message(str(error), "warning", answers=answers))
            return
        kernel, problem = session.choice.kernel, session.choice.problem
        self._record_run = self.next_run()
        session.progress.set("record", (tr("Recording {kernel}", kernel=kernel.alias), None))
        self.recorder.submit(
            RecordRequest(
                self._record_run,
                str(kernel.path),
                kernel.text,
                problem.m,
                problem.n,
                problem.k,
                dict(session.choice.params),
                session.choice.order,
                as_written=session.choice.as_written,
            )
        )

    def cancel_recording(self) -> None:
        """Stop recording."""
        self.recorder.cancel()

    def _on_recorded(self, run: int, playable: Playable, report: Report | None) -> None:
        session = self.session
        if run != self._record_run:
            return
        session.findings.record(playable.recording.text, report)
        session.progress.set("record", None)
        self._probe_once()
        placed = session.tour.waiting or session.reopening.waiting or session.demonstration.waiting
        playing = (session.playback.playing or self.play_next) and not placed
        self.play_next = False
        session.playback.pause()
        session.cursor.show(playable)
        notes = _explained(_notes(playable), session.choice.kernel) or _another_size(session)
        if session.tour.lesson is not None and session.choice.kernel.exhibit:
            notes = None
        if notes is not None or session.messages.current is None or not session.messages.current.lasting:
            session.messages.tell(notes)
        if playing:
            session.playback.play()

    def _on_record_reply(self, reply: Reply) -> None:
        if reply.run != self._record_run:
            return
        if isinstance(reply, Progress):
            self.session.progress.set("record", (reply.text, reply.share))
        elif isinstance(reply, Failed):
            self.session.progress.set("record", None)
            self._probe_once()
            message = self._failure(reply)
            if message is not None:
                message = replace(message, text=self.session.demonstration.fail(message.text))
            self.session.messages.tell(_explained(message, self.session.choice.kernel))

    # Measuring

    def _probe_once(self) -> None:
        """Ask what this machine has, for the labels of the figures: after the first recording, which must not wait."""
        if not self._probe_run and self.session.progress["bench"] is None:
            self._probe_run = self.next_run()
            self.bench.submit(ProbeRequest(self._probe_run))

    def measure_this(self) -> None:
        """Measure the chosen rung with its chosen parameters."""
        session = self.session
        session.choice.settle()
        if self._tell_fault() or not self.may_run():
            return
        try:
            launch(session.choice.kernel, session.choice.bench_problem, session.choice.bench_params)
        except GemmvizError as error:
            session.messages.tell(Message(str(error), "warning", lasting=True))
            return
        self._measure_checked([self._this()])

    def measure_all(self) -> None:
        """Measure every rung with its default parameters, or with those tuned here where that is wanted."""
        self._measure_checked(self._every([self.session.choice.bench_problem]))

    def measure_over_n(self, sizes: list[int], every: bool) -> None:
        """Measure the chosen rung, or every one, at M = N = K for each of some sizes."""
        self.session.choice.settle()
        if every or not (self._tell_fault() or not self.may_run()):
            problems = [Problem.cube(n) for n in sizes]
            self._measure_checked(self._every(problems) if every else [self._this()], problems)

    def may_run(self) -> bool:
        """Say whether the chosen text may run; where it is only looked at, ask again."""
        permission = self.session.permission
        if not permission.refresh():
            permission.ask()
        return not permission.held

    def _this(self) -> Job:
        return self.session.choice.kernel, dict(self.session.choice.bench_params)

    def _every(self, problems: list[Problem]) -> list[Job]:
        return [(kernel, self.session.tuning.params_for(kernel, problems)) for kernel in self.session.choice.kernels]

    def _measure_checked(self, jobs: list[Job], problems: list[Problem] | None = None) -> None:
        """Measure what the checker has nothing against; what it has is said, and measured only when asked again.

        What nobody has allowed to run is left out, and said.
        """
        held = [kernel for kernel, _ in jobs if not self.session.permission.trust.allows(kernel.path, kernel.text)]
        jobs = [job for job in jobs if job[0] not in held]

        def judged(verdicts: list[CheckedJob]) -> None:
            good = [verdict.job for verdict in verdicts if not verdict.fault]
            bad = [verdict for verdict in verdicts if verdict.fault]
            if good:
                self._measure_jobs(good, problems)
            if bad:
                said = "\n".join(
                    tr("{kernel} is not measured: {why}", kernel=self._name(v.job[0]), why=v.fault) for v in bad
                )
                anyway = Answer(tr("Run anyway"), lambda: self._measure_jobs([v.job for v in bad], problems))
                self.session.messages.tell(Message(said, "warning", answers=(anyway,), lasting=True))
            elif held:
                names = ", ".join(map(self._name, held))
                said = tr("Not measured, as nobody has allowed it to run: {files}.", files=names)
                self.session.messages.tell(Message(said, "info", lasting=True))

        self.checks.judge(jobs, judged)

    def _name(self, kernel: Kernel) -> str:
        return self.session.choice.title if kernel is self.session.choice.kernel else kernel.path.name

    def _measure_jobs(self, jobs: list[Job], problems: list[Problem] | None) -> None:
        for kernel, _ in jobs:
            self.session.results.keep_variant(kernel)
        self.measure([{"path": str(k.path), "text": k.text, "params": params} for k, params in jobs], problems)

    def measure(self, kernels: list[KernelEntry], problems: list[Problem] | None = None) -> None:
        """Measure some kernels, each given as ``BenchRequest`` wants them.

        Parameters
        ----------
        kernels
            What to measure.
        problems
            At which sizes; by default at the one chosen for measuring.
        """
        session = self.session
        sizes = [(p.m, p.n, p.k) for p in problems or [session.choice.bench_problem]]
        self._bench_run = self.next_run()
        session.messages.tell(None)
        session.results.start_samples()
        session.progress.set("bench", (tr("Starting"), None))
        self.bench.submit(BenchRequest(self._bench_run, kernels, sizes, dict(session.choice.protocol)))

    def cancel(self) -> None:
        """Stop recording and measuring."""
        self.cancelled.emit()
        self.cancel_recording()
        self.second.cancel()
        self.bench.cancel()

    def _on_bench_reply(self, reply: Reply) -> None:
        if reply.run not in (self._bench_run, self._probe_run):
            return
        session = self.session
        match reply:
            case Probed():
                session.results.set_device(_device(reply.facts), reply.facts["device"])
            case Progress() if reply.run == self._bench_run:
                session.progress.set("bench", (reply.text, reply.share))
            case Sample():
                flops = 2.0 * reply.m * reply.n * reply.k
                figures = [flops / s / 1e9 for s in reply.seconds if s > 0]
                session.results.add_samples(reply.label, f"{reply.m} × {reply.n} × {reply.k}", figures, reply.gflops)
            case Result():
                session.results.add_result(reply.row)
            case BenchDone():
                session.progress.set("bench", None)
                self._keep(reply.document)
                self._say_failed(reply.document)
                if not session.results.device:
                    self._probe_run = 0  # the run had taken the place of the probe
                    self._probe_once()
            case Failed() if reply.run == self._bench_run:
                session.progress.set("bench", None)
                session.messages.tell(self._failure(reply))
            case Failed() if reply.kind == "cancelled":
                self._probe_run = 0  # another run took the probe's place: it is made again after the next recording

    def _failure(self, reply: Failed) -> Message | None:
        """Say why a run failed; a text that was edited is named as its file."""
        kernel, base = self.session.choice.kernel, self.session.choice.base
        message = reply.message.replace(kernel.path.name, base.path.name)
        return _failure(replace(reply, message=message))

    def _say_failed(self, document: Document) -> None:
        """Say why the only kernel of a run has no figure: nothing else in the window would."""
        rows = [row for row in document["results"] if row["backend"] != TRANSFER]
        failed = [row for row in rows if row["status"] in FAILURES]
        if self.session.messages.current is None and len(rows) == len(failed) == 1:
            row = failed[0]
            said = tr(
                "{kernel} was run and has no GFLOPS. {status}: {why}",
                kernel=row["label"],
                status=status_name(row["status"]),
                why=row["message"],
            )
            self.session.messages.tell(Message(said, "warning", lasting=True))

    def _keep(self, document: Document) -> None:
        """Take the result file of a run, and keep it among the past runs of this machine."""
        self.session.results.document = document
        if document["results"]:
            try:
                store.save(document)
            except GemmvizError as error:
                said = tr("The results are not kept: {error}", error=error)
                self.session.messages.tell(Message(said, "warning", lasting=True))


def _failure(reply: Failed) -> Message | None:
    if reply.kind == "cancelled":
        return Message(tr("Cancelled. What was finished before is kept."), "info")
    said = any(f"{before}{reply.line}" in reply.message for before in ("line ", ":"))
    text = reply.message
    if reply.line and not said:
        text = tr("line {line}: {what}", line=reply.line, what=reply.message)
    return Message(text, "warning" if reply.kind == "refused" else "error", reply.line)


def _explained(message: Message | None, kernel: Kernel) -> Message | None:
    """Let the message about an exhibit begin with what the exhibit is for: that it fails is no fault."""
    if message is None or not kernel.exhibit:
        return message
    return replace(message, text=f"{_exhibit_text(kernel.exhibit)}\n{message.text}", kind="info", lasting=True)


def _exhibit_text(exhibit: str) -> str:
    return tr("Exhibit: {why}", why=tr(exhibit))


def _another_size(session: Session) -> Message | None:
    """Say why a rung is shown at another size than the one chosen, when it is."""
    if (
        session.choice.wanted is None
        or session.choice.problem == session.choice.wanted
        or session.tour.lesson is not None
    ):
        return None
    try:
        launch(session.choice.kernel, session.choice.wanted, session.choice.params)
    except GemmvizError as error:
        return Message(tr("Shown at {size}, because {why}", size=session.choice.problem, why=error), "info")
    said = {"size": session.choice.problem, "wanted": session.choice.wanted}
    return Message(tr("Shown at {size}, because {wanted} would not fill the tiles of several blocks.", **said), "info")


def _notes(playable: Playable) -> Message | None:
    """Say what the recorder noticed, when it noticed anything."""
    recording = playable.recording
    notes = list(recording.notes)
    if recording.wrong:
        wrong = trn(
            "{kernel} computed {count} wrong element of C.",
            "{kernel} computed {count} wrong elements of C.",
            recording.wrong,
            kernel=recording.label,
        )
        notes.insert(0, wrong)
    # A note begins with FILE:LINE where the recorder knows it.
    line = next((int(found[1]) for note in notes if (found := re.match(r"\S+?:(\d+): ", note))), None)
    return Message("\n".join(notes[:4]), "warning", line) if notes else None


def _device(facts: Probe) -> str:
    """Name the machine in a few words, from what the engine's probe says."""
    gpu, cpu = facts["device"], facts["cpu"]
    return " / ".join(([gpu["name"]] if gpu else []) + [f"{cpu['model']} ({cpu['cores']} cores)"])
