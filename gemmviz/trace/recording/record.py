"""Records a launch: builds it, runs it on the CPU, and checks the C it computed."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gemmviz.backends.toolchain import BUILD_TIMEOUT_S
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, KernelTimeout
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import small_integer_inputs, stored, unstored
from gemmviz.language import tr
from gemmviz.simt import apart, faults, recorder
from gemmviz.simt.build import build
from gemmviz.trace.recording import recording_cost
from gemmviz.trace.recording.accesses import Array, Site
from gemmviz.trace.recording.columns import accesses
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import FLAG_SEEN, FLAG_SET, barrier_names, swizzles, without_empty

# Peak memory per access in all processes, of which the recording itself takes 23: timeline and traffic are worked out,
# and everything goes to another process (measured: 95 bytes), which prepares it for the stage.
_ANALYSIS_BYTES = 120
# The same where only totals are asked for: the rows, those with several values, and what counting takes.
TOTALS_BYTES = 36
# From here on it is worth saying beforehand what a recording costs (a number of multiplications).
_WORTH_SAYING = 1_000_000
# What making the inputs and checking C may take beside the kernel. A kernel that was stopped inside malloc can leave
# this process unable to go on: then whoever waits for it must know when to stop.
_AROUND_S = 30.0


def record(
    launch: Launch,
    *,
    deadline_s: float = 20.0,
    progress: Callable[[str, float], None] = lambda text, within_s: None,
    capacity: int | None = None,
    blocks: tuple[int, int] | None = None,
    as_written: bool = False,
) -> Recording:
    """Record a launch in this process, which a faulty kernel may take with it: use the engine where that matters.

    Parameters
    ----------
    launch
        What to record.
    deadline_s
        When to give up on the kernel (its build is not counted).
    progress
        Told what is going on, in words for people, and within how many seconds it is over unless something hangs.
    capacity
        Most accesses to keep; by default as many as this machine's free memory can hold and analyse.
    blocks
        The first block to run (linear, x fastest) and the one after the last; all by default.
    as_written
        Whether to record every access that the text names; by default those that a compiler leaves.

    Raises
    ------
    BuildError, KernelFault, ConstraintError, Unavailable
        See `gemmviz.simt.build.build` and `gemmviz.simt.recorder.run`.
    """
    kernel, problem = launch.kernel, launch.problem
    if blocks is not None:  # clusters run whole
        together = launch.cluster[0]
        blocks = blocks[0] // together * together, -(-blocks[1] // together) * together
    if not kernel.recordable:
        raise GemmvizError(tr("{kernel} is a library call: there is no source to record", kernel=kernel.name))
    capacity = capacity or room()
    least = sum(math.prod(problem.shape(matrix)) for matrix in MATRICES)
    if least > capacity and blocks is None:
        progress(tr("Looking for how much of {kernel} would fit", kernel=launch.label), BUILD_TIMEOUT_S + _AROUND_S)
        raise ConstraintError(
            tr(
                "{kernel} at {size} makes more than {count} accesses, as A, B and C have {elements} elements: "
                "{fitting}",
                kernel=kernel.name,
                size=problem,
                count=f"{capacity:,}",
                elements=f"{least:,}",
                fitting=recording_cost.fitting(launch, capacity, as_written),
            )
        )
    started = time.perf_counter()
    progress(tr("Compiling {kernel} for recording", kernel=launch.label), BUILD_TIMEOUT_S + _AROUND_S)
    library = build(launch, as_written=as_written)
    built = time.perf_counter()

    expected_cost = _expected(launch, blocks, as_written)
    said = {"kernel": launch.label, "size": problem}
    if blocks is None:
        what = tr("Recording {kernel} at {size}", **said)
    else:
        what = tr("Recording {kernel} at {size}, blocks {blocks}", blocks=f"{blocks[0]}:{blocks[1]}", **said)
    progress(f"{what}: {expected_cost}" if expected_cost else what, deadline_s + _AROUND_S)
    if expected_cost and expected_cost.exact and expected_cost.accesses > capacity:
        raise ConstraintError(
            tr(
                "{kernel} at {size} makes {count} accesses, more than the {most} that can be kept: {fitting}",
                kernel=kernel.name,
                size=problem,
                count=f"{expected_cost.accesses:,}",
                most=f"{capacity:,}",
                fitting=recording_cost.fitting(launch, capacity, as_written),
            )
        )
    a, b = small_integer_inputs(problem, kernel.dtype)
    try:
        raw = apart.run(
            library,
            launch,
            stored(kernel, "A", a),
            stored(kernel, "B", b),
            deadline_s=deadline_s,
            capacity=capacity,
            blocks=blocks,
        )
    except faults.TooManyAccesses as error:
        raise ConstraintError(f"{error}: {recording_cost.fitting(launch, capacity, as_written)}") from None
    c = unstored(kernel, "C", raw.c.astype(np.float64), problem)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    arrays = [
        Array(name, "global", problem.shape(name), dtype, name in kernel.column_major)
        for name, dtype in (("A", kernel.dtype), ("B", kernel.dtype), ("C", kernel.accumulate))
    ]
    raw = replace(raw, shared=without_empty(raw.told, raw.columns["which"], raw.shared))
    swizzled = swizzles(raw.told, raw.shared)
    arrays += [
        Array(s.name, "shared", s.shape, s.dtype, swizzle=of) for s, of in zip(raw.shared, swizzled, strict=True)
    ]
    log = accesses(raw, arrays)
    # A C kernel has as many threads as it started.
    block = launch.block if kernel.backend == "cuda" else (int(log.thread.max(initial=0)) + 1, 1, 1)
    recording = Recording(
        kernel=kernel.name,
        label=launch.label,
        backend=kernel.backend,
        text=kernel.text,
        sha256=kernel.sha256,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        params=dict(launch.params),
        block=block,
        grid=launch.grid,
        arrays=tuple(arrays),
        sites=tuple(Site(*place, atomic) for place, atomic in zip(raw.places, raw.atomic, strict=True)),
        accesses=log,
        a=a.astype(np.float64),
        b=b.astype(np.float64),
        c=c,
        wrong=int(np.count_nonzero(~(c == expected))),
        diagnostics=tuple(raw.diagnostics),
        build_seconds=built - started,
        run_seconds=time.perf_counter() - built,
        scope=blocks,
        barriers=barrier_names(raw.told, raw.barriers),
        as_written=as_written,
    )
    if blocks is None:
        return recording
    # What the other blocks would write is not wrong.
    owner, events = recording.owners[0], recording.events
    # Nor is a part of a sum that a block has handed on to one of these; what was added to has both parts.
    handed_on = (events.kind == FLAG_SET) & ~np.isin(events.number, events.number[events.kind == FLAG_SEEN])
    written = (owner >= 0) & (~np.isin(owner, events.block[handed_on]) | (recording.there_before != 0))
    return replace(recording, wrong=int(np.count_nonzero(~(c == expected) & written)))


def _expected(launch: Launch, blocks: tuple[int, int] | None, as_written: bool) -> recording_cost.RecordingCost | None:
    problem = launch.problem
    if problem.m * problem.n * problem.k < _WORTH_SAYING:
        return None
    try:
        return recording_cost.expect(launch, blocks, as_written)
    except KernelTimeout:  # the recording itself has more time
        return None


def room(each: int = _ANALYSIS_BYTES) -> int:
    """Return how many accesses fit in the memory that is free now, at so many bytes each."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(10_000, min(recorder.MAX_ACCESSES, free // each))
