"""Python's garbage collection in the window's thread only."""

import gc
from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication

_EVERY_MS = 1000
_OLDEST = 2  # generation
_PATIENCE = 60  # times that a full collection waits


class GarbageTimer(QTimer):
    """Collects garbage once a second in the thread of this timer, and switches off Python's automatic collection.

    By default Python collects in the thread that allocates next. A worker that unpacks a recording would then destroy
    unused widgets in the wrong thread, and Qt would crash later.

    Parameters
    ----------
    application
        The application; the timer lives as long as it.

    Attributes
    ----------
    busy
        Says whether frames should follow each other without a break. A full collection takes longer than a frame: it
        then waits, up to a minute.
    """

    collected = Signal()
    """All garbage was collected: much memory may be free by now."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self.busy: Callable[[], bool] = lambda: False
        self._waited = 0
        # Imported modules are never freed. A full collection with them would take longer than a frame.
        gc.freeze()
        gc.disable()
        self.timeout.connect(self._collect)
        self.start(_EVERY_MS)

    def _collect(self) -> None:
        """Collect the oldest generation that is due by Python's thresholds, with all younger ones."""
        due = [number for number, full in enumerate(_are_full()) if full]
        if due and due[-1] == _OLDEST and self._waits():
            due.pop()
        if due:
            self.collect(due[-1])

    def _waits(self) -> bool:
        """Say whether the oldest generation is left for later."""
        self._waited = self._waited + 1 if self.busy() and self._waited < _PATIENCE else 0
        return self._waited > 0

    def collect(self, generation: int = _OLDEST) -> None:
        """Collect a generation and the younger ones, by default all."""
        gc.collect(generation)
        if generation == _OLDEST:
            self.collected.emit()


def _are_full() -> list[bool]:
    """Return for each generation whether Python would collect it: it and all younger ones are full."""
    full: list[bool] = []
    for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True):
        full.append(count > threshold and all(full))
    return full


def collect_garbage_here(application: QApplication) -> GarbageTimer:
    """Let Python collect its garbage only in this thread, from a timer; there is one timer per application."""
    return application.findChild(GarbageTimer) or GarbageTimer(application)
