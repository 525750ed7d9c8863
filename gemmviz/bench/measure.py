"""Measures one kernel at one size, one round at a time: compile, verify, warm up, time, verify again.

Every round is a generator. A run is cancelled by no longer asking for the next record.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Literal

from gemmviz.backends.base import Backend, DeviceFault, HasRival, LaunchError, OutOfMemory, Prepared
from gemmviz.backends.driver import DeviceFacts
from gemmviz.bench import results, rows
from gemmviz.bench.memory_fit import check_fit
from gemmviz.bench.model.peaks import peak_gflops
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import FAILURES, Row, Status
from gemmviz.bench.timing import Cold, Hot, Samples, cpu_batch, warm_up
from gemmviz.bench.verification_reference import References, VerificationCase
from gemmviz.bench.verify import Verdict, check, judged
from gemmviz.catalogue.errors import BuildError, ConstraintError, FrontMatterError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Matrix, Problem
from gemmviz.language import mark, tr

# The texts without and with the round.
_WARMING_UP = (mark("{kernel}: warming up"), mark("{kernel}: warming up, round {round} of {rounds}"))
_TIMING = (mark("{kernel}: timing"), mark("{kernel}: timing, round {round} of {rounds}"))


@dataclass(frozen=True)
class MeasureStep:
    """The progress of a measurement, before its next part.

    Attributes
    ----------
    text
        The text for people.
    share
        The finished share of this kernel's round, 0 to 1.
    deadline_s
        The seconds until the next record, unless the kernel hangs; None if unknown.
    """

    text: str
    share: float
    deadline_s: float | None = None


@dataclass(frozen=True)
class Finished:
    """The row of the result file after a round; with `final`, it is the last one of this kernel."""

    row: Row
    final: bool


Record = MeasureStep | Samples | Finished
Find = Callable[[str], Backend]


@dataclass(frozen=True)
class Bench:
    """The common part of all measurements of a run.

    Attributes
    ----------
    protocol
        The rules.
    find
        Returns the backend for ``kernel.backend``, or raises `Unavailable` with the reason why it cannot run here.
    references
        Keeps reference products between kernels and rounds.
    device
        The part ``device`` of the result file.
    paces
        ``cpu_pace`` of all rounds up to now.
    """

    protocol: Protocol
    find: Find
    references: References
    device: DeviceFacts | None = None
    paces: list[float] = field(default_factory=list)


@dataclass
class Measurement:
    """One kernel at one size, with the results of the finished rounds.

    Attributes
    ----------
    kernel, problem, params
        The kernel, the size and the parameters; missing parameters have their defaults.
    bench
        The common part of the run.
    row
        Its row of the result file. A row with finished rounds, from an earlier process that died, is continued.
    over
        Whether it is finished.
    """

    kernel: Kernel
    problem: Problem
    params: Mapping[str, int]
    bench: Bench
    known: InitVar[Row | None] = None
    over: bool = False
    row: Row = field(init=False)

    def __post_init__(self, known: Row | None) -> None:
        self.row = known.copy() if known else results.new_row(self.kernel, self.problem, self.params)
        seconds = list(self.row["samples_s"])
        self._cold = Cold(self.row["label"], self.problem.flops, seconds, sum(seconds))  # flops: see _round

    @property
    def rounds(self) -> int:
        """The number of finished rounds."""
        return len(self.row["rounds"])

    def round(self) -> Generator[Record, None, None]:
        """Do the next round; any failure becomes a row with a status and a message.

        Yields
        ------
        Record
            `Stage` and `Samples` records, then one `Finished`.
        """
        try:
            yield from self._round()
        except Exception as error:
            self._fail(*blame(error, self.problem))
        if self.over and self.kernel.exhibit:
            rows.explain_exhibit(self.row, self.kernel.exhibit)
        if self.over:
            rows.thin(self.row)
        yield Finished(self.row.copy(), self.over)

    def _round(self) -> Iterator[Record]:
        bench, row, first = self.bench, self.row, self.rounds == 0
        concrete = launch(self.kernel, self.problem, dict(self.params))
        self._cold.flops = concrete.flops
        if first:
            results.describe_launch(row, concrete)
        yield MeasureStep(tr("{kernel}: preparing", kernel=concrete.label), 0.0)
        backend = bench.find(self.kernel.backend)
        check_fit(backend, concrete, bench.references)
        if first:
            yield MeasureStep(tr("{kernel}: compiling", kernel=concrete.label), 0.02)
        prepared = backend.prepare(concrete)
        try:
            if first:
                rows.describe_build(row, prepared.build)
            self._cold.label = row["label"]
            a, b = bench.references.inputs(concrete, backend)
            if first:
                text = tr("{kernel}: launching for the first time", kernel=row["label"])
                yield MeasureStep(text, 0.05, bench.protocol.deadline_s)
                row["first_launch_s"] = _first_launch(prepared, a, b)
                yield from self._verify(prepared, backend, concrete)
                if self.over:
                    return
            prepared.load(a, b)
            prepared.poison()
            yield from self._time(prepared, backend)
            yield MeasureStep(tr("{kernel}: verifying again", kernel=row["label"]), 0.97)
            # The output of the last timed launch is verified: a kernel may be right at first and wrong later.
            trial = bench.references.random(concrete, backend)
            self._judge("after", _check(prepared, trial), trial.name)
        finally:
            prepared.close()

    def _verify(self, prepared: Prepared, backend: Backend, concrete: Launch) -> Iterator[MeasureStep]:
        """Verify before anything is timed; for an exhibit this is all, right or wrong."""
        references = self.bench.references
        yield MeasureStep(tr("{kernel}: computing the reference", kernel=self.row["label"]), 0.1)
        # Integers first: they show even a single missing term.
        scaled = references.scaled(concrete, backend)
        trials = [references.exact(concrete, backend), *([scaled] if scaled else [])]
        trials.append(references.random(concrete, backend))
        for number, trial in enumerate(trials):
            text = tr("{kernel}: verifying", kernel=self.row["label"])
            yield MeasureStep(text, 0.2 + 0.05 * number, self.bench.protocol.deadline_s)
            prepared.load(trial.a, trial.b)
            prepared.set_scalars(trial.alpha, trial.beta)
            prepared.poison()
            prepared.fill(trial.c, trial.bias)
            prepared.run()
            self._judge("before", _check(prepared, trial), trial.name)
            if self.over:
                return
        if self.kernel.exhibit:
            self.row["status"], self.over = "ok", True

    def _time(self, prepared: Prepared, backend: Backend) -> Iterator[Record]:
        protocol, row, cold = self.bench.protocol, self.row, self._cold
        number = self.rounds + 1
        launch_s = yield from self._warm_up(prepared)
        yield MeasureStep(self._turn(_TIMING), 0.5, protocol.deadline_s)
        before = len(cold.seconds)
        hot, host_s = Hot(), None
        with backend.watch() as seen:
            batch = 1 if backend.clears_l2 else cpu_batch(launch_s)
            yield from cold.round(prepared, batch, protocol, number / protocol.rounds)
            last = number >= protocol.rounds or cold.stop == "slow" or cold.spent_s > protocol.timeout_s
            if last and backend.clears_l2:
                for _ in hot.measure(prepared, protocol):
                    text = tr("{kernel}: timing without clearing the cache", kernel=row["label"])
                    yield MeasureStep(text, 0.95, protocol.deadline_s)
                host_s = prepared.queue_s()
        rows.describe_round(row, cold, len(cold.seconds) - before, seen, self.bench.paces)
        if last:
            rows.describe_hot(row, hot, cold.flops, host_s)
            if isinstance(prepared, HasRival) and cold.stop != "slow":
                yield MeasureStep(tr("{kernel}: in turns with NumPy", kernel=row["label"]), 0.96, protocol.deadline_s)
                rows.describe_rival(row, prepared.rival())
        if backend.clears_l2 and not self.kernel.math:  # the peaks for tf32 are not in the tables
            peak = peak_gflops(self.bench.device, self.kernel.dtype, self.kernel.accumulate)
            rows.describe_peak(row, peak, row.get("devices", 1))
        self.over = last

    def _turn(self, texts: tuple[str, str]) -> str:
        """Return the text of the current work, with the round if there are several; `texts` are without and with it."""
        rounds = self.bench.protocol.rounds
        return tr(texts[rounds > 1], kernel=self.row["label"], round=self.rounds + 1, rounds=rounds)

    def _warm_up(self, prepared: Prepared) -> Generator[MeasureStep, None, float]:
        """Warm up; return the seconds of the fastest launch."""
        launch_s = float("inf")
        for fastest in warm_up(prepared, self.bench.protocol):
            launch_s = fastest
            yield MeasureStep(self._turn(_WARMING_UP), 0.4, self.bench.protocol.deadline_s)
        return launch_s

    def _judge(self, when: Literal["before", "after"], verdict: Verdict | None, trial: str) -> None:
        """Keep a verdict of a trial; None means that the kernel wrote outside of C."""
        results.describe_verdict(self.row, when, verdict)
        if verdict is None or not verdict.ok:
            where = "right at first, wrong after many launches" if when == "after" else trial
            self._fail("wrong", f"{where}: {verdict.message if verdict else 'the kernel writes outside C'}", None)

    def _fail(self, status: Status, message: str, line: int | None) -> None:
        self.over = True
        # If other programs took the memory, finished rounds are kept.
        if self.rounds and status not in FAILURES:
            rows.cut_short(self.row, self.bench.protocol, status, message)
            return
        results.fail(self.row, status, message, line)


def _first_launch(prepared: Prepared, a: Matrix, b: Matrix) -> float:
    """Return the seconds from the very first launch to its end, as measured by a program that times one launch."""
    prepared.load(a, b)
    prepared.poison()
    started = time.perf_counter()
    prepared.run()
    return time.perf_counter() - started


def _check(prepared: Prepared, trial: VerificationCase) -> Verdict | None:
    """Compare C with the trial's; None means that the kernel wrote outside C."""
    if not prepared.intact():
        return None
    reference = trial.reference
    bound = reference.bound
    found = prepared.compare(reference.expected, reference.magnitude, bound.tolerance, bound.underflow)
    if found is not None:
        return judged(found, reference)
    c, rows = prepared.fetch(), len(reference.expected)
    entries = [check(c[first : first + rows], reference) for first in range(0, len(c), rows)]
    return max(entries, key=lambda verdict: (not verdict.ok, verdict.max_rel))  # for a batch, the worst entry


def blame(error: Exception, problem: Problem) -> tuple[Status, str, int | None]:
    """Return status, message and line for an error."""
    match error:
        case Unavailable():
            return "skipped", str(error), None
        case ConstraintError() | FrontMatterError():
            return "unsupported", str(error), None
        case OutOfMemory():
            return "oom", str(error), None
        case BuildError():
            return "compile", str(error), error.line
        case DeviceFault():
            return "crash", str(error), None
        case LaunchError() | GemmvizError():
            return "launch", str(error), None
        case MemoryError():
            return "oom", f"{problem} does not fit in memory; choose a smaller size", None
    # A library's own error (CuPy has many kinds) fails this row, not the run.
    return "launch", f"{type(error).__name__}: {error}", None
