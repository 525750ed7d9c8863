"""Runs a plan for claims in the engine, and collects all results in one result file."""

from gemmviz.bench import results
from gemmviz.bench.claims import BenchJob, ClaimPlan, Evidence, ProfileJob, RecordJob, counted
from gemmviz.bench.document import Document, Measured
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.problem import Problem
from gemmviz.cli.driving import EngineDriver
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Failed,
    Probed,
    ProbeRequest,
    Profiled,
    ProfileRequest,
    Recorded,
    RecordRequest,
)
from gemmviz.trace import untrusted


class Gathering:
    """Collects rows, profiles and counted recordings.

    Attributes
    ----------
    faults
        The errors, as sentences; a kernel that does not compile, or refuses a size, is a finding and not an error.
    """

    def __init__(self, driver: EngineDriver) -> None:
        self._driver = driver
        self._found = Evidence()
        self._documents: list[Document] = []
        self._run = 0
        self.faults: list[str] = []

    def run(self, plan: ClaimPlan) -> None:
        """Run the jobs of a plan. Ctrl-C ends them; finished jobs are kept."""
        jobs: list[RecordJob | BenchJob | ProfileJob] = [*plan.record, *plan.bench, *plan.profile]
        for number, job in enumerate(jobs):
            if self._driver.interrupted:
                return
            place = number / len(jobs), 1 / len(jobs)
            if isinstance(job, RecordJob):
                self._record(job, place)
            elif isinstance(job, ProfileJob):
                self._profile(job, place)
            else:
                self._bench(job, place)

    def document(self) -> Document:
        """Return everything as one result file, with the counted recordings and the profiles."""
        documents = self._documents
        if not documents:
            self._run += 1
            reply = self._driver.run(ProbeRequest(self._run))
            found: Measured = reply.facts if isinstance(reply, Probed) else {"env": {}, "device": None}
            documents = [results.document(found["env"], found["device"], Protocol())]
        whole = results.merged(documents) | {"recordings": self._found.counts}
        return whole | {"profiles": self._found.profiles} if self._found.profiles else whole

    def _record(self, job: RecordJob, place: tuple[float, float]) -> None:
        self._run += 1
        case = job.case
        fields, params = launched(job.kernel, Problem(*case.size)), dict(case.params)
        request = RecordRequest(self._run, **fields, params=params, as_written=case.as_written)
        reply = self._driver.run(request, *place)
        if isinstance(reply, Recorded):
            recording = untrusted.checked_recording(reply.recording)
            timeline = untrusted.checked_timeline(reply.timeline, recording)
            traffic = untrusted.checked_traffic(reply.traffic, recording, timeline)
            self._found.add_counts(counted(recording, traffic))
        elif isinstance(reply, Failed) and reply.kind != "cancelled":
            self._found.add_fault(case, reply.message, reply.kind)
            if reply.kind not in ("compile", "refused"):
                self.faults.append(f"recording {case.kernel}: {reply.message}")

    def _profile(self, job: ProfileJob, place: tuple[float, float]) -> None:
        self._run += 1
        reply = self._driver.run(ProfileRequest(self._run, job.launches), *place)
        if isinstance(reply, Profiled):
            self._found.add_profiles(reply.profiles)
        elif isinstance(reply, Failed) and reply.kind != "cancelled":
            for case in job.cases:
                self._found.add_profile_fault(case, reply.message)
            if reply.kind != "unsupported":  # a machine without Nsight Compute is not an error
                self.faults.append(reply.message)

    def _bench(self, job: BenchJob, place: tuple[float, float]) -> None:
        self._run += 1
        if job.fresh:
            self._driver.renew()
        request = BenchRequest(self._run, job.entries, [job.size], job.protocol)
        reply = self._driver.run(request, *place)
        if isinstance(reply, BenchDone):
            self._documents.append(reply.document)
        elif isinstance(reply, Failed):
            self.faults.append(reply.message)
