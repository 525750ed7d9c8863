"""When a large recording arrives, the stage is painted after the rest of the window: together it took too long."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from gemmviz.session.models.cursor import Cursor
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen

LARGE = 1_000_000
"""Accesses from which on a recording counts as large: a smaller one is painted in one piece."""
_BREATH_MS = 1  # in which the window answers to keys and the mouse


class Arrival(QObject):
    """Keeps a stage as it is for a moment, while everything else shows a large recording that has arrived.

    Parameters
    ----------
    stage
        The widget that takes long to paint.
    cursor
        Announces recordings.
    """

    def __init__(self, stage: QWidget, cursor: Cursor) -> None:
        super().__init__(stage)
        self._stage = stage
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_BREATH_MS)
        self._timer.timeout.connect(lambda: stage.setUpdatesEnabled(True))  # this paints all of it
        listen(self, cursor.arriving, self._on_arriving)

    def _on_arriving(self, playable: Playable) -> None:
        if len(playable.recording.accesses) >= LARGE:
            self._stage.setUpdatesEnabled(False)
            self._timer.start()
