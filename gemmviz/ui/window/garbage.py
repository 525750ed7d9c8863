"""Python's garbage collection in the window's thread only."""

import gc

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication

_EVERY_MS = 1000
_OLDEST = 2  # generation


class GarbageTimer(QTimer):
    """Collects garbage once a second, in the thread that makes this timer; Python no longer does so by itself.

    Left alone, Python collects in whichever thread allocates next. A worker that unpacks a recording would then destroy
    widgets that went out of use, in the wrong thread, and Qt crashes some time later.

    Parameters
    ----------
    application
        The timer lives as long as it.
    """

    collected = Signal()
    """All garbage was collected: much memory may be free by now."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        # Imported modules live for ever: a full collection that includes them takes longer than a frame may.
        gc.freeze()
        gc.disable()
        self.timeout.connect(self._collect)
        self.start(_EVERY_MS)

    def _collect(self) -> None:
        """Collect the oldest generation that is due by Python's own thresholds; it includes the younger ones."""
        due = [number for number, full in enumerate(_are_full()) if full]
        if due:
            self.collect(due[-1])

    def collect(self, generation: int = _OLDEST) -> None:
        """Collect a generation and the younger ones, by default all."""
        gc.collect(generation)
        if generation == _OLDEST:
            self.collected.emit()


def _are_full() -> list[bool]:
    """Return for each generation whether Python would collect it, if it and all the younger ones are full."""
    full: list[bool] = []
    for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True):
        full.append(count > threshold and all(full))
    return full


def collect_garbage_here(application: QApplication) -> GarbageTimer:
    """Let Python collect its garbage in this thread only, from a timer: one in each application."""
    return application.findChild(GarbageTimer) or GarbageTimer(application)
