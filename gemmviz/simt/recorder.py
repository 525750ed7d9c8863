"""Runs an instrumented kernel in this process and returns all of its accesses."""

import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES, A, C
from gemmviz.sandbox import confined, result_memory
from gemmviz.simt import diagnostics
from gemmviz.simt.device_state import DeviceState, FlagState, in_later_launch
from gemmviz.simt.faults import TooManyAccesses, TooManyBarriers
from gemmviz.simt.job import Job, attempted
from gemmviz.simt.layout import COLUMNS, MAX_ACCESSES, MORE_PER_ACCESS
from gemmviz.simt.shared_array import SharedArray
from gemmviz.simt.tma_boxes import TmaReport


@dataclass(frozen=True)
class RawTrace:
    """The raw trace of a run.

    Attributes
    ----------
    columns
        One array per column of `layout.COLUMNS`. The rows are sorted by block, phase and thread.
    more
        float32, the elements after the first of each wider access, in the order of the rows.
    places
        (line, column) of each site.
    shared
        The shared arrays, in the order of their numbers in column ``which``, from 3; 0 to 2 are A, B, C.
    c
        C after the run, flat.
    diagnostics
        Accesses out of bounds, and barriers that some threads did not reach.
    kinds
        The kind of each site.
    copies
        The asynchronous copies that arrived: see `async_copies.copies_of_run`.
    tma, barriers
        The copy engine's boxes and the events of mbarriers; the arrays of mbarriers. All addresses are offsets, like
        those of the shared arrays.
    together
        The number of threads that exchange values by one instruction: 1, `layout.WARP` or `layout.WARPGROUP`.
    workers
        The number of processes that ran the blocks.
    seconds
        The run time of the kernel in seconds, with the recording of its accesses.
    elsewhere
        int64, the rows of `columns` that access A in the memory of another GPU.
    state
        If this is a later launch: what it found of the ones before.
    """

    columns: dict[str, npt.NDArray[Any]]
    more: npt.NDArray[Any]
    places: list[tuple[int, int]]
    shared: list[SharedArray]
    c: npt.NDArray[Any]
    diagnostics: list[diagnostics.Diagnostic]
    kinds: list[int]
    async_copies: npt.NDArray[Any]
    tma: TmaReport
    barriers: list[SharedArray]
    together: int
    workers: int
    seconds: float
    elsewhere: npt.NDArray[np.int64]
    state: DeviceState | None = None


@dataclass(frozen=True)
class AccessCount:
    """The number of accesses of some blocks, and the number of further elements in wider accesses.

    ``complete``: whether the count reached the end; ``seconds``: the time of the count.
    """

    accesses: int
    more: int
    complete: bool
    seconds: float


