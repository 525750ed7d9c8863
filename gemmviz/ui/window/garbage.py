"""Python's garbage collection in the window's thread only."""

import gc

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

_EVERY_MS = 1000


class GarbageTimer(QTimer):
    """Collects garbage once a second, in the thread that makes this timer; Python no longer does so by itself.

    Left alone, Python collects in whichever thread allocates next. A worker that unpacks a recording would then destroy
    widgets that went out of use, in the wrong thread, and Qt crashes some time later.

    Parameters
    ----------
    application
        The timer lives as long as it.
    """

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
            gc.collect(due[-1])


def _are_full() -> list[bool]:
    """Return for each generation whether Python would collect it, if it and all the younger ones are full."""
    full: list[bool] = []
    for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True):
        full.append(count > threshold and all(full))
    return full


def collect_garbage_here(application: QApplication) -> None:
    """Let Python collect its garbage in this thread only, from a timer: one in each application."""
    if application.findChild(GarbageTimer) is None:
        GarbageTimer(application)
