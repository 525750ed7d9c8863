"""The words in lines above and below the arrays: where the free quadrant has no room for them."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage import legend
from gemmviz.ui.stage.caption import BETWEEN, provenance
from gemmviz.ui.stage.moment import Moment

# In heights of the font: the line above; those below with the step's sentence and without; a margin at each side.
_HEAD, _FOOT, _LEGEND_ALONE, _LINE, _MARGIN = 1.4, 2.7, 1.4, 1.3, 0.6
_BETWEEN = 24.0  # pixels between the kernel and where its picture comes from
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft | _MIDDLE, Qt.AlignmentFlag.AlignRight | _MIDDLE


class Lines:
    """Writes the lines of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    font
        The base font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, QFont(font)
        self._metrics = QFontMetricsF(self._font)

    @property
    def head(self) -> float:
        """Height of the line above the arrays, in pixels."""
        return self._metrics.height() * _HEAD

    def foot(self, captioned: bool) -> float:
        """Return the height of the lines below the arrays, in pixels.

        Parameters
        ----------
        captioned
            Whether the sentence about the step is one of them.
        """
        return self._metrics.height() * (_FOOT if captioned else _LEGEND_ALONE)

    def draw_title(self, painter: QPainter, rect: QRectF, moment: Moment, taken: float = 0.0) -> None:
        """Write the kernel, the size, and where the picture comes from.

        Parameters
        ----------
        painter, rect
            Where to: the line is at the top of `rect`.
        moment
            Whether the recorded C says something about the chosen kernel.
        taken
            Width of something else at the right of the line, in pixels.
        """
        recording, theme = self._playable.recording, self._theme
        line = self._line(rect, rect.top(), self.head)
        line.setWidth(line.width() - taken)
        painter.setPen(QColor(theme.text))
        bold = QFont(self._font)
        bold.setBold(True)
        painter.setFont(bold)
        mark = "" if not moment.judged else "✓ " if recording.wrong == 0 else "✗ "
        beside = _BETWEEN + self._metrics.horizontalAdvance(mark) if mark else 0.0
        title = self._title(QFontMetricsF(bold), line.width() - beside)
        painter.drawText(line, _LEFT, title)
        room = line.width() - QFontMetricsF(bold).horizontalAdvance(title) - _BETWEEN
        painter.setFont(self._font)
        judged = theme.good if recording.wrong == 0 else theme.bad
        painter.setPen(QColor(judged if moment.judged else theme.muted))
        wordings = provenance(self._playable, moment.outdated, moment.in_doubt)
        text = next((mark + s for s in wordings if self._metrics.horizontalAdvance(mark + s) <= room), mark)
        painter.drawText(line, _RIGHT, text)

    def _title(self, metrics: QFontMetricsF, room: float) -> str:
        """Return kernel and size: without parameters where they have no room, and shortened as a last resort."""
        recording = self._playable.recording
        size = f"   {recording.m} × {recording.n} × {recording.k}"
        for name in (recording.label, recording.kernel):
            if metrics.horizontalAdvance(name + size) <= room:
                return name + size
        left = max(room - metrics.horizontalAdvance(size), 0)
        return metrics.elidedText(recording.kernel, Qt.TextElideMode.ElideMiddle, left) + size

    def draw_foot(
        self,
        painter: QPainter,
        rect: QRectF,
        sentence: str | None,
        about: str | None,
        entries: list[legend.LegendEntry],
    ) -> None:
        """Write the sentence about the step, and below it about the chosen cell, or the legend.

        Parameters
        ----------
        painter, rect
            Where to: the lines are at the bottom of `rect`.
        sentence
            The step's; None: it stands elsewhere.
        about
            The chosen cell's; None: no cell is chosen.
        entries
            Of the legend.
        """
        high = self._metrics.height() * _LINE
        line = self._line(rect, rect.bottom() - self.foot(sentence is not None), high)
        painter.setPen(QColor(self._theme.text))
        if sentence is not None:
            self._say(painter, line, sentence)
            line.translate(0, high)
        if about is not None:
            painter.setPen(QColor(self._theme.accent))
            self._say(painter, line, about)
        else:
            legend.draw(painter, line, entries, self._theme, self._metrics)

    def _line(self, rect: QRectF, top: float, height: float) -> QRectF:
        margin = self._metrics.height() * _MARGIN
        return QRectF(rect.left() + margin, top, rect.width() - 2 * margin, height)

    def _say(self, painter: QPainter, line: QRectF, text: str) -> None:
        fitted = fitting(text, self._metrics, line.width())
        painter.drawText(line, _LEFT, self._metrics.elidedText(fitted, Qt.TextElideMode.ElideRight, line.width()))


def fitting(text: str, metrics: QFontMetricsF, width: float) -> str:
    """Leave out the last parts of a line that is too long: the most important stands first.

    Parameters
    ----------
    text, metrics
        The line, and its font's metrics.
    width
        The room for it, in pixels.
    """
    parts = text.split(BETWEEN)
    while len(parts) > 1 and metrics.horizontalAdvance(BETWEEN.join(parts)) > width:
        parts.pop()
    return BETWEEN.join(parts)
