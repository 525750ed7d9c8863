"""Records a launch: builds it, runs it on the CPU, and checks the C it computed."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gemmviz.backends.compiler import BUILD_TIMEOUT_S
from gemmviz.backends.one_thread import product
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, KernelTimeout
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Matrix, random_inputs, stored, unstored
from gemmviz.catalogue.whole_numbers import inputs_for, result_for
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.simt import apart, faults, recorder
from gemmviz.simt.block_range import whole_clusters
from gemmviz.simt.build import build
from gemmviz.simt.layout import MAX_ACCESSES, SiteKind
from gemmviz.simt.time_limits import clock_s
from gemmviz.trace.recording import recording_cost
from gemmviz.trace.recording.accesses import Array, Site
from gemmviz.trace.recording.columns import accesses
from gemmviz.trace.recording.joined import join, places
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import FLAG_SEEN, FLAG_SET, barrier_names, swizzles, without_empty

# Peak memory per access in all processes (23 for the recording itself): timeline and traffic are computed, and
# everything is sent to another process (measured: 95 bytes), which prepares it for the stage.
_ANALYSIS_BYTES = 120
# The same if only totals are needed: the rows, their further values, and the memory for counting.
TOTALS_BYTES = 36
# From this number of multiplications on, the cost of a recording is estimated before.
_WORTH_SAYING = 1_000_000
# Time limit for making the inputs and checking C, in addition to the kernel. After a kernel was stopped inside malloc,
# this process may be unable to continue: then the process that waits for it needs a limit.
_AROUND_S = 30.0
_SEED = 1  # of random numbers


def record(
    launch: Launch,
    *,
    deadline_s: float = 20.0,
    progress: Callable[[str, float], None] = lambda text, within_s: None,
    capacity: int | None = None,
    blocks: tuple[int, int] | None = None,
    as_written: bool = False,
    random: bool = False,
) -> Recording:
    """Record a launch in this process. A faulty kernel may end the process: use the engine if that matters.

    Parameters
    ----------
    launch
        The launch.
    deadline_s
        The time limit of the kernel in seconds of processor time, without its build.
    progress
        Called at each stage with a text for people and the longest time in seconds that it takes unless something
        hangs.
    capacity
        The largest number of accesses to keep; by default as many as fit in this machine's free memory with their
        analysis.
    blocks
        The first block to run (linear, x fastest) and the block after the last one; all by default, and always for a
        kernel for several GPUs.
    as_written
        Whether to record every access in the text; by default only those that remain after compiling.
    random
        Whether A and B are random numbers in place of whole ones. Their C is rounded: no element counts as wrong.

    Raises
    ------
    BuildError, KernelFault, ConstraintError, Unavailable
        See `gemmviz.simt.build.build` and `gemmviz.simt.recorder.run`.
    """
    if not launch.kernel.recordable:
        raise GemmvizError(tr("{kernel} is a library call: there is no source to record", kernel=launch.kernel.name))
    launch = launch.one_entry
    if launch.part is not None and blocks is not None:
        text = tr("{kernel} is recorded with all blocks of all GPUs", kernel=launch.kernel.name)
        raise ConstraintError(f"{text}: {recording_cost.fitting(launch, capacity or room(), as_written)}")
    part = Part(launch, blocks and whole_clusters(launch, blocks), as_written, capacity or room())
    _refuse_large_matrices(part, progress)
    progress(tr("Compiling {kernel} for recording", kernel=launch.label), BUILD_TIMEOUT_S + _AROUND_S)
    library = build(launch.part or launch, as_written=as_written)
    started = time.perf_counter()
    try:
        with apart.Process(library, launch, part.capacity) as process:
            expected_cost = _expected(launch, part.blocks, as_written, process)
            progress(_recording_text(part, expected_cost), clock_s(deadline_s) + _AROUND_S)
            _refuse_many_accesses(part, expected_cost, process)
            a, b = random_inputs(launch.problem, launch.kernel.dtype, _SEED) if random else inputs_for(launch)
            if launch.part is None:
                raw = run_part(part, process, a, b, deadline_s)
        if launch.part is None:
            recording = recording_of(part, raw, a.astype(np.float64), b.astype(np.float64))
        else:
            recording = _of_all_gpus(part, launch.part, library, a, b, deadline_s)
    except faults.TooManyAccesses as error:
        raise ConstraintError(f"{error}: {part.fitting()}") from None
    recording = replace(recording, wrong=0) if random else recording
    return replace(recording, run_seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class Part:
    """The recorded part of a launch: `blocks` as for `record`, in whole clusters, and the limit of accesses.

    After earlier launches, the accesses to variables of the device are recorded, too.
    """

    launch: Launch
    blocks: tuple[int, int] | None
    as_written: bool
    capacity: int
    earlier: int = 0

    def fitting(self) -> str:
        """Return a sentence about the part of the launch that would fit."""
        return recording_cost.fitting(self.launch, self.capacity, self.as_written)


def _refuse_large_matrices(part: Part, progress: Callable[[str, float], None]) -> None:
    """Raise a ConstraintError if the matrices alone have more elements than the number of accesses that can be kept."""
    launch, problem = part.launch, part.launch.problem
    least = sum(math.prod(problem.shape(matrix)) for matrix in MATRICES)
    if least <= part.capacity or part.blocks is not None:
        return
    progress(tr("Looking for how much of {kernel} would fit", kernel=launch.label), BUILD_TIMEOUT_S + _AROUND_S)
    raise ConstraintError(
        tr(
            "{kernel} at {size} makes more than {count} accesses, as A, B and C have {elements} elements: {fitting}",
            kernel=launch.kernel.name,
            size=problem,
            count=thousands(part.capacity),
            elements=thousands(least),
            fitting=part.fitting(),
        )
    )


def _recording_text(part: Part, cost: recording_cost.RecordingCost | None) -> str:
    values = {"kernel": part.launch.label, "size": part.launch.problem}
    if part.blocks is None:
        what = tr("Recording {kernel} at {size}", **values)
    else:
        first, end = part.blocks
        what = tr("Recording {kernel} at {size}, blocks {blocks}", blocks=f"{first}:{end}", **values)
    return f"{what}: {cost}" if cost else what


def _refuse_many_accesses(part: Part, cost: recording_cost.RecordingCost | None, process: apart.Process) -> None:
    """Raise a ConstraintError if it is known that the accesses will not fit."""
    if not cost or not cost.exact or cost.accesses <= part.capacity:
        return
    process.close()  # what would fit is counted in another one, and the sandbox runs one at a time
    raise ConstraintError(
        tr(
            "{kernel} at {size} makes {count} accesses, more than the {most} that can be kept: {fitting}",
            kernel=part.launch.kernel.name,
            size=part.launch.problem,
            count=thousands(cost.accesses),
            most=thousands(part.capacity),
            fitting=part.fitting(),
        )
    )


def run_part(part: Part, process: apart.Process, a: Matrix, b: Matrix, deadline_s: float) -> recorder.RawTrace:
    """Run a recorder with A and B, in a process for this part."""
    inputs = stored(part.launch.kernel, "A", a), stored(part.launch.kernel, "B", b)
    return process.run(*inputs, deadline_s=deadline_s, blocks=part.blocks, earlier=part.earlier)


def recording_of(
    part: Part, raw: recorder.RawTrace, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
) -> Recording:
    """Return the recording of a run, with its C checked."""
    launch, kernel, problem = part.launch, part.launch.kernel, part.launch.problem
    raw = replace(raw, shared=without_empty(raw.tma, raw.columns["which"], raw.shared))
    arrays = _arrays(launch, raw)
    log = accesses(raw)
    sites = [
        Site(*place, kind == SiteKind.ATOMIC, kind == SiteKind.PRODUCT, remote=kind == SiteKind.REMOTE)
        for place, kind in zip(raw.places, raw.kinds, strict=True)
    ]
    for site in np.unique(log.site[raw.elsewhere]).tolist():
        log.site[raw.elsewhere[log.site[raw.elsewhere] == site]] = len(sites)
        sites.append(replace(sites[site], elsewhere=True))
    c = unstored(kernel, "C", raw.c.astype(np.float64), problem)
    wrong = ~(c == result_for(launch, product(a, b)))
    recording = Recording(
        kernel=kernel.name,
        label=_label(launch),
        backend=kernel.backend,
        text=kernel.text,
        sha256=kernel.sha256,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        params=dict(launch.params),
        # A C kernel has as many threads as it starts.
        block=launch.block if kernel.backend == "cuda" else (int(log.thread.max(initial=0)) + 1, 1, 1),
        grid=launch.grid,
        arrays=tuple(arrays),
        sites=tuple(sites),
        accesses=log,
        a=a,
        b=b,
        c=c,
        wrong=int(np.count_nonzero(wrong)),
        diagnostics=tuple(raw.diagnostics),
        scope=part.blocks,
        barriers=barrier_names(raw.tma, raw.barriers),
        as_written=part.as_written,
        together=raw.together,
    )
    if part.blocks is None:
        return recording
    return replace(recording, wrong=int(np.count_nonzero(wrong & _finished(recording))))


def _of_all_gpus(whole: Part, launch: Launch, library: Path, a: Matrix, b: Matrix, deadline_s: float) -> Recording:
    """Return the recording of the launches of all GPUs, each with the memory of its own GPU.

    Parameters
    ----------
    whole
        The whole product.
    launch
        The launch that each GPU makes.
    library, deadline_s
        The recorder, and the time limit of each launch.
    a, b
        A (M x K) and B (K x N).
    """
    recordings: list[Recording] = []
    for panel in whole.launch.panels:
        rows, columns = places(launch.problem, panel, launch.problem.m < whole.launch.problem.m)
        mine, its = a[rows], b[:, columns]
        kept = sum(len(one.accesses) for one in recordings)
        own = replace(launch, gpu=(panel.device, whole.launch.devices))
        part = replace(whole, launch=own, capacity=max(1, whole.capacity - kept))
        raw = run_part(part, apart.Process(library, own, part.capacity), mine, its, deadline_s)
        recordings.append(recording_of(part, raw, mine.astype(np.float64), its.astype(np.float64)))
    joined = join(whole.launch, recordings, a.astype(np.float64), b.astype(np.float64))
    return replace(joined, wrong=int(np.count_nonzero(joined.c != result_for(whole.launch, joined.product))))


def _label(launch: Launch) -> str:
    if launch.batch is None:
        return launch.label
    return tr(
        "{kernel}, entry {entry} of {count}", kernel=launch.label, entry=launch.batch.entry, count=launch.batch.count
    )


def _arrays(launch: Launch, raw: recorder.RawTrace) -> list[Array]:
    """Return the matrices, the shared arrays of a run, and of a later launch the variables of the device."""
    kernel = launch.kernel
    matrices = [
        Array(name, "global", launch.problem.shape(name), dtype, name in kernel.column_major)
        for name, dtype in (("A", kernel.dtype), ("B", kernel.dtype), ("C", kernel.dtype_out))
    ]
    swizzled = swizzles(raw.tma, raw.shared)
    kinds = zip(raw.state.variables, raw.state.are_flags, strict=True) if raw.state else ()
    variables = [Array(one.name, "flags" if flags else "device", one.shape, one.dtype) for one, flags in kinds]
    shared = [
        Array(s.name, "shared", s.shape, s.dtype, swizzle=of, panels=s.panels)
        for s, of in zip(raw.shared, swizzled, strict=True)
    ]
    return matrices + shared + variables


def _finished(recording: Recording) -> npt.NDArray[np.bool_]:
    """Return, per element of C (m, n), whether the recorded blocks have finished it: only these can be wrong."""
    owner, events = recording.owners[0], recording.events
    # A part of a sum may have been passed to one of these blocks; an element to which a part was added has both parts.
    handed_on = (events.kind == FLAG_SET) & ~np.isin(events.number, events.number[events.kind == FLAG_SEEN])
    finished: npt.NDArray[np.bool_] = (owner >= 0) & (
        ~np.isin(owner, events.block[handed_on]) | (recording.there_before != 0)
    )
    return finished


def _expected(
    launch: Launch, blocks: tuple[int, int] | None, as_written: bool, process: apart.Process
) -> recording_cost.RecordingCost | None:
    problem = launch.problem
    if problem.m * problem.n * problem.k < _WORTH_SAYING:
        return None
    try:
        return recording_cost.expect(launch, blocks, as_written, process)
    except KernelTimeout:  # the recording itself has a longer time limit
        return None


def room(each: int = _ANALYSIS_BYTES) -> int:
    """Return the number of accesses that fit in the free memory, at `each` bytes per access."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(10_000, min(MAX_ACCESSES, free // each))
