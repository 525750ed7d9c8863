"""Gives the window's freed memory back to the system, so that it stays small for hours.

In a soak of 15 minutes the window grew by 60% after its fifth minute. With the settings of `gemmviz.sandbox.heap` it
grew by 9 to 10%, because free pages between small blocks in use are still kept. `FreedMemory` gives these back, too: a
moment after each recording and after a collection of all garbage, and when much more is free than after the last time,
as threads free memory later.
"""

from PySide6.QtCore import QObject, QTimer

from gemmviz.sandbox import heap

# Memory that is freed within this time goes back together.
_AFTER_MS = 500
# Looking takes some milliseconds where the heap has many gaps.
_LOOK_MS, _MUCH = 4000, 8 << 20


class FreedMemory(QObject):
    """Gives free pages of the heap back to the system, half a second after a request.

    It also looks every few seconds whether much was freed since then. It does nothing if the C library is not glibc.

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
        self._free = heap.free_bytes()
        self._looks = QTimer(self)
        self._looks.timeout.connect(self._look)
        self._looks.start(_LOOK_MS)

    def _look(self) -> None:
        free = heap.free_bytes()
        if free > self._free + _MUCH:
            self.give_back_soon()
        self._free = min(self._free, free)

    def give_back_soon(self) -> None:
        """Give memory back in half a second, also memory that is freed until then; further requests do not delay it."""
        if not self._timer.isActive():
            self._timer.start()

    def _give_back(self) -> None:
        self.given_back += 1
        heap.give_back()
        self._free = heap.free_bytes()
