"""Runs an instrumented kernel in this process and returns every access it made."""

import ctypes
import mmap
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError, KernelFault, KernelTimeout
from gemmviz.catalogue.kernel import MATRICES
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import poison_byte
from gemmviz.simt import debuginfo, noticed
from gemmviz.simt.layout import COLUMNS, MAX_ARRAYS, Run, Status
from gemmviz.simt.noticed import who

# The columns of a recording of this length take 1 GiB.
MAX_ACCESSES = 50_000_000
# An estimated size is rounded down by this much: edges of tiles make a small problem cost more than its share.
_MARGIN = 0.9
_GUARD = 1 << 20
# Shared arrays stand 64 KiB apart (see cuda.h) and have 48 at most.
_SHARED_GUARD = 8 << 10
_ALIGNMENT = 256  # as cudaMalloc aligns
# CUDA gives a thread up to 512 KiB of local memory. Only what is touched is committed.
_STACK_BYTES = {"cuda": 1 << 20, "c": 8 << 20}
_MAX_BLOCKS = 2**32 - 1  # the width of the column


@dataclass(frozen=True)
class RawTrace:
    """What the recorder saw.

    Attributes
    ----------
    columns
        One array per column of `layout.COLUMNS`.
    more
        uint32, the bits of the further elements of accesses that cover several, in the order of the rows.
    places
        (line, column) of each site.
    shared
        The shared arrays, in the order in which column ``which`` numbers them from 3; 0 to 2 are A, B, C.
    c
        C as the kernel left it, flat.
    noticed
        Accesses out of bounds, barriers that some threads missed.
    atomic
        Per site, whether it is an atomic operation.
    """

    columns: dict[str, npt.NDArray[Any]]
    more: npt.NDArray[Any]
    places: list[tuple[int, int]]
    shared: list[debuginfo.SharedArray]
    c: npt.NDArray[Any]
    noticed: list[noticed.Noticed]
    atomic: list[bool]


def run(
    library: Path, launch: Launch, a: npt.NDArray[Any], b: npt.NDArray[Any], *, deadline_s: float, capacity: int
) -> RawTrace:
    """Run a recorder.

    Call it in the main thread of a process that may die: a kernel is foreign code.

    Parameters
    ----------
    library
        From `gemmviz.simt.build.build`.
    launch
        What was built.
    a, b
        A and B as the kernel stores them, flat.
    deadline_s
        When to give up.
    capacity
        Most accesses to keep, up to `MAX_ACCESSES`.

    Raises
    ------
    KernelFault
        When the kernel crashes or passes the deadline.
    ConstraintError
        When the accesses do not fit.
    """
    if launch.blocks > _MAX_BLOCKS:
        raise ConstraintError(f"{launch.kernel.name}: {launch.blocks:,} blocks are more than can be recorded")
    code = ctypes.CDLL(str(library))
    info = debuginfo.read(library, launch.kernel.path.name)
    base = _load_address(code, library)
    code.gv_anchor_address.restype = ctypes.c_void_p
    anchor = code.gv_anchor_address()

    dtype = np.dtype(launch.kernel.dtype)
    result_dtype = np.dtype(launch.kernel.accumulate)
    c_bytes = launch.problem.m * launch.problem.n * result_dtype.itemsize
    c = np.full(c_bytes, poison_byte(launch.kernel), np.uint8).view(result_dtype)
    arrays = [_Guarded(values) for values in (a.astype(dtype, copy=False), b.astype(dtype, copy=False), c)]

    job = Run()
    job.block[:], job.grid[:] = launch.block, launch.grid
    for slot, array in zip(job.array, arrays, strict=False):
        slot.start, slot.bytes, slot.guard = array.address, array.view.nbytes, _GUARD
        slot.itemsize, slot.doubles = array.view.itemsize, array.view.dtype == np.float64
    if len(info.shared) + 3 > MAX_ARRAYS:
        raise ConstraintError(
            f"{launch.kernel.name} has {len(info.shared)} shared arrays; {MAX_ARRAYS - 3} can be recorded"
        )
    for slot, shared in zip(job.array[3:MAX_ARRAYS], info.shared, strict=False):
        slot.start, slot.itemsize, slot.shared = anchor + shared.offset, np.dtype(shared.dtype).itemsize, 1
        slot.bytes = int(np.prod(shared.shape)) * slot.itemsize
        slot.guard = _SHARED_GUARD
        slot.doubles = shared.dtype == "float64"
    job.arrays = 3 + len(info.shared)
    job.capacity = min(capacity, MAX_ACCESSES)
    job.stack_bytes = _STACK_BYTES[launch.kernel.backend]
    job.deadline_s = deadline_s
    # Rows are only committed to memory as they are written.
    columns = {name: np.empty(job.capacity, kind) for name, kind in COLUMNS}
    for name, column in columns.items():
        setattr(job, name, column.ctypes.data)
    more = np.empty(job.capacity, np.uint32)
    job.more = more.ctypes.data
    values = _arguments(launch, arrays)
    job.arguments = ctypes.cast(values.pointers, ctypes.c_void_p).value
    job.entry = ctypes.cast(code.gv_entry, ctypes.c_void_p).value

    code.gv_record(ctypes.byref(job))
    places = [info.place(pc - base) for pc in job.site_pc[: job.sites]]
    names = [*MATRICES, *(s.name for s in info.shared)]
    _raise_fault(job, launch, info, base)
    return RawTrace(
        {name: column[: job.count].copy() for name, column in columns.items()},
        more[: job.more_count].copy(),
        places,
        info.shared,
        arrays[2].view.copy(),
        noticed.read(job, launch, names, lambda pc: info.place(pc - base)[0]),
        [bool(flag) for flag in job.site_atomic[: job.sites]],
    )


