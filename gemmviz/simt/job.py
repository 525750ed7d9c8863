"""One run of a recorder: its arguments, the arrays that it watches, its reports and its end."""

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gemmviz.backends.library import load
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES, A, B, C
from gemmviz.catalogue.problem import HUGE_BYTE, UNFILLED, poison_byte, stored
from gemmviz.catalogue.whole_numbers import c_before
from gemmviz.language import tr
from gemmviz.simt import async_copies, dynamic_shared, layout, packed_panels, tma_boxes
from gemmviz.simt.arguments import GUARD_BYTES, GuardedMatrix, make_arguments
from gemmviz.simt.block_range import block_range, processes_for
from gemmviz.simt.code_places import code_places
from gemmviz.simt.device_state import DeviceState, FlagState, flags_left
from gemmviz.simt.faults import raise_fault
from gemmviz.simt.instruction_places import CodePlaces
from gemmviz.simt.layout import MAX_ACCESSES, MAX_ARRAYS, MORE_PER_ACCESS, RecorderRun, ScratchKind, Status
from gemmviz.simt.number_kinds import number_kind
from gemmviz.simt.shared_array import BARRIER
from gemmviz.simt.stack_sizes import stack_bytes
from gemmviz.simt.time_limits import clock_s
from gemmviz.simt.tma_boxes import TmaReport

_T = TypeVar("_T")
# Shared arrays start 64 KiB apart (see cuda.h) and have at most 48 KiB.
_SHARED_GUARD = 8 << 10


class Again(Exception):
    """The run may differ from one in which no instruction is postponed: see ``runtime/postponed.h``."""


def attempted(attempt: Callable[[bool], _T]) -> _T:
    """Return the result of an attempt; at first instructions may be postponed, then each is done at once.

    The stacks of the first attempt may be small, too.
    """
    try:
        return attempt(False)
    except Again:
        return attempt(True)


