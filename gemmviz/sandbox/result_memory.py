"""Memory in which a process that runs a kernel leaves large arrays: the engine uses them without a copy.

The engine makes the memory before the run. The process takes it out of its address space before it answers, and then
the engine seals it: Linux seals it only if no process can write to it any longer (memfd_create(2), F_SEAL_WRITE).
Nobody reads the arrays before that. If Linux refuses the seal, the engine ends all processes of the run first.
"""

import fcntl
import mmap
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gemmviz.sandbox import libc

_PAGE = mmap.PAGESIZE
HUGE_PAGE = 2 << 20
"""The multiple at which an array begins in which the recorder asks for huge pages: see `runtime/pages.c`."""


class NotSealed(Exception):
    """A process can still write to the memory."""


@dataclass
class ResultMemory:
    """The engine's side.

    Attributes
    ----------
    descriptor
        The file of the memory, for the process that runs the kernel.
    """

    descriptor: int
    _kept: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._file = weakref.finalize(self, os.close, self.descriptor)  # also after an error

    @classmethod
    def of(cls, nbytes: int) -> "ResultMemory":
        """Make memory of a size that cannot change. Pages are committed when they are written.

        Raises
        ------
        OSError
            When Linux refuses it.
        """
        memory = cls(os.memfd_create("gemmviz-result", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
        os.ftruncate(memory.descriptor, nbytes)
        fcntl.fcntl(memory.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return memory

    def array(self, offset: int, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return the bytes at an offset. Do not read them before `seal`; writing to them changes this array only.

        Raises
        ------
        ValueError
            When there are no such bytes, or the offset is not the start of a page.
        """
        # A private mapping: Linux does not seal memory that is mapped for shared writing.
        pages = mmap.mmap(self.descriptor, nbytes, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE, offset=offset)
        self._kept.append((offset, offset + nbytes))
        return np.frombuffer(pages, np.uint8)

    def seal(self) -> None:
        """Free the pages outside the arrays, and make sure that no process can write to the others.

        Raises
        ------
        NotSealed
            When a process can.
        """
        try:
            size = os.fstat(self.descriptor).st_size
            if not fcntl.fcntl(self.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE:
                with mmap.mmap(self.descriptor, size) as whole:
                    for begin, end in _gaps(self._kept, size):
                        whole.madvise(mmap.MADV_REMOVE, begin, end - begin)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        except OSError:
            raise NotSealed from None

    def close(self) -> None:
        """Close the file; the arrays stay."""
        self._file()


def _gaps(kept: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return the ranges of whole pages that are not kept."""
    gaps, at = [], 0
    for begin, end in [*sorted(kept), (size, size)]:
        if begin > at:
            gaps.append((at, begin))
        at = max(at, -(-end // _PAGE) * _PAGE)
    return gaps


@dataclass
class _Given:
    """The memory that this process was given: its address, its pages, and the bytes in use."""

    address: int = 0
    pages: mmap.mmap | None = None
    used: int = 0


_given = _Given()
_kept: list[mmap.mmap] = []  # without memory: its arrays still have its addresses, which nothing else must get


def use(descriptor: int) -> None:
    """Take large arrays of this process from such memory from now on."""
    _given.pages = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    _given.address = np.frombuffer(_given.pages, np.uint8).ctypes.data
    _given.used = 0


def zeros(count: int, dtype: np.dtype[np.generic], *, shared: bool) -> npt.NDArray[np.generic]:
    """Return an array of zeros, whose pages are committed when they are written.

    NumPy would ask Linux for huge pages, which are committed 2 MiB at a time. If memory is fragmented, Linux needs
    longer to make a huge page than the recorder needs to fill it (measured: 3 to 7 times as long as small pages).

    Parameters
    ----------
    count, dtype
        Its length and type.
    shared
        Whether child processes write into it, too.
    """
    nbytes = max(count, 1) * dtype.itemsize
    if _given.pages is not None and _given.used + nbytes <= len(_given.pages):
        found = np.frombuffer(_given.pages, dtype, count, _given.used)
        _given.used = -(-(_given.used + nbytes) // _PAGE) * _PAGE
        return found
    kind = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    room = HUGE_PAGE if not shared and nbytes > HUGE_PAGE else 0
    pages = mmap.mmap(-1, nbytes + room, kind | mmap.MAP_ANONYMOUS)
    start = np.frombuffer(pages, np.uint8).ctypes.data
    return np.frombuffer(pages, dtype, count, -start % HUGE_PAGE if room else 0)


def holds(array: npt.NDArray[np.generic]) -> bool:
    """Whether an array is in the memory that this process was given."""
    return _given.pages is not None and 0 <= int(array.ctypes.data) - _given.address < len(_given.pages)


def place(array: npt.NDArray[np.generic]) -> int | None:
    """Return the offset of a whole number of pages of an array in the memory that this process was given, or None."""
    offset = int(array.ctypes.data) - _given.address
    return None if offset % _PAGE or not holds(array) else offset


def hand_over() -> None:
    """Leave the memory to the engine, which can seal it then. Do not use the arrays in it any longer."""
    if _given.pages is not None:
        libc.remove_memory(_given.address, len(_given.pages))
        _kept.append(_given.pages)
        _given.pages = None


def bytes_for(sizes: Sequence[int]) -> int:
    """Return the size of memory for arrays of these sizes in bytes."""
    return sum(-(-size // _PAGE) * _PAGE for size in sizes)
