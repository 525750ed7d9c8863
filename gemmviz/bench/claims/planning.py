"""The runs that some claims need: each case once, even if several claims share it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gemmviz.bench.claims.record import Case, Claim
from gemmviz.bench.entries import KernelEntry, ProfileEntry, kernel_entry
from gemmviz.bench.figures import TRANSFER
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.plain_kernel import plain_kernel

Size = tuple[int, int, int]


@dataclass(frozen=True)
class BenchJob:
    """A run of the bench: kernels of one size, measured in turns.

    Attributes
    ----------
    entries
        One per kernel, as in a bench request.
    size
        (M, N, K).
    protocol
        All fields of the measuring protocol.
    fresh
        Whether it needs a process in which nothing has run on the GPU yet, because it measures first launches.
    cases
        The cases for which it gives figures.
    """

    entries: list[KernelEntry]
    size: Size
    protocol: dict[str, float]
    fresh: bool
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class RecordJob:
    """A recording.

    Attributes
    ----------
    case
        The case for which it gives figures.
    kernel
        The kernel.
    """

    case: Case
    kernel: Kernel


@dataclass(frozen=True)
class ProfileJob:
    """A run under Nsight Compute.

    Attributes
    ----------
    launches
        One per case, as in a profile request.
    cases
        The cases for which it gives figures, in the same order.
    """

    launches: list[ProfileEntry]
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class ClaimPlan:
    """The runs: jobs that need a fresh process first, then the smallest; profiles in one job, or none."""

    bench: tuple[BenchJob, ...]
    record: tuple[RecordJob, ...]
    profile: tuple[ProfileJob, ...] = ()


@dataclass
class _Batch:
    first_launch: bool
    cases: dict[Case, None] = field(default_factory=dict)


def plan(
    claims: Iterable[Claim], kernels: Sequence[Kernel] | None = None, protocol: Protocol | None = None
) -> ClaimPlan:
    """Return the runs that some claims need.

    Parameters
    ----------
    claims
        From `load`.
    kernels
        The kernels in which the claims' kernels are searched; by default the ladder.
    protocol
        The rules of the measurement; a claim may have its own for some of them.

    Returns
    -------
    Plan
        One bench job per size and protocol, so that kernels that are compared are measured in turns.

    Raises
    ------
    UnknownKernel
        When a claim names a kernel that does not exist.
    """
    known = ladder() if kernels is None else kernels
    rules = Protocol() if protocol is None else protocol
    batches: dict[tuple[Size, str], _Batch] = {}
    settings: dict[str, dict[str, float]] = {}
    recordings: dict[Case, None] = {}
    profiles: dict[Case, None] = {}
    for claim in claims:
        plain = rules.to_plain() | dict(claim.protocol)
        for quantity in claim.quantities:
            if quantity.origin == "recorded":
                recordings[quantity.case] = None
            elif quantity.origin == "profiled":
                profiles[quantity.case] = None
            elif quantity.origin == "measured":
                own = "first launch" if claim.first_launch else ""
                key = (quantity.case.size, repr(sorted(plain.items())) + own)
                settings[key[1]] = plain
                batches.setdefault(key, _Batch(claim.first_launch)).cases[quantity.case] = None
    jobs = [_bench_job(size, settings[key], batch, known) for (size, key), batch in batches.items()]
    jobs = [job for job in jobs if job.entries]
    return ClaimPlan(
        tuple(sorted(jobs, key=lambda job: (not job.fresh, job.size))),
        tuple(_record_job(case, known) for case in recordings),
        (_profile_job(profiles, known),) if profiles else (),
    )


def _bench_job(size: Size, protocol: dict[str, float], batch: _Batch, known: Sequence[Kernel]) -> BenchJob:
    # The transfer is measured with the first GPU kernel, in its element type: the documents copy single precision.
    kernels = [(find(case.kernel, list(known)), case) for case in batch.cases if case.kernel != TRANSFER]
    kernels.sort(key=lambda pair: pair[0].dtype != "float32")
    entries: list[KernelEntry] = [kernel_entry(k, dict(case.params)) for k, case in kernels]
    return BenchJob(entries, size, protocol, batch.first_launch, tuple(batch.cases))


def _record_job(case: Case, known: Sequence[Kernel]) -> RecordJob:
    return RecordJob(case, find(case.kernel, list(known)))


def _profile_job(cases: Iterable[Case], known: Sequence[Kernel]) -> ProfileJob:
    launches: list[ProfileEntry] = []
    for case in cases:
        kernel, (m, n, k) = find(case.kernel, list(known)), case.size
        launches.append({**plain_kernel(kernel), "m": m, "n": n, "k": k, "params": dict(case.params)})
    return ProfileJob(launches, tuple(cases))
