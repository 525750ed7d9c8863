"""The C library's heap: how much of it is free, and how free pages go back to the system. Only glibc is asked."""

import ctypes
import gc
import os
from contextlib import suppress

IDLE_S = 1.0
"""A process that waits longer than this for its next work gives its freed memory back."""

# From <malloc.h>; see mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_SETTINGS = ((_M_MMAP_THRESHOLD, 1 << 20), (_M_TRIM_THRESHOLD, 4 << 20), (_M_ARENA_MAX, 2))


class _Heap(ctypes.Structure):
    """`mallinfo2`, see mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def keep_little() -> bool:
    """Choose settings with which this process keeps little freed memory; return whether the C library took them.

    By default glibc raises the size limit for blocks that it maps separately, up to 32 MiB. The columns of recordings,
    a few MiB each, are then in the heap, and glibc keeps free memory between two blocks in use.
    """
    if not _is_glibc():
        return False
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        taken = [mallopt(setting, value) for setting, value in _SETTINGS]
        return all(taken)
    return False


def free_bytes() -> int:
    """Return how much of the heap is free, whether it was given back or not; 0 where the C library does not say it."""
    if _is_glibc():
        with suppress(OSError, AttributeError):  # glibc before 2.33 has no mallinfo2
            ask = ctypes.CDLL(None).mallinfo2
            ask.restype = _Heap
            return int(ask().fordblks)
    return 0


def collect() -> None:
    """Collect garbage, then give free pages back: for a process that has nothing to do."""
    gc.collect()
    give_back()


def give_back() -> None:
    """Give free pages back to the system, also those between blocks in use; see malloc_trim(3). Takes 5 to 25 ms."""
    if _is_glibc():
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _is_glibc() -> bool:
    return "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ())
