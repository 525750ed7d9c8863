"""Measures one kernel at one size: compile, verify, warm up, time, verify again.

`measure` is a generator. Whoever drives it may stop asking at every record: that is how a run is cancelled.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from gemmviz.backends.base import Backend, DeviceFault, LaunchError, OutOfMemory, Prepared
from gemmviz.backends.host import available_memory, host_bytes
from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.reference import References, Trial
from gemmviz.bench.stats import summarise
from gemmviz.bench.verify import Verdict, check
from gemmviz.catalogue.errors import BuildError, ConstraintError, FrontMatterError, GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import LARGEST, Problem

_REPORT_S = 0.05
# A sample this long makes reading the clock (below a microsecond) cost less than 0.1% and evens out interrupts.
_CPU_SAMPLE_S = 5e-3


@dataclass(frozen=True)
class Stage:
    """What happens next.

    Attributes
    ----------
    text
        For people.
    share
        Of this kernel's measurement that is done, 0 to 1.
    deadline_s
        Within how many seconds the next record comes unless the kernel hangs; None where nobody can tell.
    """

    text: str
    share: float
    deadline_s: float | None = None


@dataclass(frozen=True)
class Samples:
    """New samples: seconds per launch, and the GFLOPS of the median of all samples so far."""

    label: str
    seconds: list[float]
    gflops: float
    share: float


@dataclass(frozen=True)
class Finished:
    """The row of the result file; the last record."""

    row: results.Row


Record = Stage | Samples | Finished
Find = Callable[[str], Backend]


def measure(
    kernel: Kernel,
    problem: Problem,
    params: Mapping[str, int],
    protocol: Protocol,
    find: Find,
    references: References,
) -> Iterator[Record]:
    """Measure a kernel; whatever goes wrong ends as a row with a status and a message.

    Parameters
    ----------
    kernel, problem, params
        What to measure at which size; parameters that are not given take their default.
    protocol
        The rules.
    find
        Returns the backend for ``kernel.backend``, or raises `Unavailable` with the reason why it cannot run here.
    references
        Where verified products are kept between kernels.

    Yields
    ------
    Record
        `Stage` and `Samples` records, then one `Finished`.
    """
    row = results.new_row(kernel, problem, params)
    try:
        yield from _measure(row, kernel, problem, params, protocol, find, references)
    except Unavailable as error:
        results.fail(row, "skipped", str(error))
    except (ConstraintError, FrontMatterError) as error:
        results.fail(row, "unsupported", str(error))
    except OutOfMemory as error:
        results.fail(row, "oom", str(error))
    except BuildError as error:
        results.fail(row, "compile", str(error), error.line)
    except DeviceFault as error:
        results.fail(row, "crash", str(error))
    except LaunchError as error:
        results.fail(row, "launch", str(error))
    except MemoryError:
        results.fail(row, "oom", f"{problem} does not fit in memory; choose a smaller size")
    except GemmvizError as error:
        results.fail(row, "launch", str(error))
    except Exception as error:
        # A library's own error (CuPy has many kinds) costs this row, not the run.
        results.fail(row, "launch", f"{type(error).__name__}: {error}")
    yield Finished(row)


def _measure(
    row: results.Row,
    kernel: Kernel,
    problem: Problem,
    params: Mapping[str, int],
    protocol: Protocol,
    find: Find,
    references: References,
) -> Iterator[Record]:
    concrete = launch(kernel, problem, dict(params))
    results.describe_launch(row, concrete)
    yield Stage(f"{concrete.label}: preparing", 0.0)
    backend = find(kernel.backend)
    _check_memory(backend, concrete)
    yield Stage(f"{concrete.label}: compiling", 0.02)
    prepared = backend.prepare(concrete)
    try:
        results.describe_build(row, prepared.build)
        yield Stage(f"{concrete.label}: computing the reference", 0.1)
        # The random trial goes last, because the timing uses its inputs.
        trials = [t for t in (references.exact(concrete, backend), references.random(concrete, backend)) if t]
        for number, trial in enumerate(trials):
            yield Stage(f"{concrete.label}: verifying", 0.2 + 0.1 * number, protocol.deadline_s)
            verdict = _verify(prepared, trial)
            results.describe_verdict(row, "before", verdict)
            if verdict is None or not verdict.ok:
                _reject(row, verdict, "")
                return
        yield from _time(row, prepared, backend, concrete, protocol)
        # The last output is what the last timed launch left: a kernel may be right at first and wrong later.
        verdict = check(prepared.fetch(), trials[-1].reference) if prepared.intact() else None
        results.describe_verdict(row, "after", verdict)
        if verdict is None or not verdict.ok:
            _reject(row, verdict, "right at first, wrong after many launches: ")
    finally:
        prepared.close()


def _verify(prepared: Prepared, trial: Trial) -> Verdict | None:
    """Launch once on the trial's inputs; None means that the kernel wrote outside C."""
    prepared.load(trial.a, trial.b)
    prepared.poison()
    prepared.run()
    return check(prepared.fetch(), trial.reference) if prepared.intact() else None


