"""Horizontal bars in pairs: the figure of a source, and ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.bench.claims.claim_text import figure
from gemmviz.language import mark, tr
from gemmviz.session.models.preferences import Preferences
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import THEMES, Theme

_GAP = 10.0
_LOG_FROM = 30.0
_LEAST = 2.0
NOT_STATED = mark("no figure stated")
_ABSENT = (NOT_STATED, mark("no figure found"))
_NAME = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True)
class Pair:
    """The figures of one pair of bars; None if there is none."""

    name: str
    theirs: float | None
    ours: float | None


class PairedBars(QWidget):
    """Draws pairs of bars on one scale, which turns logarithmic where a linear one would leave slivers.

    Parameters
    ----------
    preferences
        The preferences with the theme.
    """

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.unit = ""
        self.whose = ("", "")
        self.ratio = self.reference = False
        self.pairs: tuple[Pair, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        listen(self, preferences.themed, self._on_theme)

    def _on_theme(self) -> None:
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the bars still differ visibly."""
        line = self.fontMetrics().height()
        return QSize(240, int(line * (5.6 + 2.7 * len(self.pairs))))

    def show_pairs(
        self, unit: str, whose: tuple[str, str], pairs: Sequence[Pair], *, ratio: bool = False, reference: bool = False
    ) -> None:
        """Draw other bars.

        Parameters
        ----------
        unit
            The unit of the figures.
        whose
            The origins of their figures and of ours.
        pairs
            From the top.
        ratio
            Whether the figures are ratios: then a line marks 1.
        reference
            Whether our figures were measured elsewhere: such bars are hollow.
        """
        self.unit, self.whose, self.pairs = unit, whose, tuple(pairs)
        self.ratio, self.reference = ratio, reference
        self.setAccessibleName(tr("{unit}: {stated} and {found}", unit=unit, stated=whose[0], found=whose[1]))
        self.setAccessibleDescription("\n".join(_spoken(pair, unit) for pair in self.pairs))
        self.updateGeometry()
        self.update()

    @property
    def logarithmic(self) -> bool:
        """Whether the scale is logarithmic."""
        figures = self._figures()
        return len(figures) > 1 and max(figures) > _LOG_FROM * min(figures)

    def _figures(self) -> list[float]:
        found = [v for pair in self.pairs for v in (pair.theirs, pair.ours) if v is not None and v > 0]
        # The scale of ratios has a line at 1, which must lie on it.
        return [*found, 1.0] if found and self.ratio else found

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw everything."""
        theme = THEMES[self._preferences.theme]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.background))
            line = painter.fontMetrics().height() * 1.3
            area = QRectF(self.rect()).adjusted(_GAP, 4, -_GAP, -4)
            self._legend(painter, area, theme, line)
            names = max((painter.fontMetrics().horizontalAdvance(pair.name) for pair in self.pairs), default=0)
            left = min(names + 10.0, area.width() * 0.42)
            bars = area.adjusted(left, 2 * line + 6, 0, -line - 2)
            self._axis(painter, bars, theme, line)
            if self.pairs:
                step = bars.height() / len(self.pairs)
                for index, pair in enumerate(self.pairs):
                    row = QRectF(bars.left(), bars.top() + index * step, bars.width(), step)
                    painter.setPen(QColor(theme.text))
                    place = QRectF(area.left(), row.top(), left - 8, step)
                    painter.drawText(place, _NAME, pair.name)
                    self._pair(painter, row, pair, theme)

    def _legend(self, painter: QPainter, area: QRectF, theme: Theme, line: float) -> None:
        for index, text in enumerate(self.whose):
            place = QRectF(area.left(), area.top() + index * line, area.width(), line)
            self._bar(painter, QRectF(place.left(), place.top() + line * 0.22, 26, line * 0.5), index, theme)
            place.setLeft(place.left() + 34)
            painter.setPen(QColor(theme.text))
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(place.width()))
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _axis(self, painter: QPainter, bars: QRectF, theme: Theme, line: float) -> None:
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.drawLine(bars.topLeft(), bars.bottomLeft())
        if self.ratio and self._figures():
            x = bars.left() + self._share(1.0) * self._room(painter, bars)
            painter.setPen(QPen(QColor(theme.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, bars.top()), QPointF(x, bars.bottom()))
        painter.setPen(QColor(theme.muted))
        place = QRectF(self.rect().left() + _GAP, bars.bottom() + 2, self.rect().width() - 2 * _GAP, line)
        parts = [self.unit]
        parts += [tr("dashed: 1, the same")] if self.ratio else []
        parts += [tr("logarithmic scale")] if self.logarithmic else []
        text = "; ".join(parts)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _pair(self, painter: QPainter, row: QRectF, pair: Pair, theme: Theme) -> None:
        high = min(row.height() * 0.42, painter.fontMetrics().height() * 1.6)
        top = row.center().y() - high
        for index, value in enumerate((pair.theirs, pair.ours)):
            place = QRectF(row.left(), top + index * high, 0, high - 2)
            text = tr(_ABSENT[index]) if value is None else figure(value, "")
            wide = painter.fontMetrics().horizontalAdvance(text) + 10.0
            if value is not None:
                place.setWidth(max(self._share(value) * self._room(painter, row), _LEAST))
                self._bar(painter, place, index, theme)
            painter.setPen(QColor(theme.muted if value is None else theme.text))
            beside = QRectF(place.right() + 6, place.top(), wide, place.height())
            painter.drawText(beside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _room(self, painter: QPainter, bars: QRectF) -> float:
        """Return the length of the longest bar: its figure stands behind it."""
        texts = [figure(value, "") for value in self._figures()]
        return bars.width() - max(painter.fontMetrics().horizontalAdvance(text) for text in texts) - 10.0

    def _share(self, value: float) -> float:
        """Return the length of a bar, as a share of the longest."""
        figures = self._figures()
        if value <= 0:
            return 0.0
        if not self.logarithmic:
            return value / max(figures)
        # The shortest bar keeps a length: the axis begins at the power of ten below it.
        low = floor(log10(min(figures)) - 0.2)
        return (log10(value) - low) / (log10(max(figures)) - low)

    def _bar(self, painter: QPainter, place: QRectF, index: int, theme: Theme) -> None:
        """Draw theirs (0) hatched and ours (1) full, so that they differ without colour too; a reference is hollow."""
        colour = QColor(theme.muted if index == 0 else theme.accent)
        hollow = index == 1 and self.reference
        style = Qt.BrushStyle.BDiagPattern if index == 0 else Qt.BrushStyle.SolidPattern
        painter.setPen(QPen(colour, 2 if hollow else 1))
        painter.setBrush(Qt.BrushStyle.NoBrush if hollow else QBrush(colour, style))
        painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _spoken(pair: Pair, unit: str) -> str:
    figures = (tr("no figure") if v is None else figure(v, unit) for v in (pair.theirs, pair.ours))
    return f"{pair.name}: {', '.join(figures)}"
