"""How far the recording is, as a thin strip: an order of events, not of time."""

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import Theme

_MOST_TICKS = 160


class ProgressStrip(QWidget):
    """Fills from left to right; ticks are barriers, and squares the stops of the tour.

    Parameters
    ----------
    session
        The session that plays.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.theme: Theme | None = None
        self.setAccessibleName(tr("How far the recording is"))
        listen(self, session.cursor.stepped, self._refresh)
        listen(self, session.cursor.recorded, self._refresh)
        listen(self, session.tour.changed, self._refresh)
        listen(self, session.predict.changed, self._refresh)

    def _refresh(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the strip."""
        playable, theme = self.session.cursor.playable, self.theme
        if theme is None or playable is None or not self.session.cursor.steps:
            return
        with QPainter(self) as painter:
            width, height, steps = self.width(), self.height(), self.session.cursor.steps
            painter.fillRect(self.rect(), QColor(theme.raised))
            painter.fillRect(QRectF(0, 0, width * (self.session.cursor.step + 1) / steps, height), QColor(theme.accent))
            phases = np.flatnonzero(np.diff(playable.timeline.phase)) + 1
            if self.session.predict.on:  # the next barrier may be the answer
                phases = phases[phases <= self.session.cursor.step]
            if len(phases) <= _MOST_TICKS:
                for step in phases.tolist():
                    painter.fillRect(QRectF(width * step / steps - 1, 0, 2, height), QColor(theme.text))
            for stop in self.session.tour.stops:
                at = width * (stop.step + 0.5) / steps
                painter.fillRect(QRectF(at - height / 2, 0, height, height), QColor(theme.write))
