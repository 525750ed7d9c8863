"""The chapters in the folded list of kernels: a numbered ring each, which closes as its lessons are finished."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gemmviz.ui.look.style import larger, scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.panels.ladder import Ladder
from gemmviz.ui.panels.row_painter import draw_ring

_RING, _APART = 22, 40  # pixels, at a scale of type of 1: a ring, and from one to the next
_NUMBER = 0.86  # of the window's type


class Rings(QWidget):
    """Shows how far each chapter is, and which one is open.

    Parameters
    ----------
    ladder
        The list, with its chapters.
    """

    chosen = Signal(str)
    """A chapter was clicked, by id."""

    def __init__(self, ladder: Ladder) -> None:
        super().__init__()
        self._ladder = ladder
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        ladder.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for a row per chapter."""
        return QSize(round(scaled(_RING)), round(scaled(_APART)) * len(self._ladder.rows.chapters))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rings."""
        theme = THEMES[self._ladder.session.preferences.theme]
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            font = larger(self.font(), _NUMBER)
            for number, chapter in enumerate(self._ladder.rows.chapters, 1):
                row, ring = self._row(number - 1), self._ring(number - 1)
                is_open = chapter == self._ladder.open_chapter
                if is_open:
                    painter.fillRect(row, QColor(theme.raised))
                    painter.fillRect(QRectF(row.left(), row.top(), 3, row.height()), QColor(theme.accent))
                bold = QFont(font)
                bold.setBold(is_open)
                painter.setFont(bold)
                draw_ring(painter, ring, *self._ladder.rows.progress(chapter), theme)
                done, count = self._ladder.rows.progress(chapter)
                if done < count or not count:
                    painter.setPen(QColor(theme.text))
                    ink = QFontMetricsF(bold).tightBoundingRect(str(number))
                    painter.drawText(ring.center() - QPointF(ink.center()), str(number))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the chapter below the pointer."""
        at = self._at(event.position())
        if at is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Name the chapter below the pointer."""
        at = self._at(event.position())
        QToolTip.showText(event.globalPosition().toPoint(), self._ladder.rows.chapters[at].title if at else "", self)

    def _at(self, point: QPointF) -> str | None:
        chapters = self._ladder.rows.chapters
        return next((chapter for i, chapter in enumerate(chapters) if self._row(i).contains(point)), None)

    def _row(self, at: int) -> QRectF:
        return QRectF(0, at * scaled(_APART), self.width(), scaled(_APART))

    def _ring(self, at: int) -> QRectF:
        side, middle = scaled(_RING), self._row(at).center()
        return QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
