"""Runs an instrumented kernel in this process and returns all of its accesses."""

import ctypes
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.backends.library import load
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES, A, B, C
from gemmviz.catalogue.problem import HUGE_BYTE, UNFILLED, poison_byte, stored
from gemmviz.catalogue.whole_numbers import c_before
from gemmviz.language import tr
from gemmviz.sandbox import confined, result_memory
from gemmviz.simt import async_copies, diagnostics, dynamic_shared, layout, packed_panels, tma_boxes
from gemmviz.simt.arguments import GUARD_BYTES, GuardedMatrix, make_arguments
from gemmviz.simt.async_copies import Copies
from gemmviz.simt.block_range import block_range
from gemmviz.simt.code_places import code_places
from gemmviz.simt.faults import TooManyAccesses, raise_fault
from gemmviz.simt.layout import COLUMNS, MAX_ARRAYS, RecorderRun
from gemmviz.simt.number_kinds import number_kind
from gemmviz.simt.shared_array import BARRIER, SharedArray
from gemmviz.simt.time_limits import clock_s
from gemmviz.simt.tma_boxes import TmaReport

# The columns of a recording of this length take 1.1 GB.
MAX_ACCESSES = 50_000_000
# Shared arrays start 64 KiB apart (see cuda.h) and have at most 48 KiB.
_SHARED_GUARD = 8 << 10
# CUDA gives a thread up to 512 KiB of local memory. Only touched pages are committed.
_STACK_BYTES = {"cuda": 1 << 20, "c": 8 << 20}
_SCOUTING_S = 20.0
BLOCKS_PER_WORKER = 2  # with fewer, a further process costs more time than it saves


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
        The asynchronous copies that arrived.
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
    """

    columns: dict[str, npt.NDArray[Any]]
    more: npt.NDArray[Any]
    places: list[tuple[int, int]]
    shared: list[SharedArray]
    c: npt.NDArray[Any]
    diagnostics: list[diagnostics.Diagnostic]
    kinds: list[int]
    async_copies: Copies
    tma: TmaReport
    barriers: list[SharedArray]
    together: int
    workers: int
    seconds: float
    elsewhere: npt.NDArray[np.int64]


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
        The largest number of accesses to keep, up to `MAX_ACCESSES`.
    blocks
        The first block to run (linear, x fastest) and the one after the last; all by default. Clusters run whole.
    workers
        The largest number of processes that share the blocks; by default the number of cores that this process may
        use. The recording does not depend on it.

    Raises
    ------
    KernelFault
        When the kernel crashes or passes the deadline.
    TooManyAccesses
        When there are more accesses than `capacity`.
    ConstraintError
        When another property of the launch cannot be recorded.
    """
    job = _Job(library, launch, blocks)
    job.fill(a, b)
    run = job.run
    job.limit(deadline_s)
    run.capacity = run.more_capacity = min(capacity, MAX_ACCESSES)
    run.workers = most_workers(launch) if workers is None else workers
    run.workers = max(1, min(run.workers, (run.end_block - run.first_block) // BLOCKS_PER_WORKER))
    shared = run.workers > 1
    columns = {name: result_memory.zeros(run.capacity, np.dtype(kind), shared=shared) for name, kind in COLUMNS}
    for name, column in columns.items():
        setattr(run, name, column.ctypes.data)
    more = result_memory.zeros(run.capacity, np.dtype(np.uint32), shared=shared)
    run.more = more.ctypes.data
    began = time.perf_counter()
    arrived, tma = job.start()
    seconds = time.perf_counter() - began
    elsewhere = np.zeros(0, np.int64)
    if job.elsewhere >= 0:
        elsewhere = np.flatnonzero(columns["which"][: run.count] == job.elsewhere)
        columns["which"][elsewhere] = A
    names = [*MATRICES, *(s.name for s in job.info.shared), "A"]
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
    )


def count(
    library: Path, launch: Launch, *, deadline_s: float, limit: int, blocks: tuple[int, int] | None = None
) -> AccessCount:
    """Count the accesses of some blocks, without keeping any.

    A and B are zeros, so that even large matrices take no memory. The count stops at `limit`; the other parameters and
    the errors are those of `run`.
    """
    job = _Job(library, launch, blocks)
    job.limit(deadline_s)
    job.run.capacity = job.run.more_capacity = limit
    job.run.workers, job.run.count_only = 1, 1
    began, complete = time.perf_counter(), True
    try:
        job.start()
    except TooManyAccesses:
        complete = False
    return AccessCount(job.run.count, job.run.more_count, complete, time.perf_counter() - began)


def result_bytes(capacity: int) -> int:
    """Return the size of the arrays that `run` fills, in bytes."""
    kinds = [np.dtype(kind) for _, kind in COLUMNS]
    return result_memory.bytes_for([capacity * kind.itemsize for kind in (*kinds, np.dtype(np.float32))])


def most_workers(launch: Launch) -> int:
    """Return the largest number of processes that may share the blocks of a launch."""
    # A process that has used CUDA must not be forked. The process that runs recorders in the sandbox never uses CUDA.
    if launch.kernel.backend != "cuda":
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


class _Job:
    """One run from its arguments to its end. At first A, B and C are zeros, and there is no memory for accesses."""

    def __init__(
        self,
        library: Path,
        launch: Launch,
        blocks: tuple[int, int] | None,
    ) -> None:
        self.launch = launch = launch.one_entry
        first, end = block_range(launch, blocks)
        self.elsewhere = -1
        self._code = load(library, launch)
        layout.check(self._code)
        info = code_places(library, launch.kernel.path.name)
        self.barriers = [array for array in info.shared if array.dtype == BARRIER]
        data = [array for array in info.shared if array.dtype != BARRIER]
        self.info = replace(info, shared=[dynamic_shared.typed(array, launch) for array in data])
        # The load address of the library: the address of a function minus its address in the file.
        self._base = (ctypes.cast(self._code.gv_entry, ctypes.c_void_p).value or 0) - info.entry
        self._code.gv_anchor_address.restype = ctypes.c_void_p
        self._anchor = int(self._code.gv_anchor_address())

        dtypes = [launch.kernel.dtype_of(name) for name in MATRICES]
        self.arrays = [
            GuardedMatrix(math.prod(launch.problem.shape(name)), np.dtype(dtype))
            for name, dtype in zip(MATRICES, dtypes, strict=True)
        ]
        # If a kernel reads C and writes D, then C is not an array of the recording.
        self._read = (
            GuardedMatrix(math.prod(launch.problem.shape("C")), np.dtype(dtypes[C])) if launch.kernel.has_d else None
        )
        # The rows that other GPUs hold are in other memory, whose accesses are told from those of the own A.
        self._elsewhere = (
            GuardedMatrix(math.prod(launch.problem.shape("A")), np.dtype(dtypes[A])) if launch.gathers else None
        )
        self._arguments = make_arguments(launch, self.arrays, self._read, self._elsewhere)
        self.run = run = RecorderRun()
        run.block[:], run.grid[:] = launch.block, launch.grid
        run.first_block, run.end_block, run.cluster = first, end, launch.cluster[0]
        run.stack_bytes = _STACK_BYTES[launch.kernel.backend]
        run.arguments = ctypes.cast(self._arguments.pointers, ctypes.c_void_p).value
        run.entry = ctypes.cast(self._code.gv_entry, ctypes.c_void_p).value
        self._watch()
        if launch.maps:
            self._find_tiles(dtypes)

    def _find_tiles(self, dtypes: Sequence[str]) -> None:
        """Run the first block or cluster once, and return the tiles of the copy engine's boxes.

        Shared memory that the kernel declares as bytes is watched as these tiles.
        """
        run, first, end = self.run, self.run.first_block, self.run.end_block
        # It must be the first block, because another block may wait for it.
        run.first_block, run.end_block, run.workers, run.count_only = 0, run.cluster, 1, 1
        run.capacity = run.more_capacity = MAX_ACCESSES
        self.limit(_SCOUTING_S)
        async_copies.begin(self._code, MAX_ACCESSES)
        tma_boxes.begin(self._code, MAX_ACCESSES)
        self._code.gv_record(ctypes.byref(run))
        async_copies.copies_of_run(self._code, [])
        found = tma_boxes.boxes_of_run(self._code, self._anchor).boxes
        run.first_block, run.end_block, run.count_only = first, end, 0
        run.count = run.more_count = run.sites = run.notes = run.together = run.status = 0
        arrays = self.info.shared
        tiles = [tile for array in arrays for tile in tma_boxes.tiles(array, found, dtypes, [a.name for a in arrays])]
        # An address belongs to the first array that contains it.
        self.info = replace(self.info, shared=[*tiles, *arrays])
        self._watch(len(tiles))

    def limit(self, deadline_s: float) -> None:
        """Set the time limit of the run, in seconds of processor time."""
        self.run.deadline_s, self.run.clock_s = deadline_s, clock_s(deadline_s)

    def fill(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
        """Set A and B, and fill C with values that no kernel computes by chance."""
        self.arrays[A].view[:] = a.astype(self.arrays[A].view.dtype, copy=False)
        if self._elsewhere is not None:
            self._elsewhere.view[:] = self.arrays[A].view
            gpu, count = self.launch.gpu
            others = np.arange(count) != gpu
            self.arrays[A].view.view(np.uint8).reshape(count, -1)[others] = UNFILLED
        self.arrays[B].view[:] = b.astype(self.arrays[B].view.dtype, copy=False)
        self.arrays[C].view.view(np.uint8)[:] = 0 if self.launch.kernel.zeroed else poison_byte(self.launch.kernel)
        before, kernel = self._read or self.arrays[C], self.launch.kernel
        if self._read is not None and "beta" in kernel.args:
            before.view.view(np.uint8)[:] = HUGE_BYTE
        if self.launch.beta and not kernel.zeroed:
            before.view[:] = stored(kernel, "C", c_before(self.launch.problem.shape("C")))

    def barrier_name(self, address: int) -> str:
        """Return the name of the mbarrier at an address: ``full[2]``."""
        return tma_boxes.barrier_name(self.barriers, address - self._anchor)

    def _watch(self, tiles: int = 0) -> None:
        """Pass the arrays to the recorder. The first shared arrays may be `tiles`, which are parts of others."""
        shared_arrays = self.info.shared
        further = self._elsewhere is not None
        if len(shared_arrays) + 3 + further > MAX_ARRAYS:
            raise ConstraintError(
                tr(
                    "{kernel} has {count} shared arrays; {most} can be recorded",
                    kernel=self.launch.kernel.name,
                    count=len(shared_arrays),
                    most=MAX_ARRAYS - 3 - further,
                )
            )
        anchor = self._anchor
        self.guards = [anchor + offset for offset in self.info.guards]
        for slot, array in zip(self.run.array, self.arrays, strict=False):
            slot.start, slot.bytes, slot.guard = array.address, array.view.nbytes, GUARD_BYTES
            slot.itemsize = array.view.itemsize
            slot.number, slot.floats = number_kind(array.view.dtype.name)
        for slot, shared in zip(self.run.array[3:MAX_ARRAYS], shared_arrays, strict=False):
            slot.start, slot.itemsize, slot.shared = anchor + shared.offset, np.dtype(shared.dtype).itemsize, 1
            slot.bytes = int(np.prod(shared.shape)) * slot.itemsize
            slot.guard = _SHARED_GUARD
            slot.number, slot.floats = number_kind(shared.dtype)
            slot.inside = 0
        for slot in self.run.array[3 : 3 + tiles]:
            slot.guard, slot.inside = 0, 1
        self.run.arrays = 3 + len(shared_arrays)
        if self._elsewhere is not None:
            slot, last = self.run.array[A], self.run.array[self.run.arrays]
            for field in ("bytes", "guard", "itemsize", "number", "floats"):
                setattr(last, field, getattr(slot, field))
            last.start, last.shared, last.inside = self._elsewhere.address, 0, 0
            self.elsewhere = self.run.arrays
            self.run.arrays += 1

    def start(self) -> tuple[Copies, TmaReport]:
        """Run the kernel, raise its fault if there is one, and return the reports."""
        async_copies.begin(self._code, self.run.capacity)
        tma_boxes.begin(self._code, self.run.capacity)
        self._code.gv_record(ctypes.byref(self.run))
        arrived = async_copies.copies_of_run(self._code, self.run.site_pc[: self.run.sites])
        tma = tma_boxes.boxes_of_run(self._code, self._anchor, self.place)
        self.info = replace(self.info, shared=[*self.info.shared, *packed_panels.panels_of_run(self._code)])
        raise_fault(self.run, self.launch, self.info, self._base, self.barrier_name)
        return arrived, tma

    def place(self, pc: int) -> tuple[int, int]:
        """Return the line and the column of an instruction."""
        return self.info.place(pc - self._base)
