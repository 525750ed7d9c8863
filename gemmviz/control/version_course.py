"""The comparison of two versions as a course: it yields requests for an engine, and computes the result from replies.

The command line and the window use the same course; they differ only in how they run a request.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace

from gemmviz.assembly.summary import summary
from gemmviz.bench.document import Document
from gemmviz.bench.entries import kernel_entry
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.plain_kernel import plain_kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.plan import CheckPlan
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import (
    Assembled,
    AssembleRequest,
    BenchDone,
    BenchRequest,
    Checked,
    CheckRequest,
    Failed,
    Recorded,
    RecordRequest,
    Reply,
    Request,
)
from gemmviz.language import tr
from gemmviz.trace import untrusted
from gemmviz.versions.common_size import common_size, own_params
from gemmviz.versions.comparison import Comparison, compared
from gemmviz.versions.speed_figures import measured, reference
from gemmviz.versions.version import MachineCode, Version, Work

MEASURED_SIZE = 512
Course = Generator[Request, list[Reply], Comparison]
"""Yields requests, takes the replies to each, and returns the comparison."""
_NOT_DONE = ("crash", "timeout", "launch")
"""Failures of a recording that are caused by the kernel: the page shows the other figures."""


class RequestFailed(GemmvizError):
    """A request that ended the whole comparison; ``reply`` is its last reply."""

    def __init__(self, reply: Failed) -> None:
        super().__init__(reply.message)
        self.reply = reply


@dataclass(frozen=True)
class Wanted:
    """The versions to compare, and how.

    Attributes
    ----------
    names, kernels
        The names of the versions, and the versions.
    run
        The number of the requests.
    problem
        The size; None: a small size that both take.
    params
        Values of parameters of one kernel or of both.
    as_written, architecture, deadline_s
        As in requests for recordings and compilations.
    measured_at
        The size at which both are measured; None: no measurement.
    protocol
        The fields of `gemmviz.bench.protocol.Protocol` that differ from their defaults.
    not_measured
        The text that is shown if they are not measured and no reference has both.
    keep
        Takes the result file of a measurement.
    """

    names: tuple[str, str]
    kernels: tuple[Kernel, Kernel]
    run: int = 1
    problem: Problem | None = None
    params: Mapping[str, int] = field(default_factory=dict)
    as_written: bool = False
    architecture: str = ""
    deadline_s: float = 20.0
    measured_at: Problem | None = None
    protocol: Mapping[str, float] = field(default_factory=dict)
    not_measured: str = ""
    keep: Callable[[Document], None] = lambda document: None

    @property
    def requests(self) -> int:
        """The largest possible number of requests."""
        return 2 + sum(kernel.backend == "cuda" for kernel in self.kernels) + (self.measured_at is not None) + 2


def course(wanted: Wanted) -> Course:
    """Record, compile, measure and check both versions.

    Raises
    ------
    GemmvizError
        When one of them does not take this launch, does not compile, or cannot be recorded here.
    """
    problem = wanted.problem or common_size(wanted.kernels, wanted.params)
    launches = [launch(kernel, problem, own_params(kernel, wanted.params)) for kernel in wanted.kernels]
    versions = []
    for name, made in zip(wanted.names, launches, strict=True):
        versions.append((yield from _worked(Version(name, made), wanted)))
    for at, version in enumerate(versions):
        versions[at] = yield from _coded(version, wanted)
    if wanted.measured_at is None:
        versions = _with_reference(versions, wanted.not_measured)
    else:
        versions = yield from _measured(versions, wanted.measured_at, wanted)
    for at, version in enumerate(versions):
        versions[at] = yield from _checked(version, wanted)
    return compared(*versions)


def _final(replies: list[Reply]) -> Reply:
    """Return the last reply.

    Raises
    ------
    RequestFailed
        When the request was cancelled.
    """
    last = replies[-1]
    if isinstance(last, Failed) and last.kind == "cancelled":
        raise RequestFailed(last)
    return last


def _worked(version: Version, wanted: Wanted) -> Generator[Request, list[Reply], Version]:
    """Record a version."""
    request = RecordRequest(
        wanted.run,
        **launched(version.launch.kernel, version.launch.problem),
        params=version.launch.params,
        order="none",
        deadline_s=wanted.deadline_s,
        as_written=wanted.as_written,
    )
    reply = _final((yield request))
    if isinstance(reply, Failed):
        if reply.kind in _NOT_DONE:
            return replace(version, no_work=reply.message)
        raise RequestFailed(reply)
    assert isinstance(reply, Recorded)
    recording = untrusted.checked_recording(reply.recording)
    traffic = untrusted.checked_traffic(reply.traffic, recording, None)
    barriers = int(recording.accesses.phase.max(initial=0))
    return replace(version, work=Work(recording.without_accesses(), traffic, barriers))


def _coded(version: Version, wanted: Wanted) -> Generator[Request, list[Reply], Version]:
    """Compile and disassemble a version."""
    if version.launch.kernel.backend != "cuda":
        on_gpu = any(kernel.backend == "cuda" for kernel in wanted.kernels)
        return replace(version, no_code=tr("{name} is not a CUDA kernel", name=version.name) if on_gpu else "")
    made = version.launch
    fields = launched(made.kernel, made.problem)
    request = AssembleRequest(wanted.run, **fields, params=made.params, architecture=wanted.architecture)
    reply = _final((yield request))
    if isinstance(reply, Failed):
        if reply.kind == "refused" and wanted.architecture:
            raise RequestFailed(reply)
        return replace(version, no_code=reply.message)
    assert isinstance(reply, Assembled)
    listing = reply.listing
    return replace(version, code=MachineCode(listing.architecture, listing.usage, summary(listing)))


def _measured(versions: list[Version], size: Problem, wanted: Wanted) -> Generator[Request, list[Reply], list[Version]]:
    """Verify and measure both, in turns, and keep the run as `gemmviz bench` does."""
    kernels = [version.launch.kernel for version in versions]
    reply = _final(
        (
            yield BenchRequest(
                wanted.run,
                [
                    kernel_entry(kernel, version.launch.params)
                    for kernel, version in zip(kernels, versions, strict=True)
                ],
                [(size.m, size.n, size.k)],
                dict(wanted.protocol),
            )
        )
    )
    if isinstance(reply, Failed):
        raise RequestFailed(reply)
    assert isinstance(reply, BenchDone)
    wanted.keep(reply.document)
    found = []
    for kernel, version in zip(kernels, versions, strict=True):
        of = (
            row
            for row in reply.document["results"]
            if row["kernel"] == kernel.name and row["source_sha256"] == kernel.sha256
        )
        row = next(of, None)
        speed, why = (None, tr("not measured")) if row is None else measured(row)
        found.append(replace(version, speed=speed, no_speed=f"{version.name}: {why}" if why else ""))
    return found


def _with_reference(versions: list[Version], otherwise: str) -> list[Version]:
    """Add the figures of a reference that has both, without a measurement."""
    from gemmviz.bench import reference_results  # late: it reads files, and the first picture needs none

    pair = reference((versions[0].launch, versions[1].launch), reference_results.load()[0])
    if pair is None:
        return [replace(version, no_speed=otherwise) for version in versions]
    return [replace(version, speed=speed) for version, speed in zip(versions, pair, strict=True)]


def _checked(version: Version, wanted: Wanted) -> Generator[Request, list[Reply], Version]:
    """Look for defects of a version, at this size alone."""
    made = version.launch
    todo = CheckPlan([(made.problem, made.params)]).to_plain()
    replies = yield CheckRequest(wanted.run, **plain_kernel(made.kernel), launches=todo, deadline_s=wanted.deadline_s)
    reply = _final(replies)
    if isinstance(reply, Failed):
        return replace(version, no_report=reply.message)
    reports = [one.report for one in replies if isinstance(one, Checked)]
    if not reports or reports[0].refused:
        return replace(version, no_report=reports[0].refused if reports else tr("nothing was recorded"))
    return replace(version, report=reports[0])