class _Guarded:
    """A copy of an array with guard zones of `_GUARD` bytes on both sides, aligned as on a GPU."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._memory = mmap.mmap(-1, values.nbytes + 2 * _GUARD + _ALIGNMENT)
        raw = np.frombuffer(self._memory, np.uint8)
        start = _GUARD + -(raw.ctypes.data + _GUARD) % _ALIGNMENT
        self.view = raw[start : start + values.nbytes].view(values.dtype)
        self.view[:] = values
        self.address = self.view.ctypes.data


@dataclass(frozen=True)
class _Arguments:
    pointers: ctypes.Array[ctypes.c_void_p]
    keep: list[Any]


def _arguments(launch: Launch, arrays: list[_Guarded]) -> _Arguments:
    """Return what ``gv_entry`` takes: matrices as they are, scalars as pointers to a long long or a double."""
    pointers: list[int | None] = []
    keep: list[Any] = []
    for name in launch.kernel.args:
        if name in MATRICES:
            pointers.append(arrays[MATRICES.index(name)].address)
            continue
        value = launch.scalar(name)
        cell = ctypes.c_double(value) if name in ("alpha", "beta") else ctypes.c_longlong(int(value))
        keep.append(cell)
        pointers.append(ctypes.addressof(cell))
    return _Arguments((ctypes.c_void_p * len(pointers))(*pointers), keep)


def _load_address(code: ctypes.CDLL, library: Path) -> int:
    """Return where the library is loaded: the real address of a symbol less the one in the file."""
    address = ctypes.cast(code.gv_entry, ctypes.c_void_p).value or 0
    return address - debuginfo.symbol_address(library, "gv_entry")


def _smaller(job: Run, launch: Launch) -> str:
    """Say which size would fit, judged by how far the run had come when there was no more room.

    Accesses grow with M N K. A grid has come as far as its blocks are done, a loop as far as it has written C.
    """
    if launch.kernel.backend == "c":
        written = np.ctypeslib.as_array(ctypes.cast(job.element, ctypes.POINTER(ctypes.c_uint32)), (job.capacity,))
        which = np.ctypeslib.as_array(ctypes.cast(job.which, ctypes.POINTER(ctypes.c_uint8)), (job.capacity,))
        done = float(written[which == 2].max(initial=0)) / (launch.problem.m * launch.problem.n)
    else:
        done = job.fault_block / launch.blocks
    size = int((done * launch.problem.m * launch.problem.n * launch.problem.k) ** (1 / 3) * _MARGIN)
    return f"M = N = K = {size} should fit" if size else "does it end? If so, record a smaller size"


def _raise_fault(job: Run, launch: Launch, info: debuginfo.DebugInfo, base: int) -> None:
    name = launch.kernel.path.name
    # A fault outside the kernel's own code (in the recorder, in a library) is told by the access before it.
    line = next((line for pc in (job.fault_pc, job.last_pc) if (line := info.place(pc - base)[0])), 0)
    where = f"{name}:{line}" if line else name
    culprit = who(launch, job.fault_block, job.fault_thread)
    match Status(job.status):
        case Status.OK:
            return
        case Status.FULL:
            raise ConstraintError(
                f"{launch.kernel.name} at {launch.problem} makes more than {job.capacity:,} accesses, which is what "
                f"can be kept: {_smaller(job, launch)}"
            )
        case Status.SIGNAL:
            cause = signal.strsignal(job.signal) or f"signal {job.signal}"
            raise KernelFault(f"{where}: {cause} in {culprit}, address {job.fault_address:#x}", line or None)
        case Status.DEADLINE:
            raise KernelTimeout(
                f"{where}: still running after {job.deadline_s:g} s in {culprit}: "
                "does it end? It is an endless loop, or too large a size to record",
                line or None,
            )
        case Status.TOO_MANY_SITES:
            raise ConstraintError(f"{name} has too many different memory instructions to record: unroll less")
        case Status.TOO_MANY_PHASES:
            raise ConstraintError(
                f"{where}: more than 65,535 barriers cannot be recorded: does it end? If so, choose a smaller K"
            )
        case Status.WARP_WAITS:
            other = who(launch, job.fault_block, job.fault_other)
            raise KernelFault(
                f"{where}: {culprit} waits for the other lanes of its warp, and {other} never comes: all lanes must "
                "reach the same warp instruction",
                line or None,
            )
        case Status.PART_OF_WARP:
            raise KernelFault(
                f"{where}: this instruction needs a whole warp of 32 threads, and {culprit} is in a warp of fewer: "
                "make the block a multiple of 32 threads",
                line or None,
            )
        case Status.MISALIGNED:
            raise KernelFault(
                f"{where}: {culprit} accesses several elements at once at an address that is no multiple of their "
                f'size ({job.fault_address:#x}): a GPU stops with "misaligned address"',
                line or None,
            )
        case Status.NO_MEMORY:
            raise ConstraintError(f"{name}: not enough memory for {launch.threads} threads per block")