def run(
    library: Path,
    launch: Launch,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    *,
    deadline_s: float,
    capacity: int,
    blocks: tuple[int, int] | None = None,
    workers: int | None = None,
    earlier: int = 0,
) -> RawTrace:
    """Run a recorder.

    Call it in the main thread of a process that may crash, because a kernel is foreign code: see `gemmviz.simt.apart`.

    Parameters
    ----------
    library
        From `gemmviz.simt.build.build`.
    launch
        The launch that was built.
    a, b
        A and B in the kernel's layout, flat.
    deadline_s
        The time limit in seconds of processor time.
    capacity
        The largest number of accesses to keep, up to `layout.MAX_ACCESSES`, and (times `layout.MORE_PER_ACCESS`) of
        words of further elements.
    blocks
        The first block to run (linear, x fastest) and the one after the last; all by default. Clusters run whole.
    workers
        The largest number of processes that share the blocks; by default the number of cores that this process may
        use. The recording does not depend on it.
    earlier
        The number of launches before the recorded one, which finds the variables of the device as they have left them.
        After any, the trace also has the accesses to these variables.

    Raises
    ------
    KernelFault
        When the kernel crashes or passes the deadline.
    TooManyAccesses
        When there are more accesses than `capacity`.
    ConstraintError
        When another property of the launch cannot be recorded.
    """
    capacity = min(capacity, MAX_ACCESSES)
    workers = most_workers(launch) if workers is None else workers
    columns: dict[str, npt.NDArray[Any]] = {}
    more: npt.NDArray[Any] = np.zeros(0, np.uint32)

    def attempt(at_once: bool) -> tuple[Job, npt.NDArray[Any], TmaReport, float, list[FlagState]]:
        nonlocal more
        job = Job(library, launch, blocks, at_once, deadline_s=deadline_s, workers=workers, scratch=earlier > 0)
        job.fill(a, b)
        run = job.run
        run.capacity, run.more_capacity = capacity, MORE_PER_ACCESS * capacity
        run.no_turns = not columns
        if not columns:
            shared = run.workers > 1
            columns.update((n, result_memory.zeros(capacity, np.dtype(kind), shared=shared)) for n, kind in COLUMNS)
            more = result_memory.zeros(MORE_PER_ACCESS * capacity, np.dtype(np.uint32), shared=shared)
        for name, column in columns.items():
            setattr(run, name, column.ctypes.data)
        run.more = more.ctypes.data
        run.huge_pages = run.workers == 1 and result_memory.place(more) is None
        began = time.perf_counter()
        arrived, tma = job.start()
        left: list[FlagState] = []
        for number in range(1, earlier + 1):
            left = job.flags_left()
            job.prepare_next()
            job.fill(a, b)
            try:
                arrived, tma = job.start()
            except (KernelFault, TooManyBarriers) as fault:
                raise in_later_launch(fault, number, left) from None
        return job, arrived, tma, time.perf_counter() - began, left

    job, arrived, tma, seconds, left = attempted(attempt)
    run = job.run
    elsewhere = np.zeros(0, np.int64)
    if job.elsewhere >= 0:
        elsewhere = np.flatnonzero(columns["which"][: run.count] == job.elsewhere)
        columns["which"][elsewhere] = A
    names = [*MATRICES, *(s.name for s in (*job.info.shared, *job.scratch)), "A"]
    return RawTrace(
        # These are views, as copies would double the memory. The pages after their end were never touched.
        {name: column[: run.count] for name, column in columns.items()},
        more[: run.more_count],
        [job.place(pc) for pc in run.site_pc[: run.sites]],
        job.info.shared,
        job.arrays[C].view.copy(),
        diagnostics.diagnostics_of_run(run, launch, names, lambda pc: job.place(pc)[0], job.guards, job.barrier_name),
        list(run.site_kind[: run.sites]),
        arrived,
        tma,
        job.barriers,
        max(run.together, 1),
        run.shared_by,
        seconds,
        elsewhere,
        job.device_state(left) if earlier else None,
    )


def count(
    library: Path, launch: Launch, *, deadline_s: float, limit: int, blocks: tuple[int, int] | None = None
) -> AccessCount:
    """Count the accesses of some blocks, without keeping any.

    A and B are zeros, so that even large matrices take no memory. The count stops at `limit`; the other parameters and
    the errors are those of `run`.
    """

    def attempt(at_once: bool) -> AccessCount:
        job = Job(library, launch, blocks, at_once, deadline_s=deadline_s, counts=True)
        job.run.capacity, job.run.more_capacity = limit, MORE_PER_ACCESS * limit
        job.run.workers, job.run.count_only = 1, 1
        began, complete = time.perf_counter(), True
        try:
            job.start()
        except TooManyAccesses:
            complete = False
        return AccessCount(job.run.count, job.run.more_count, complete, time.perf_counter() - began)

    return attempted(attempt)


def result_bytes(capacity: int) -> int:
    """Return the size of the arrays that `run` fills, in bytes."""
    each = [*(np.dtype(kind).itemsize for _, kind in COLUMNS), MORE_PER_ACCESS * np.dtype(np.uint32).itemsize]
    return result_memory.bytes_for([capacity * nbytes for nbytes in each])


def most_workers(launch: Launch) -> int:
    """Return the largest number of processes that may share the blocks of a launch."""
    # A process that has used CUDA must not be forked. The process that runs recorders in the sandbox never uses CUDA.
    if launch.kernel.backend != "cuda" or launch.cluster[0] > 1:  # one process runs all clusters
        return 1
    if not confined.active() and _has_cuda():
        return 1
    return len(os.sched_getaffinity(0))


def _has_cuda() -> bool:
    """Return whether the CUDA driver is loaded in this process."""
    try:
        ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True
