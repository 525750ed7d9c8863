"""The C library's settings for freed memory. With them the memory of a window stays small for hours.

By default glibc raises the size limit for blocks that it maps separately, up to 32 MiB. The columns of recordings, a
few MiB each, are then in the heap, and glibc keeps free memory between two blocks in use. In a soak of 15 minutes
the window grew by 60% after its fifth minute. With a fixed limit it grew by 9 to 10%, because free pages between small
blocks in use are still kept. `FreedMemory` gives these back, too: a moment after each recording and after a
collection of all garbage, and when much more is free than after the last time, as threads free memory later.
"""

import ctypes
import platform
from contextlib import suppress

from PySide6.QtCore import QObject, QTimer

# From <malloc.h>; see mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_SETTINGS = ((_M_MMAP_THRESHOLD, 1 << 20), (_M_TRIM_THRESHOLD, 4 << 20), (_M_ARENA_MAX, 2))
# A recording within this time starts the wait again. Giving back takes 5 to 25 ms.
_AFTER_MS = 500
# Looking takes some milliseconds where the heap has many gaps.
_LOOK_MS, _MUCH = 4000, 8 << 20


def _is_glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"


def give_back_early() -> bool:
    """Choose these settings for this process; return whether its C library accepted them. Only glibc is changed."""
    if not _is_glibc():
        return False
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        taken = [mallopt(setting, value) for setting, value in _SETTINGS]
        return all(taken)
    return False


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


def free_bytes() -> int:
    """Return how much of the heap is free, whether it was given back or not; 0 where the C library does not say it."""
    if _is_glibc():
        with suppress(OSError, AttributeError):  # glibc before 2.33 has no mallinfo2
            ask = ctypes.CDLL(None).mallinfo2
            ask.restype = _Heap
            return int(ask().fordblks)
    return 0


class FreedMemory(QObject):
    """Gives free pages of the heap back to the system, half a second after a request.

    It also looks every few seconds whether much was freed since then. It does nothing if the C library is not glibc;
    see malloc_trim(3).

    Parameters
    ----------
    parent
        The owner of this object.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.given_back = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AFTER_MS)
        self._timer.timeout.connect(self._give_back)
        self._free = free_bytes()
        self._looks = QTimer(self)
        self._looks.timeout.connect(self._look)
        self._looks.start(_LOOK_MS)

    def _look(self) -> None:
        free = free_bytes()
        if free > self._free + _MUCH:
            self.give_back_soon()
        self._free = min(self._free, free)

    def give_back_soon(self) -> None:
        """Give back in half a second, also what is freed until then; further requests do not delay it."""
        if not self._timer.isActive():
            self._timer.start()

    def _give_back(self) -> None:
        self.given_back += 1
        if _is_glibc():
            with suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)
        self._free = free_bytes()
