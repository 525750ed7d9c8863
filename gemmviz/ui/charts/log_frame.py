"""A frame with two logarithmic axes: the positions of points, and ticks and titles that do not overlap."""

from math import log10

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from gemmviz.ui.charts.figures.axis import log_ticks
from gemmviz.ui.charts.painted import page_font
from gemmviz.ui.look.figure_text import gflops_text
from gemmviz.ui.look.theme import Theme

_GAP = 5.0
_LEAST = 1e-300
"""The smallest value that an axis can show; a damaged file may have smaller ones."""
_EDGE = 18.0
"""The room to the right of the frame for half of the last tick's label, in pixels."""
_MARGIN = 0.06
"""The room before the first and after the last point, as a share of the span in powers of ten."""


class LogFrame:
    """Two axes, each from a smallest to a largest value, in a rectangle from (0, 0).

    Parameters
    ----------
    size
        The width and height of the frame with its texts.
    across, up
        The smallest and the largest value of each axis.
    places
        The values with a tick on the lower axis; by default round ones.
    """

    def __init__(
        self,
        size: QSize,
        across: tuple[float, float],
        up: tuple[float, float],
        places: list[int] | None = None,
    ) -> None:
        self._metrics = QFontMetricsF(page_font())
        line = self._metrics.height()
        self._x, self._y = _span(*across), _span(*up)
        low, high = (10**v for v in self._y)
        count = max(2, int((size.height() - 3.5 * line) / (1.6 * line)))
        self.up = log_ticks(low, high, count)
        left = max((self._metrics.horizontalAdvance(_text(v)) for v in self.up), default=20.0) + 2 * _GAP
        self.area = QRectF(left, 1.2 * line, max(size.width() - left - _EDGE, 20), max(size.height() - 3.6 * line, 20))
        self._places = places
        least, most = (10**v for v in self._x)
        self.across = places or log_ticks(least, most, max(2, int(self.area.width() / 60)))

    def at(self, x: float, y: float) -> QPointF:
        """Return the position of a point."""
        across = (log10(x) - self._x[0]) / (self._x[1] - self._x[0])
        up = (log10(y) - self._y[0]) / (self._y[1] - self._y[0])
        return QPointF(self.area.left() + across * self.area.width(), self.area.bottom() - up * self.area.height())

    def written(self) -> list[tuple[float, str]]:
        """Return (x, text) of the ticks on the lower axis with room for their text; powers of two come first."""
        order = sorted(self.across, key=lambda v: (-(int(v) & -int(v)), v)) if self._places else self.across
        taken: dict[float, tuple[float, float]] = {}
        for value in order:
            x, half = self.at(value, 1).x(), self._metrics.horizontalAdvance(_text(value, self._places)) / 2 + _GAP
            if all(x + half <= start or end <= x - half for start, end in taken.values()):
                taken[value] = x - half, x + half
        return [(self.at(value, 1).x(), _text(value, self._places)) for value in sorted(taken)]

    def paint(self, painter: QPainter, theme: Theme, title: str, left_title: str) -> None:
        """Paint lines, ticks and titles."""
        line, area = self._metrics.height(), self.area
        painter.setFont(page_font())
        faint = QColor(theme.outline)
        faint.setAlpha(70)
        centre = int(Qt.AlignmentFlag.AlignCenter)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for value in self.up:
            y = self.at(10 ** self._x[0], value).y()
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(0, y - line / 2, area.left() - _GAP, line), right, _text(value))
        for value in self.across:
            x = self.at(value, 1).x()
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
        for x, text in self.written():
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(x - 50, area.bottom() + 4, 100, line), centre, text)
        painter.setPen(QColor(theme.muted))
        # Each title has its own line, so that it does not overlap a tick.
        painter.drawText(QRectF(area.left(), area.bottom() + 4 + line, area.width(), line), centre, title)
        painter.drawText(QRectF(0, 0, area.right(), line), int(Qt.AlignmentFlag.AlignLeft), left_title)


def _span(least: float, most: float) -> tuple[float, float]:
    low, high = (log10(min(max(value, _LEAST), 1 / _LEAST)) for value in (least, most))
    margin = min(max((high - low) * _MARGIN, 0.06), 1.0)
    return low - margin, high + margin


def _text(value: float, places: list[int] | None = None) -> str:
    return str(int(value)) if places else gflops_text(value) if value >= 1 else f"{value:g}"