def _reject(row: results.Row, verdict: Verdict | None, when: str) -> None:
    results.fail(row, "wrong", when + (verdict.message if verdict else "the kernel writes outside C"))


def _time(
    row: results.Row, prepared: Prepared, backend: Backend, concrete: Launch, protocol: Protocol
) -> Iterator[Record]:
    """Warm up, then take samples until the protocol's stop rule says that it is enough."""
    label, flops = concrete.label, concrete.problem.flops
    yield Stage(f"{label}: warming up", 0.4, protocol.deadline_s)
    started = reported = now = time.perf_counter()
    launches, fastest = 0, float("inf")
    while launches < protocol.warmup_launches or now - started < protocol.warmup_s:
        fastest = min(fastest, prepared.sample(1, False))
        launches += 1
        now = time.perf_counter()
        if now - started > protocol.timeout_s / 5:  # a slow kernel is warm after a few launches
            break
        if now - reported > _REPORT_S:
            yield Stage(f"{label}: warming up", 0.4, protocol.deadline_s)
            reported = now
    batch = 1 if backend.clears_l2 else max(1, ceil(_CPU_SAMPLE_S / max(fastest, 1e-9)))

    yield Stage(f"{label}: timing", 0.5, protocol.deadline_s)
    seconds: list[float] = []
    fresh: list[float] = []
    started = reported = time.perf_counter()
    while True:
        sample = prepared.sample(batch, True)
        seconds.append(sample)
        fresh.append(sample)
        now = time.perf_counter()
        if now - reported >= _REPORT_S:
            stats = summarise(seconds)
            yield Samples(label, fresh, flops / stats.median / 1e9, _share(len(seconds), now - started, protocol))
            fresh, reported = [], time.perf_counter()
            enough = len(seconds) >= protocol.min_samples and now - started >= protocol.min_time_s
            if enough and stats.iqr_rel < protocol.target_iqr:
                stop = "steady"
                break
        if now - started > protocol.timeout_s:
            stop = "timeout"
            break
    stats = summarise(seconds)
    if fresh:
        yield Samples(label, fresh, flops / stats.median / 1e9, 1.0)
    results.describe_samples(row, seconds, stats, stop, flops)


def _share(samples: int, elapsed: float, protocol: Protocol) -> float:
    wanted = min(samples / max(protocol.min_samples, 1), elapsed / max(protocol.min_time_s, 1e-9), 1.0)
    return 0.5 + 0.4 * wanted + 0.1 * min(elapsed / max(protocol.timeout_s, 1e-9), 1.0)


def _check_memory(backend: Backend, concrete: Launch) -> None:
    """Refuse what cannot fit before anything is allocated.

    Raises
    ------
    OutOfMemory
        With the largest cube that fits.
    """
    kernel = concrete.kernel
    itemsize = max(np.dtype(kernel.dtype).itemsize, np.dtype(kernel.accumulate).itemsize)
    for where, free, needed in (
        ("GPU" if backend.clears_l2 else "host", backend.free_bytes(), backend.needed_bytes),
        ("host", available_memory(), host_bytes),
    ):
        if free is None or needed(concrete.problem, itemsize) <= free:
            continue
        low, high = 0, LARGEST
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if needed(Problem.cube(middle), itemsize) <= free else (low, middle - 1)
        raise OutOfMemory(
            f"{concrete.problem} needs {needed(concrete.problem, itemsize) / 2**30:.3g} GiB of {where} memory and "
            f"{free / 2**30:.3g} GiB are free; the largest N that fits is {low}"
        )
