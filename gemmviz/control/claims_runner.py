"""Runs the measurements and recordings that claims need, one after the other, and keeps the figures."""

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import date

from psygnal import Signal

from gemmviz.bench import claims as judging
from gemmviz.bench import results, store
from gemmviz.bench.claims import BenchJob, Claim, ProfileJob, RecordJob, Source
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.problem import Problem
from gemmviz.control.claims_judge import ClaimsJudge
from gemmviz.control.engines import Engines
from gemmviz.control.failures import tell_busy
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Failed,
    Profiled,
    ProfileRequest,
    Progress,
    RecordRequest,
    Reply,
    Result,
)
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.session.models.progress import Share
from gemmviz.trace.playable import Playable

Job = BenchJob | ProfileJob | RecordJob


class ClaimsRunner:
    """Measures and records the kernels of claims on this machine, for `judge` to judge the claims.

    One job runs at a time, and none during another measurement. A recording for the user goes first.

    Parameters
    ----------
    session
        The session; takes progress and messages, and has the reference results.
    engines
        The engines that record and measure.
    claims, sources
        By default the claims and documents that gemmviz ships.
    """

    changed = Signal()
    """Verdicts, or the running job."""
    finished = Signal()
    """Emitted when a run has ended, for any reason."""

    def __init__(
        self,
        session: Session,
        engines: Engines,
        claims: Sequence[Claim] | None = None,
        sources: Sequence[Source] | None = None,
    ) -> None:
        self.session = session
        self._engines = engines
        self.fault = ""
        self.claims: list[Claim] = []
        self.sources: list[Source] = []
        try:
            self.claims = judging.load() if claims is None else list(claims)
            self.sources = judging.sources() if sources is None else list(sources)
        except (GemmvizError, FileNotFoundError) as error:
            self.fault = str(error)
        self.judge = ClaimsJudge(session)
        self._jobs: deque[Job] = deque()
        self._documents: list[Document] = []
        self._asked = 0
        self._wanted: list[Claim] = []
        self._run = 0
        self._busy = self._stopped = self._profiled = False
        self._shown: Share | None = None
        engines.bench.replied.connect(self._on_bench)
        engines.recorder.replied.connect(self._on_record)
        engines.recorder.recorded.connect(self._on_recorded)
        engines.cancelled.connect(self._on_cancelled)
        session.progress.changed.connect(self._on_progress)
        session.results.referenced.connect(self._on_references)
        session.results.device_changed.connect(self._on_device)
        session.choice.kernels_changed.connect(self._on_kernels)
        session.places.moved.connect(self._on_place)

    # State of the run

    def running(self, claim: Claim) -> bool:
        """Return whether this claim is still waiting for jobs of the run."""
        if claim not in self._wanted:
            return False
        cases = {q.case for q in claim.quantities}
        return any(not cases.isdisjoint(_cases(job)) for job in self._jobs)

    @property
    def active(self) -> bool:
        """Whether a run of claims is in progress."""
        return bool(self._jobs)

    @property
    def busy(self) -> bool:
        """Whether any measurement is in progress, so that no run can be started."""
        return bool(self._jobs) or self.session.progress["bench"] is not None

    def _on_references(self) -> None:
        self.judge.take_references()
        self.changed.emit()

    def _on_kernels(self) -> None:
        if self.judge.take_kernels():
            self.cancel()  # it runs the old text
            self._documents = []
            self.changed.emit()

    def _on_place(self) -> None:
        self.judge.take_place()
        self._documents = []
        self.changed.emit()

    def _on_device(self) -> None:
        self.changed.emit()

    # Running

    def run(self, ids: Iterable[str]) -> None:
        """Measure and record the kernels of some claims; if a measurement is in progress, show a message instead."""
        chosen = set(ids)
        self._start([claim for claim in self.claims if claim.id in chosen and claim.quantities])

    def _start(self, claims: list[Claim]) -> None:
        if self.busy:
            tell_busy(self.session.messages)
            return
        if not claims:
            self.session.messages.tell(Message(tr("Nothing to run: no run can judge this claim."), "info"))
            return
        try:
            protocol = Protocol.from_plain(self.session.choice.protocol)
            plan = judging.plan(claims, self.session.choice.kernels, protocol)
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error)))
            return
        self._wanted, self._documents, self._profiled = claims, [], False
        # Recordings are fast; their counters can be shown while the rest is measured.
        self._jobs = deque([*plan.record, *plan.bench, *plan.profile])
        self._asked, self._stopped = len(self._jobs), False
        self.judge.here.date = date.today().isoformat()
        self._next()

    def cancel(self) -> None:
        """Stop the run; finished jobs stay."""
        if self._jobs:
            self._engines.cancel()

    def _on_cancelled(self) -> None:
        if not self._jobs:
            return
        self._stopped = True
        if not self._busy:  # it waits for a recording for the user
            self._end()

    def _next(self) -> None:
        """Start the next job, or end the run."""
        self._busy = False
        if not self._jobs or self._stopped:
            self._end()
            return
        job = self._jobs[0]
        if isinstance(job, RecordJob):
            self._show_progress(tr("Recording {kernel}", kernel=job.case.kernel), None)
            if self.session.progress["record"] is None:  # else `_on_progress` comes back here
                self._record(job)
        else:
            self._show_progress(tr("Starting"), None)
            if isinstance(job, ProfileJob):
                self._profile(job)
            else:
                self._measure(job)
        self.changed.emit()

    def _record(self, job: RecordJob) -> None:
        self._busy, self._run = True, self._engines.next_run()
        self._engines.recorder.submit(
            RecordRequest(
                self._run,
                **launched(job.kernel, Problem(*job.case.size)),
                params=dict(job.case.params),
                as_written=job.case.as_written,
            )
        )

    def _measure(self, job: BenchJob) -> None:
        worker = self._engines.bench
        if job.fresh and worker.running:
            worker.stop()  # the next request gets a new process, without earlier launches
        self._busy, self._run = True, self._engines.next_run()
        worker.submit(BenchRequest(self._run, job.entries, [job.size], dict(job.protocol)))

    def _profile(self, job: ProfileJob) -> None:
        self._busy, self._run = True, self._engines.next_run()
        self._engines.bench.submit(ProfileRequest(self._run, job.launches))

    def _show_progress(self, text: str, share: float | None) -> None:
        done = self._asked - len(self._jobs)
        if self._asked > 1:
            sentence = tr("Claims ({number} of {all}): {what}", number=done + 1, all=self._asked, what=text)
        else:
            sentence = tr("Claims: {what}", what=text)
        self._shown = (sentence, (done + (share or 0.0)) / self._asked)
        self.session.progress.set("bench", self._shown)

    def _done_with_job(self) -> None:
        self._jobs.popleft()
        self._next()

    def _end(self) -> None:
        self._jobs.clear()
        self._run, self._busy = 0, False
        self.session.progress.end("bench", self._shown)
        self._keep()
        self.changed.emit()
        self.finished.emit()

    def _keep(self) -> None:
        """Keep the rows as one of this machine's runs, for `gemmviz claims --from`."""
        documents, self._documents = self._documents, []
        rows = [row for document in documents for row in document["results"]]
        profiles = [profile for profile in self.judge.here.profiles if profile["fault"] is None]
        if not (any(row["status"] == "ok" for row in rows) or (self._profiled and profiles)):
            return
        header = results.document({}, self.session.results.device_facts, Protocol())
        whole = (results.merged(documents) if documents else header) | {"recordings": self.judge.here.counts}
        try:
            store.save(whole | {"profiles": profiles} if profiles else whole)
        except GemmvizError as error:
            self.session.messages.tell(Message(str(error), "warning"))

    # Replies of the engines

    def _on_bench(self, reply: Reply) -> None:
        if reply.run != self._run:
            return
        match reply:
            case Progress():
                self._show_progress(reply.text, reply.share)
            case Result():
                self.judge.add_rows([reply.row])
                self.changed.emit()
            case BenchDone():
                rows = reply.document["results"]
                self.judge.add_rows(rows)
                self._documents.append(reply.document)
                self._stopped |= any(row["status"] == "cancelled" for row in rows)
                self._done_with_job()
            case Profiled():
                self.judge.here.add_profiles(reply.profiles)
                self._profiled = True
                self._done_with_job()
            case Failed() if reply.kind != "cancelled" and isinstance(self._jobs[0], ProfileJob):
                for case in self._jobs[0].cases:
                    self.judge.here.add_profile_fault(case, reply.message)
                self._done_with_job()
            case Failed():
                if reply.kind != "cancelled":
                    self.session.messages.tell(
                        Message(tr("The claims' run stopped: {reason}", reason=reply.message), lasting=True)
                    )
                self._stopped = True
                self._next()

    def _on_recorded(self, run: int, playable: Playable) -> None:
        if run != self._run:
            return
        self.judge.add_counts(judging.counted(playable.recording, playable.traffic))
        self._done_with_job()

    def _on_record(self, reply: Reply) -> None:
        if reply.run != self._run or not isinstance(reply, Failed):
            return
        if reply.kind == "cancelled":
            self._next()  # the user's recording may have replaced it: then record it again afterwards
            return
        job = self._jobs[0]
        assert isinstance(job, RecordJob)
        self.judge.here.add_fault(job.case, reply.message, reply.kind)
        self._done_with_job()

    def _on_progress(self, engine: str) -> None:
        if engine == "record" and self._jobs and not self._busy and self.session.progress["record"] is None:
            self._next()
        elif engine == "bench":
            self.changed.emit()


def _cases(job: Job) -> tuple[judging.Case, ...]:
    return (job.case,) if isinstance(job, RecordJob) else job.cases
