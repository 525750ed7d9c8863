"""The common part of the inspector's tabs: they follow the session while visible, ten times a second while it plays."""

from time import perf_counter

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gemmviz.session import Session
from gemmviz.ui.connections import listen
from gemmviz.ui.turns import InTurn, Turns

_REFRESH_MS = 100
# While a large recording plays, no more than this share of the window's time goes into a tab.
_SHARE = 0.15
_SMALLEST = 0.78  # of a line's size of type, before its end is left out


class OneLine(QLabel):
    """A line of text, in smaller type or with an ellipsis where there is no room; the tip has all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        """Show a text."""
        self.setText(text)
        self.setToolTip(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much of the text as there is room for."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().windowText().color())
            font = QFont(self.font())
            needed = self.fontMetrics().horizontalAdvance(self.text())
            if needed > self.width():
                font.setPointSizeF(font.pointSizeF() * max(self.width() / needed, _SMALLEST))
                painter.setFont(font)
            text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class InspectPanel(QWidget):
    """A tab that costs nothing while it is not seen.

    Parameters
    ----------
    session
        The session to follow.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.in_turn = InTurn(self, self._refresh_slowly, at_once=True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.in_turn.ask)
        listen(self, session.cursor.recorded, self._on_recorded)
        for signal in (
            session.cursor.picked,
            session.preferences.themed,
            session.inspection.changed,
        ):
            listen(self, signal, self._now)
        listen(self, session.frozen_warp.changed, self._now)
        listen(self, session.cursor.stepped, self._on_step)

    def refresh(self) -> None:
        """Show the session's moment."""
        raise NotImplementedError

    def forget(self) -> None:
        """Let go of the recording that was shown: it may be large, and is gone from the stage."""
        raise NotImplementedError

    def _on_recorded(self) -> None:
        self.forget()
        self._now()

    def _now(self) -> None:
        if self.isVisible():
            self.refresh()

    def follow(self, turns: Turns | None) -> None:
        """Refresh in turns with the other parts of the window; None: without them."""
        self.in_turn.turns = turns

    def _refresh_slowly(self) -> None:
        begin = perf_counter()
        self.refresh()
        self._timer.setInterval(max(_REFRESH_MS, int(1000 * (perf_counter() - begin) / _SHARE)))

    def _on_step(self) -> None:
        if not self.isVisible():
            return
        if not self.session.playback.playing:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Show changes that came while the panel was not visible."""
        super().showEvent(event)
        self.refresh()
