"""Estimates the cost of a recording before it is made: some blocks are run and counted, and the count is scaled."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gemmviz.catalogue.errors import GemmvizError, KernelTimeout
from gemmviz.catalogue.launch import Launch, launch, nearest_size
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.simt import apart, recorder
from gemmviz.simt.block_range import processes_for, whole_clusters
from gemmviz.simt.build import build
from gemmviz.simt.layout import ROW_BYTES

Blocks = tuple[int, int]
Count = tuple[int, int, bool]  # accesses, their further elements, whether this is exact
# The kind of a cluster (of one block, mostly), as it runs as a whole: whether it is in the last column, in the last row
Kind = tuple[bool, bool]
# Counting runs at some 100 million accesses/s: a tenth of a second for each count; an estimate needs a few counts.
_MOST_COUNTED = 10_000_000
_DEADLINE_S = 2.0
# Longer sums are counted at these two lengths and extrapolated linearly.
_SHORT_K = 256
# If a whole launch is too large to count: problems of about these volumes, in the launch's proportions.
_SMALL_VOLUMES = (48**3, 96**3)
# Recording accesses takes longer than counting them by this factor (measured, benchmarks/recording.py).
_RECORDING_FACTOR = 3.0
_MOST_TRIES = 8
# Matrices with more elements may exceed the address space even as zeros: then a search begins at a smaller size.
_MOST_ELEMENTS, _START = 1 << 30, 512
_ENDS = mark("does it end? If so, record a smaller size")


@dataclass(frozen=True)
class RecordingCost:
    """The size and time of a recording.

    Attributes
    ----------
    accesses
        The number of rows.
    bytes
        Memory of its columns.
    seconds
        Time for the recording itself on this machine, without analysis.
    exact
        Whether every kind of block was counted to its end, so that the number of accesses is not an estimate. (If
        accesses depend on the values of A and B, or on the block's number, it may still differ.)
    """

    accesses: int
    bytes: int
    seconds: float
    exact: bool

    def __str__(self) -> str:
        if self.accesses < 1e6:
            number = thousands(self.accesses)
        elif self.accesses < 1e9:
            number = tr("{number} million", number=_rounded(self.accesses / 1e6))
        else:
            number = tr("{number} billion", number=_rounded(self.accesses / 1e9))
        size = f"{_rounded(self.bytes / 1e6)} MB" if self.bytes < 1e8 else f"{_rounded(self.bytes / 1e9)} GB"
        time_taken = f"{_rounded(self.seconds)} s" if self.seconds >= 0.1 else tr("less than 0.1 s")
        return tr("about {count} accesses, {bytes}, {time}", count=number, bytes=size, time=time_taken)


def expect(
    job: Launch, blocks: Blocks | None = None, as_written: bool = False, process: apart.Process | None = None
) -> RecordingCost:
    """Estimate the cost of recording a launch.

    Call this in a process that may crash: a part of the kernel runs.

    Parameters
    ----------
    job
        The launch.
    blocks
        The first block and the block after the last one; all by default.
    as_written
        The view; see `gemmviz.trace.recording.record.record`.
    process
        The process that will record it: it counts, too, and goes on unless another library is needed.

    Raises
    ------
    KernelTimeout
        When the cost is unknown because the kernel does not end.
    KernelFault, ConstraintError, BuildError, Unavailable
        As `gemmviz.trace.recording.record.record`.
    """
    if job.part is not None:
        one, launches = expect(job.part, None, as_written), len(job.panels)
        return RecordingCost(launches * one.accesses, launches * one.bytes, launches * one.seconds, one.exact)
    job = job.one_entry
    scope = blocks or (0, job.blocks)
    with _Counter(as_written, process) as counter:
        # Blocks that take pieces of rows in turn share this work: one alone would do all of it.
        alone = job.kernel.backend == "cuda" and not job.gathers
        found = _by_blocks(counter, job, scope) if alone else counter.count(job)
        accesses, more, exact = found or _by_sizes(counter, job)
    if found is None:
        accesses, more = (round(n * (scope[1] - scope[0]) / job.blocks) for n in (accesses, more))
    per_access_s = counter.seconds / max(counter.counted, 1)
    workers = processes_for(scope[1] - scope[0], recorder.most_workers(job))
    seconds = _RECORDING_FACTOR * per_access_s * accesses / workers
    return RecordingCost(accesses, accesses * ROW_BYTES + 4 * more, seconds, exact)


def largest_size(job: Launch, capacity: int, as_written: bool = False) -> Problem | None:
    """Return approximately the largest M = N = K at which a launch's accesses fit; None if none is found.

    Parameters
    ----------
    job
        The launch with the kernel and its parameters.
    capacity
        The largest number of accesses.
    as_written
        The view.
    """
    if sum(math.prod(job.problem.shape(matrix)) for matrix in MATRICES) > _MOST_ELEMENTS:
        size = _cube(job, _START)
        if size is None:
            return None
        job = launch(job.kernel, Problem.cube(size), job.params)
    known = expect(job, None, as_written).accesses
    wanted = (job.problem.m * job.problem.n * job.problem.k * capacity / max(known, 1)) ** (1 / 3)
    fits, too_large = 0, math.inf
    for _ in range(_MOST_TRIES):
        size = _cube(job, wanted)
        if size is None:
            break
        # The size nearest to the wanted one may be outside of the known limits.
        if fits < size < too_large:
            accesses = expect(launch(job.kernel, Problem.cube(size), job.params), None, as_written).accesses
            fits, too_large = (size, too_large) if accesses <= capacity else (fits, size)
        if too_large - fits <= 1:
            break
        wanted = (fits + too_large) / 2 if math.isfinite(too_large) and fits else 1.1 * fits or 0.9 * min(size, wanted)
    return Problem.cube(fits) if fits else None


def _cube(job: Launch, wanted: float) -> int | None:
    """Return a size near the wanted one that the kernel takes for M = N = K."""
    size = nearest_size(job.kernel, Problem.cube(max(int(wanted), 1)), job.params)
    if size is None:
        return None
    # M, N and K may have different constraints: usually one of the three resulting sizes suits all of them.
    for side in sorted({size.m, size.n, size.k}, key=lambda side: abs(side - wanted)):
        if nearest_size(job.kernel, Problem.cube(side), job.params) == Problem.cube(side):
            return side
    return None


def most_blocks(job: Launch, capacity: int, as_written: bool = False) -> int:
    """Return the number of blocks, from the first one on, that make at most `capacity` accesses."""
    together = job.cluster[0]
    low, high = 0, job.blocks // together
    if job.kernel.backend != "cuda":
        return 0
    with _Counter(as_written) as counter:
        each = _each(counter, job)
    if each is None:
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        total = sum(n * each[kind][0] for kind, n in _kinds(job, middle * together).items() if n)
        low, high = (middle, high) if total <= capacity else (low, middle - 1)
    return low * together


class _Counter:
    """Counts accesses of launches by running them; keeps the total number, and the time that it took.

    Launches of one library are counted in one process, which costs less than one process for each: in `process`, if it
    is given and has that library. That one is not closed at the end.
    """

    def __init__(self, as_written: bool, process: apart.Process | None = None) -> None:
        self.as_written = as_written
        self.counted = 0
        self.seconds = 0.0
        self._libraries: dict[tuple[str, int], Path] = {}
        self._given = self._process = process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not self._given:
            self._close()

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()

    def count(self, job: Launch, block: int | None = None) -> Count | None:
        """Return accesses, further elements, and True, as they are exact; None if there are too many to count."""
        blocks = None if block is None else (block, block + 1)
        # Sizes are arguments: usually several sizes share a library.
        key = (job.label, job.shared_bytes)
        if key not in self._libraries:
            self._close()  # the sandbox compiles nothing while it counts
            self._libraries[key] = build(job, as_written=self.as_written)
        library = self._libraries[key]
        process = self._process
        if process is None or process.library != library:
            self._close()  # it does one thing at a time
            given = self._given
            process = given if given is not None and given.library == library else apart.Process(library, job)
            self._process = process
        found = process.count(job, deadline_s=_DEADLINE_S, limit=_MOST_COUNTED, blocks=blocks)
        self.counted += found.accesses
        self.seconds += found.seconds
        return (found.accesses, found.more, True) if found.complete else None


def _by_blocks(counter: _Counter, job: Launch, scope: Blocks) -> Count | None:
    each = _each(counter, job)
    if each is None:
        return None
    first, end = whole_clusters(job, scope)
    upto, before = _kinds(job, end), _kinds(job, first)
    accesses = sum((n - before[kind]) * each[kind][0] for kind, n in upto.items() if n)
    more = sum((n - before[kind]) * each[kind][1] for kind, n in upto.items() if n)
    return accesses, more, all(exact for _, _, exact in each.values())


def _each(counter: _Counter, job: Launch) -> dict[Kind, Count] | None:
    """Return the accesses of a cluster of each kind: in the last column, the last row, both, and neither."""
    columns, rows, _ = job.grid
    points = _two_lengths(job)
    each = {}
    for (last_column, last_row), number in _kinds(job, job.blocks).items():
        if not number:
            continue
        block = (columns - 1 if last_column else 0) + columns * (rows - 1 if last_row else 0)
        found = [count for point in points or (job,) if (count := counter.count(point, block))]
        if len(found) < len(points or (job,)):
            return None
        each[last_column, last_row] = _extended(job, points, found) if points else found[0]
    return each


def _kinds(job: Launch, end: int) -> dict[Kind, int]:
    """Return the number of clusters of each kind among the first `end` blocks, which are whole clusters."""
    columns, rows = job.grid[0] // job.cluster[0], job.grid[1]
    full, rest = divmod(end // job.cluster[0], columns)
    last_rows, row = divmod(full, rows)
    rest_in_last_row = row == rows - 1
    return {
        (False, False): (full - last_rows) * (columns - 1) + (0 if rest_in_last_row else rest),
        (True, False): full - last_rows,
        (False, True): last_rows * (columns - 1) + (rest if rest_in_last_row else 0),
        (True, True): last_rows,
    }


def _two_lengths(job: Launch) -> tuple[Launch, Launch] | None:
    """Return the launch with two smaller K, if its own K is large and the grid and block stay the same."""
    if job.problem.k <= 2 * _SHORT_K:
        return None
    short, longer = _with_k(job, _SHORT_K), _with_k(job, 2 * _SHORT_K)
    if short is None or longer is None or not short.problem.k < longer.problem.k < job.problem.k:
        return None
    return short, longer


def _extended(job: Launch, points: tuple[Launch, Launch], found: list[Count]) -> Count:
    one, other = (point.problem.k for point in points)
    way = (job.problem.k - one) / (other - one)
    accesses, more = (round(found[0][i] + way * (found[1][i] - found[0][i])) for i in range(2))
    return accesses, more, False


def _with_k(job: Launch, k: int) -> Launch | None:
    """Return the launch with another K, if the grid and block stay the same."""
    m, n = job.problem.m, job.problem.n
    size = nearest_size(job.kernel, Problem(m, n, k), job.params)
    if size is None or (size.m, size.n) != (m, n):
        return None
    other = launch(job.kernel, size, job.params)
    return other if (other.grid, other.block, other.shared_bytes) == (job.grid, job.block, job.shared_bytes) else None


def _by_sizes(counter: _Counter, job: Launch) -> Count:
    """Estimate a launch from two small ones with its proportions: accesses grow with M N K, and some with M N."""
    m, n, k = job.problem.m, job.problem.n, job.problem.k
    points = []
    for volume in _SMALL_VOLUMES:
        scale = (volume / (m * n * k)) ** (1 / 3)
        near = Problem(*(max(1, round(scale * length)) for length in (m, n, k)))
        size = nearest_size(job.kernel, near, job.params)
        found = counter.count(launch(job.kernel, size, job.params)) if size else None
        if size is None or found is None:
            values = {"kernel": job.kernel.name, "size": job.problem}
            raise KernelTimeout(tr("{kernel} at {size}: its cost is unknown: does it end?", **values))
        points.append((size, found))
    (one, at_one), (other, at_other) = points
    # Solves accesses = a M N K + b M N for the two sizes.
    areas, volumes = (one.m * one.n, other.m * other.n), (one.m * one.n * one.k, other.m * other.n * other.k)
    determinant = volumes[0] * areas[1] - volumes[1] * areas[0]
    result = []
    for i in range(2):
        if determinant == 0:
            result.append(round(at_other[i] * m * n * k / volumes[1]))
            continue
        a = (at_one[i] * areas[1] - at_other[i] * areas[0]) / determinant
        b = (volumes[0] * at_other[i] - volumes[1] * at_one[i]) / determinant
        result.append(max(0, round(a * m * n * k + b * m * n)))
    return result[0], result[1], False


def fitting(job: Launch, capacity: int, as_written: bool = False) -> str:
    """Return a sentence about the part of a too large launch that would fit."""
    job = job.one_entry
    try:
        size = largest_size(job, capacity, as_written)
    except GemmvizError:
        return tr(_ENDS)
    try:
        blocks = most_blocks(job, capacity, as_written) if job.part is None else 0
    except GemmvizError:  # not even the matrices fit
        blocks = 0
    some = {"count": thousands(blocks), "all": thousands(job.blocks)}
    if size is None:
        if blocks > 1:
            return tr("the first {count} of its {all} blocks should fit", **some)
        return tr("its first block should fit") if blocks else tr(_ENDS)
    if blocks > 1:
        return tr(
            "M = N = K = {size} should fit, and so should the first {count} of its {all} blocks", size=size.m, **some
        )
    if blocks:
        return tr("M = N = K = {size} should fit, and so should its first block", size=size.m)
    return tr("M = N = K = {size} should fit", size=size.m)


def _rounded(value: float) -> str:
    """Return a value rounded to two significant digits, as text."""
    if value >= 100 or value == 0:
        return thousands(float(value))
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}"
