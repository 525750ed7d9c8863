"""The C library's settings for freed memory. With them the memory of a window stays small for hours.

By default glibc raises the size from which on a block is mapped by itself up to 32 MiB. The columns of recordings, a
few MiB each, then lie in the heap, and what is freed between two that are in use is kept. In a soak of 15 minutes
the window grew by 60% after its fifth minute. With a fixed size it grew by 9 to 10%: free pages between small blocks
in use are still kept. `FreedMemory` gives these back, too, a moment after each recording.
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


class FreedMemory(QObject):
    """Gives free pages of the heap back to the system, half a second after the last request.

    It does nothing if the C library is not glibc; see malloc_trim(3).

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

    def give_back_soon(self) -> None:
        """Give back in half a second; a further request starts the wait again."""
        self._timer.start()

    def _give_back(self) -> None:
        self.given_back += 1
        if _is_glibc():
            with suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)