class Job:
    """One run from its arguments to its end. At first A, B and C are zeros, and there is no memory for accesses.

    `deadline_s` of processor time is for the run, and also for a run of the first block that finds the boxes' tiles.
    A recording of all blocks finds them when the first block, or cluster, has ended. A run that `counts` needs them
    before, as do others.
    """

    def __init__(
        self,
        library: Path,
        launch: Launch,
        blocks: tuple[int, int] | None,
        at_once: bool,
        *,
        deadline_s: float,
        workers: int = 1,
        scratch: bool = False,
        counts: bool = False,
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
        self._variables = info.variables
        self.scratch = info.variables if scratch else []
        # The load address of the library: the address of a function minus its address in the file.
        self._base = (ctypes.cast(self._code.gv_entry, ctypes.c_void_p).value or 0) - info.entry
        self._code.gv_anchor_address.restype = ctypes.c_void_p
        self._anchor = int(self._code.gv_anchor_address())

        workers = processes_for(end - first, workers)

        def matrix(name: str, dtype: str) -> GuardedMatrix:
            return GuardedMatrix(math.prod(launch.problem.shape(name)), np.dtype(dtype), shared=workers > 1)

        dtypes = [launch.kernel.dtype_of(name) for name in MATRICES]
        self.arrays = [matrix(name, dtype) for name, dtype in zip(MATRICES, dtypes, strict=True)]
        # If a kernel reads C and writes D, then C is not an array of the recording.
        self._read = matrix("C", dtypes[C]) if launch.kernel.has_d else None
        # The rows that other GPUs hold are in other memory, whose accesses are told from those of the own A.
        self._elsewhere = matrix("A", dtypes[A]) if launch.gathers else None
        self._arguments = make_arguments(launch, self.arrays, self._read, self._elsewhere)
        self.run = run = RecorderRun()
        run.block[:], run.grid[:] = launch.block, launch.grid
        run.first_block, run.end_block, run.cluster = first, end, launch.cluster[0]
        run.at_once, run.workers = at_once, workers
        run.deadline_s, run.clock_s = deadline_s, clock_s(deadline_s)
        run.stack_bytes = stack_bytes(launch.kernel.backend, info.largest_frame, careful=at_once)
        run.arguments = ctypes.cast(self._arguments.pointers, ctypes.c_void_p).value
        run.entry = ctypes.cast(self._code.gv_entry, ctypes.c_void_p).value
        self._watch()
        self._inputs: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None
        self._dtypes: Sequence[str] = dtypes
        self._lacks_tiles = bool(launch.maps)
        if self._lacks_tiles and (counts or scratch or first):
            self._find_tiles(dtypes)

    def _find_tiles(self, dtypes: Sequence[str]) -> None:
        """Run the first block or cluster once, and return the tiles of the copy engine's boxes.

        Shared memory that the kernel declares as bytes is watched as these tiles.
        """
        run, first, end = self.run, self.run.first_block, self.run.end_block
        workers, capacity, more_capacity = run.workers, run.capacity, run.more_capacity
        # It must be the first block, because another block may wait for it.
        run.first_block, run.end_block, run.workers, run.count_only = 0, run.cluster, 1, 1
        run.capacity, run.more_capacity = MAX_ACCESSES, MORE_PER_ACCESS * MAX_ACCESSES
        async_copies.begin(self._code, MAX_ACCESSES, 1)
        tma_boxes.begin(self._code, MAX_ACCESSES, 1)
        self._code.gv_record(ctypes.byref(run))
        async_copies.copies_of_run(self._code, run)
        found = tma_boxes.boxes_so_far(self._code, self._anchor, self.launch)
        tma_boxes.end(self._code)
        if run.status == Status.AGAIN:
            raise Again
        run.first_block, run.end_block, run.count_only = first, end, 0
        run.workers, run.capacity, run.more_capacity = workers, capacity, more_capacity
        run.count = run.more_count = run.sites = run.notes = run.together = run.status = 0
        self._watch_tiles(found, dtypes)

    def _watch_tiles(self, boxes: npt.NDArray[Any], dtypes: Sequence[str]) -> int:
        """Watch the tiles of some boxes, and return how many there are."""
        arrays = self.info.shared
        tiles = [tile for array in arrays for tile in tma_boxes.tiles(array, boxes, dtypes, [a.name for a in arrays])]
        # An address belongs to the first array that contains it.
        info = replace(self.info, shared=[*tiles, *arrays])
        self._check_room(info)
        self.info = info
        self._watch(len(tiles))
        self._lacks_tiles = False
        return len(tiles)

    def _first_ended(self) -> int:
        """Find the tiles after the first block or cluster; return whether its rows are now those of the tiles.

        They are not if a defect was found in an array that may have tiles, as each tile has its own defects, or if the
        value of an access is not known in the tile's type.
        """
        if any(note.array >= len(MATRICES) for note in self.run.note[: self.run.notes]):
            return 0
        before = self.info
        try:
            boxes = tma_boxes.boxes_so_far(self._code, self._anchor, self.launch)
            tiles = self._watch_tiles(boxes, self._dtypes)
        except ConstraintError:  # the next attempt says it again
            return 0
        if self._code.gv_tiles_found(ctypes.c_uint32(tiles)):
            return 1
        self.info, self._lacks_tiles = before, True
        self._watch()
        return 0

    def fill(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
        """Set A and B, and fill C with values that no kernel computes by chance."""
        self._inputs = a, b
        for array in self.arrays:
            array.expect_all()
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
        self._check_room(self.info)
        anchor = self._anchor
        self.guards = [anchor + offset for offset in self.info.guards]
        slots = self.run.array
        for slot, array in zip(slots, self.arrays, strict=False):
            slot.start, slot.bytes, slot.guard = array.address, array.view.nbytes, GUARD_BYTES
            slot.itemsize = array.view.itemsize
            slot.number, slot.floats = number_kind(array.view.dtype.name)
        for number, shared in enumerate(shared_arrays, 3):
            slot, itemsize = slots[number], np.dtype(shared.dtype).itemsize
            slot.start, slot.itemsize, slot.shared = anchor + shared.offset, itemsize, 1
            slot.bytes, slot.guard = math.prod(shared.shape) * itemsize, _SHARED_GUARD
            slot.number, slot.floats = number_kind(shared.dtype)
            slot.inside = slot.scratch = 0
        for slot in slots[3 : 3 + tiles]:
            slot.guard, slot.inside = 0, 1
        self.run.arrays = 3 + len(shared_arrays)
        self.scratch = self.scratch[: MAX_ARRAYS - self.run.arrays - further]
        for slot, one in zip(slots[self.run.arrays : MAX_ARRAYS] if self.scratch else (), self.scratch, strict=False):
            slot.start, slot.itemsize, slot.shared = self._base + one.offset, np.dtype(one.dtype).itemsize, 0
            slot.bytes = int(np.prod(one.shape)) * slot.itemsize
            slot.number, slot.floats = number_kind(one.dtype)
            slot.guard, slot.inside, slot.scratch = 0, 0, ScratchKind.DATA
        self.run.arrays += len(self.scratch)
        if self._elsewhere is not None:
            slot, last = self.run.array[A], self.run.array[self.run.arrays]
            for field in ("bytes", "guard", "itemsize", "number", "floats"):
                setattr(last, field, getattr(slot, field))
            last.start, last.shared, last.inside, last.scratch = self._elsewhere.address, 0, 0, ScratchKind.NONE
            self.elsewhere = self.run.arrays
            self.run.arrays += 1

    def _check_room(self, info: CodePlaces) -> None:
        further = self._elsewhere is not None
        if len(info.shared) + 3 + further > MAX_ARRAYS:
            raise ConstraintError(
                tr(
                    "{kernel} has {count} shared arrays; {most} can be recorded",
                    kernel=self.launch.kernel.name,
                    count=len(info.shared),
                    most=MAX_ARRAYS - 3 - further,
                )
            )

    def start(self) -> tuple[npt.NDArray[Any], TmaReport]:
        """Run the kernel, raise its fault if there is one, and return the reports."""
        async_copies.begin(self._code, self.run.capacity, self._processes())
        log = tma_boxes.begin(self._code, self.run.capacity, self._processes())
        first_ended = ctypes.CFUNCTYPE(ctypes.c_int)(self._first_ended)
        self.run.first_ended = ctypes.cast(first_ended, ctypes.c_void_p).value if self._lacks_tiles else None
        self._code.gv_record(ctypes.byref(self.run))
        self.run.first_ended = None
        arrived = async_copies.copies_of_run(self._code, self.run)
        tma = tma_boxes.boxes_of_run(self._code, log, self.run, self._anchor, self.launch, self.place, self.barriers)
        if self.run.status == Status.AGAIN:
            raise Again
        if self._lacks_tiles and self.run.status not in (Status.DEADLINE, Status.WAITS):
            # The first block or cluster has a defect: what is said of it names the tiles.
            self._find_tiles(self._dtypes)
            ctypes.memset(self.run.site_kind, 0, ctypes.sizeof(self.run.site_kind))
            if self._inputs is not None:
                self.fill(*self._inputs)
            return self.start()
        self.info = replace(self.info, shared=[*self.info.shared, *packed_panels.panels_of_run(self._code)])
        raise_fault(self.run, self.launch, self.info, self._base, self.barrier_name)
        return arrived, tma

    def _processes(self) -> int:
        """Return the largest number of processes that run blocks: one process runs all clusters."""
        return self.run.workers if self.run.cluster == 1 else 1

    def flags_left(self) -> list[FlagState]:
        """Return the flags that the run has left with another value than before any run."""
        return flags_left(self._code, self._variables, self._base, lambda pc: self.place(pc)[0])

    def device_state(self, left: list[FlagState]) -> DeviceState:
        """Return what the run, a later launch, has found of the one before, which left some flags."""
        first = 3 + len(self.info.shared)
        kinds = [slot.scratch for slot in self.run.array[first : first + len(self.scratch)]]
        return DeviceState(self.scratch, [kind == ScratchKind.FLAGS for kind in kinds], left, self.flags_left())

    def prepare_next(self) -> None:
        """Prepare for a next launch, which finds the flags and the variables as this one has left them."""
        run = self.run
        run.count = run.more_count = run.sites = run.notes = run.together = run.status = 0
        ctypes.memset(run.site_kind, 0, ctypes.sizeof(run.site_kind))
        run.keep_flags = 1

    def place(self, pc: int) -> tuple[int, int]:
        """Return the line and the column of an instruction."""
        return self.info.place(pc - self._base)
