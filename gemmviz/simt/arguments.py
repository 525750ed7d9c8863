"""The arguments of a recorded launch: its scalars, and its matrices, each between two guard zones."""

import ctypes
import mmap
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.batch import SUFFIX as ENTRIES
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.gpu_roles import ROWS
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, MATRICES, A, C, D
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.catalogue.whole_numbers import bias_for
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.sandbox import libc
from gemmviz.sandbox.result_memory import HUGE_PAGE
from gemmviz.simt import tma_boxes

GUARD_BYTES = 1 << 20
FAR_BYTES = 8 << 30
"""The addresses without memory on both sides of a matrix and its guard zones: as many as an ``int`` indexes floats."""
_ALIGNMENT = 256  # as cudaMalloc aligns
_MANY_BYTES = 512 << 10  # a huge page takes less time than so many bytes in small ones


class GuardedMatrix:
    """An array of zeros with guard zones of `GUARD_BYTES` bytes on both sides, aligned as on a GPU.

    A use of the `FAR_BYTES` addresses on both sides of these is a fault: no other memory is there.

    `shared`: processes that are forked later write to it, too. New pages of such memory take longer.
    """

    def __init__(self, count: int, dtype: np.dtype[Any], *, shared: bool = False) -> None:
        nbytes = count * dtype.itemsize
        self._many = not shared and nbytes >= _MANY_BYTES
        alignment = HUGE_PAGE if self._many else _ALIGNMENT
        try:
            self._memory, first = _memory(nbytes + 2 * GUARD_BYTES + alignment, shared)
        except (OSError, OverflowError):
            message = tr(
                "a matrix of {count} elements does not fit in memory: record a smaller size", count=thousands(count)
            )
            raise ConstraintError(message) from None
        raw = np.frombuffer(self._memory, np.uint8)
        self._start = start = first + GUARD_BYTES + -(raw.ctypes.data + first + GUARD_BYTES) % alignment
        self.view = raw[start : start + nbytes].view(dtype)
        self.address = self.view.ctypes.data

    def expect_all(self) -> None:
        """Ask for huge pages, as all of it will be written."""
        if not self._many:
            return
        with suppress(OSError):  # Linux may have none
            self._memory.madvise(mmap.MADV_HUGEPAGE, self._start, -(-self.view.nbytes // HUGE_PAGE) * HUGE_PAGE)


def _memory(nbytes: int, shared: bool) -> tuple[mmap.mmap, int]:
    """Return new memory between addresses without memory, and the offset of its first byte."""
    nbytes += -nbytes % mmap.PAGESIZE
    try:
        pages = mmap.mmap(-1, nbytes + 2 * FAR_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | libc.MAP_NORESERVE)
    except OSError:  # so many addresses are not allowed here
        return mmap.mmap(-1, nbytes, flags=(mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE) | mmap.MAP_ANONYMOUS), 0
    begin = np.frombuffer(pages, np.uint8).ctypes.data
    libc.replace_memory(begin + FAR_BYTES, nbytes, shared=shared)
    for place in (begin, begin + FAR_BYTES + nbytes):
        libc.remove_memory(place, FAR_BYTES)
    return pages, FAR_BYTES


@dataclass(frozen=True)
class Arguments:
    """The array of pointers for ``gv_entry``, and the objects that it points to."""

    pointers: ctypes.Array[ctypes.c_void_p]
    keep: list[Any]


def make_arguments(
    launch: Launch, arrays: list[GuardedMatrix], read: GuardedMatrix | None, elsewhere: GuardedMatrix | None
) -> Arguments:
    """Return the arguments of ``gv_entry``: pointers to the matrices, and scalars as pointers to long long or double.

    Parameters
    ----------
    launch
        The launch.
    arrays
        A, B and the result.
    read
        The C of a kernel that reads C and writes D.
    elsewhere
        A (M x K) with the rows of the other GPUs, each in its place, for a kernel that copies them.
    """
    pointers: list[int | None] = []
    keep: list[Any] = []
    matrices = dict(zip(MATRICES, arrays, strict=True)) | {D: arrays[C]}
    if read is not None:
        matrices[MATRICES[C]] = read
    if launch.kernel.has_bias:
        matrices[BIAS] = GuardedMatrix(launch.problem.n, np.dtype(launch.kernel.dtype_out))
        matrices[BIAS].view[:] = bias_for(launch)
        keep.append(matrices[BIAS])
    for name in launch.kernel.args:
        if name in matrices and launch.batch:
            pointers.append(_first_entry(launch, name, matrices))
            continue
        if elsewhere is not None and name == ROWS:
            cells = _owners(launch, arrays[A], elsewhere)
            keep.append(cells)
            pointers.append(cells.ctypes.data)
            continue
        if name in POINTERS:
            cells = _entries(launch, name.removesuffix(ENTRIES), matrices)
            keep.append(cells)
            pointers.append(cells.ctypes.data)
            continue
        if name in matrices:
            pointers.append(matrices[name].address)
            continue
        if name.endswith(SUFFIX):
            described = tma_boxes.described(launch, name.removesuffix(SUFFIX), arrays)
            keep.append(described)
            pointers.append(described.ctypes.data)
            continue
        value = launch.scalar(name)
        cell = ctypes.c_double(value) if name in ("alpha", "beta") else ctypes.c_longlong(int(value))
        keep.append(cell)
        pointers.append(ctypes.addressof(cell))
    return Arguments((ctypes.c_void_p * len(pointers))(*pointers), keep)


def _owners(launch: Launch, mine: GuardedMatrix, elsewhere: GuardedMatrix) -> npt.NDArray[np.uint64]:
    """Return the address of the rows of A of each GPU."""
    gpu, count = launch.gpu
    each = mine.view.nbytes // count
    found = [(mine if owner == gpu else elsewhere).address + owner * each for owner in range(count)]
    return np.array(found, np.uint64)


def _first_entry(launch: Launch, name: str, matrices: dict[str, GuardedMatrix]) -> int:
    """Return the address of a matrix's first entry. Only the recorded entry has memory; others are not accessed."""
    return int(_entries(launch, name, matrices)[0])


def _entries(launch: Launch, name: str, matrices: dict[str, GuardedMatrix]) -> npt.NDArray[np.uint64]:
    """Return the address of each entry of a matrix, as if all had memory: the recorded one has."""
    batch, matrix = launch.batch, matrices[name]
    stride = 0 if batch is None or name == BIAS else batch.strides[MATRICES[C] if name == D else name]
    count, entry = (batch.count, batch.entry) if batch else (1, 0)
    apart = np.arange(-entry, count - entry) * (stride * matrix.view.itemsize)
    return (matrix.address + apart).astype(np.uint64)
