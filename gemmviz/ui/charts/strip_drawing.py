"""Paints the strip's bars, and the samples so far beside them."""

from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from gemmviz.bench.figures import SampleSeries
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.charts.figures.ladder_figures import Bar
from gemmviz.ui.charts.painted import Mark, page_font, role_colour
from gemmviz.ui.look.figure_text import gflops_text, shown_name, standing_text
from gemmviz.ui.look.short_names import shortened
from gemmviz.ui.look.theme import THEMES, Theme

_NAMES, _SPARK = 0.34, 0.36
"""The shares of the width: for the names at most, and for the samples while they arrive."""
_GAP, _BAR = 6.0, 0.62
_MOST_POINTS = 120
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class StripDrawing:
    """Bars from 0 on one linear scale: a filled bar was measured here, a hollow bar is a reference.

    Parameters
    ----------
    session
        The session with the theme and the names of the kernels.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _theme(self) -> Theme:
        return THEMES[self._session.preferences.theme]

    def paint(self, painter: QPainter, size: QSize, bars: list[Bar], live: SampleSeries | None) -> list[Mark]:
        """Paint all.

        Parameters
        ----------
        painter, size
            The painter and the size of the surface.
        bars
            The bars, from the top.
        live
            The samples so far; None without a running measurement.

        Returns
        -------
        list of Mark
            One per bar.
        """
        width = float(size.width())
        if live is not None and len(live.gflops) > 1:
            left = width * (1 - _SPARK)
            self._sparkline(painter, live, QRectF(left + 2 * _GAP, 0, width - left - 2 * _GAP, size.height()))
            width = left
        if not bars:
            return []
        plain, strong = page_font(), page_font(True)
        metrics = QFontMetricsF(strong)
        line = metrics.height()
        pitch = min(size.height() / len(bars), 1.2 * line)
        top = (size.height() - pitch * len(bars)) / 2
        names = [shown_name(bar.kernel, self._session) for bar in bars]
        left = min(max(map(metrics.horizontalAdvance, names)) + 3 * _GAP, _NAMES * width)
        figures = max(metrics.horizontalAdvance(gflops_text(bar.gflops)) for bar in bars) + 2 * _GAP
        most, room = max(bar.gflops for bar in bars), max(width - left - figures, 1)
        theme, marks = self._theme, []
        for number, (bar, name) in enumerate(zip(bars, names, strict=True)):
            row = QRectF(0, top + number * pitch, width, pitch)
            font = strong if bar.role == "chosen" else plain
            painter.setFont(font)
            painter.setPen(QColor(theme.text if bar.role == "chosen" else theme.muted))
            written = shortened(name, QFontMetricsF(font), left - _GAP)
            painter.drawText(QRectF(0, row.top(), left - _GAP, pitch), _RIGHT, written)
            high, colour = pitch * _BAR, role_colour(bar.role, theme)
            shape = QRectF(left, row.center().y() - high / 2, max(room * (bar.gflops / most), 2), high)
            end = shape.right() + _GAP
            painter.drawText(QRectF(end, row.top(), width - end, pitch), _LEFT, gflops_text(bar.gflops))
            painter.setPen(QPen(colour, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush if bar.origin else colour)
            painter.drawRoundedRect(shape.adjusted(0.8, 0.8, -0.8, -0.8), 1.5, 1.5)
            marks.append(Mark(row, partial(_text, bar, self._session), bar.kernel))
        return marks

    def _sparkline(self, painter: QPainter, live: SampleSeries, area: QRectF) -> None:
        """Paint the newest samples in their order, the median as a dashed line, and the ends of the scale."""
        theme, font = self._theme, page_font()
        samples = live.gflops[-_MOST_POINTS:]
        least, most = min(samples), max(samples)
        metrics = QFontMetricsF(font)
        ends = gflops_text(most), gflops_text(least)
        name = shortened(live.label, QFontMetricsF(font), area.width() * 0.35)
        left = area.left() + max(map(metrics.horizontalAdvance, (name, tr("samples")))) + 2 * _GAP
        right = area.right() - max(map(metrics.horizontalAdvance, ends)) - 2 * _GAP
        high, low = area.top() + 8, area.bottom() - 8
        painter.setFont(font)
        painter.setPen(QColor(theme.muted))
        line = metrics.height()
        middle = area.center().y()
        for text, y in ((tr("samples"), middle - line), (name, middle)):
            painter.drawText(QRectF(area.left(), y, left - area.left() - _GAP, line), _RIGHT, text)
        for text, y in zip(ends, (high, low), strict=True):
            painter.drawText(QRectF(right + _GAP, y - line / 2, area.right() - right, line), _LEFT, text)

        def y_of(value: float) -> float:
            return low - (low - high) * (value - least) / (most - least) if most > least else middle

        step = (right - left) / max(len(samples) - 1, 1)
        points = [QPointF(left + n * step, y_of(value)) for n, value in enumerate(samples)]
        accent = QColor(theme.accent)
        painter.setPen(QPen(accent, 1, Qt.PenStyle.DashLine))
        inside = min(max(live.median, least), most)
        painter.drawLine(QPointF(left, y_of(inside)), QPointF(right, y_of(inside)))
        painter.setPen(QPen(accent, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(points)
        painter.setBrush(accent)
        for point in points if len(points) <= _MOST_POINTS / 2 else points[-1:]:
            painter.drawEllipse(point, 2.0, 2.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(points[-1], 4.5, 4.5)


def _text(bar: Bar, session: Session) -> str:
    """Return the figures of a bar; of a library, where it has the figure of another run, that and the run."""
    if bar.beside is None:
        return standing_text(bar.standing, session)
    return tr(
        "{library}: {gflops} GFLOPS, in the same run as {kernel}",
        library=tr(bar.kernel.title),
        gflops=gflops_text(bar.gflops),
        kernel=shown_name(bar.beside, session),
    )
