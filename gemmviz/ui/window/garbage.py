"""Python's garbage collection in the window's thread only."""

import gc

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

_EVERY_MS = 1000


class GarbageTimer(QTimer):
    """Collects garbage once a second in the thread of this timer, and switches off Python's automatic collection.

    By default Python collects in the thread that allocates next. A worker that unpacks a recording would then destroy
    unused widgets in the wrong thread, and Qt would crash later.

    Parameters
    ----------
    application
        The application; the timer lives as long as it.
    """

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        # Imported modules are never freed. A full collection with them would take longer than a frame.
        gc.freeze()
        gc.disable()
        self.timeout.connect(self._collect)
        self.start(_EVERY_MS)

    def _collect(self) -> None:
        """Collect the oldest generation that is due by Python's thresholds, with all younger ones."""
        due = [number for number, full in enumerate(_are_full()) if full]
        if due:
            gc.collect(due[-1])


def _are_full() -> list[bool]:
    """Return for each generation whether Python would collect it: it and all younger ones are full."""
    full: list[bool] = []
    for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True):
        full.append(count > threshold and all(full))
    return full


def collect_garbage_here(application: QApplication) -> None:
    """Let Python collect its garbage in this thread only, from a timer: one in each application."""
    if application.findChild(GarbageTimer) is None:
        GarbageTimer(application)
