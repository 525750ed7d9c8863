"""A pair of bars per figure, on one scale: the still parts are drawn once."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import percent, tr
from gemmviz.language.numbers import thousands
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.rules.comparison_figures import FigurePair, ratio_text
from gemmviz.ui.look.figure_text import gflops_text
from gemmviz.ui.look.theme import THEMES

_MARGIN, _GAP = 8.0, 10.0
_SMALLEST_TEXT_PX = 9
_USUAL_LANES = 5
# A pair of lines may stand closer than text, but not further apart than this many lines.
_TIGHTEST, _WIDEST = 0.95, 1.6
# Of the height of a pair and the gap below it.
_PAIR = 0.9
_LEAST_BAR = 90.0
"""Pixels. If a whole bar would be shorter beside its name, the names stand above the bars."""
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_LEFT, _RIGHT = _MIDDLE | Qt.AlignmentFlag.AlignLeft, _MIDDLE | Qt.AlignmentFlag.AlignRight


def side_colours(theme_name: str) -> tuple[str, str]:
    """Return the colours of the chosen rung and of the one beside."""
    curves = THEMES[theme_name].curves
    return curves[0], curves[1]


def fill_side(painter: QPainter, place: QRectF, theme_name: str, side: int) -> None:
    """Fill a place with the colour of a side; the one beside is hatched, so that it differs without colour."""
    painter.fillRect(place, QColor(side_colours(theme_name)[side]))
    if side:
        painter.fillRect(place, QBrush(QColor(THEMES[theme_name].background), Qt.BrushStyle.BDiagPattern))


@dataclass(frozen=True)
class _Places:
    """The layout, in pixels: the font, a pair's height and its line's, the lines above its bars, and the columns."""

    font: QFont
    height: float
    line: float
    above: int
    name_width: float
    bars: float
    room: float
    figure_width: float
    ratio_width: float


class Bars(QWidget):
    """A pair of bars per figure: above the chosen rung, below the one beside, hatched.

    Parameters
    ----------
    playback
        While it plays, the figures are not read out.
    preferences
        The preferences with the theme.
    """

    def __init__(self, playback: Playback, preferences: Preferences) -> None:
        super().__init__()
        self._playback, self._preferences = playback, preferences
        self.lanes: list[FigurePair] = []
        self.origin = ""
        """The origin of the figures; one with another origin has it under its name."""
        self.finished = False
        self._still: tuple[object, QPixmap, _Places] | None = None
        self.setAccessibleName(tr("Counters of both, recorded"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        # The room that the bars do not need belongs to the lines that differ.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:
        """As high as the pairs are where there is room."""
        return self._hint(_WIDEST) + QSize(0, 4)

    def minimumSizeHint(self) -> QSize:
        """As many lines as there are bars, and room for their figures."""
        return self._hint(_TIGHTEST)

    def _hint(self, spacing: float) -> QSize:
        line = QFontMetricsF(self.font()).height() * spacing
        lines = 2 + (self._lines_above(self.font()) if self.lanes else 0)
        return QSize(round(line * 24), round(lines * line * max(len(self.lanes), _USUAL_LANES)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height where the names go above the bars."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def show_lanes(self, found: list[FigurePair], finished: bool) -> None:
        """Show other figures."""
        more = len(found) != len(self.lanes)
        self.lanes, self.finished = found, finished
        self.origin = found[0].origin if found else ""
        if more:
            self.updateGeometry()
        if not self._playback.playing:
            lines = (f"{lane.name}, {lane.origin}: {figure(lane, 0)}; {figure(lane, 1)}" for lane in found)
            self.setAccessibleDescription("\n".join(lines))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars and figures over the still parts."""
        with QPainter(self) as painter:
            if not self.lanes:
                painter.fillRect(self.rect(), QColor(THEMES[self._preferences.theme].background))
            else:
                still, places = self._drawn_once()
                painter.drawPixmap(0, 0, still)
                self._draw_moving(painter, places)

    def _drawn_once(self) -> tuple[QPixmap, _Places]:
        totals = tuple((lane.name, lane.origin, lane.total) for lane in self.lanes)
        key = (
            totals,
            self._preferences.theme,
            self.finished,
            self.size(),
            self.devicePixelRatioF(),
            self.font().key(),
        )
        if self._still is None or self._still[0] != key:
            ratio = self.devicePixelRatioF()
            pixmap = QPixmap(self.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(QColor(THEMES[self._preferences.theme].background))
            places = self._places()
            with QPainter(pixmap) as into:
                self._draw_still(into, places)
            self._still = key, pixmap, places
        return self._still[1:]

    def _places(self) -> _Places:
        font = QFont(self.font())
        usual, above = QFontMetricsF(font).height(), self._lines_above(font)
        height = min((self.height() - 4) / len(self.lanes), (2 + above) * _WIDEST * usual)
        line = height * _PAIR / (2 + above)
        if line < usual * _TIGHTEST:
            font.setPixelSize(max(int(line / usual * QFontMetricsF(font).ascent()), _SMALLEST_TEXT_PX))
        names, figures, ratio = self._widths(font)
        bars = _MARGIN if above else _MARGIN + names + _GAP
        room = max(self.width() - bars - figures - ratio - 2 * _GAP - _MARGIN, 20.0)
        return _Places(font, height, line, above, self.width() / 2 if above else names, bars, room, figures, ratio)

    def _widths(self, font: QFont) -> tuple[float, float, float]:
        """Return the widths of the names, the figures and the ratios."""
        metrics = QFontMetricsF(font)
        names = {lane.name for lane in self.lanes} | {lane.origin for lane in self.lanes} - {self.origin}
        figures = max(metrics.horizontalAdvance(figure(lane, side, True)) for lane in self.lanes for side in (0, 1))
        return (
            max(map(metrics.horizontalAdvance, names)),
            figures,
            QFontMetricsF(_bold(font)).horizontalAdvance("1/88.8×"),
        )

    def _lines_above(self, font: QFont) -> int:
        """Return 1 where a name stands above its bars, 0 where it stands beside them."""
        return int(self.width() - sum(self._widths(font)) - 3 * _GAP - 2 * _MARGIN < _LEAST_BAR)

    def _draw_still(self, painter: QPainter, at: _Places) -> None:
        """Draw names, other origins than the panel has, the final lengths, and at the end the ratio of the two."""
        theme = THEMES[self._preferences.theme]
        for number, lane in enumerate(self.lanes):
            top = 2 + number * at.height
            own_origin = lane.origin != self.origin
            if number:
                line = QRectF(_MARGIN, top - at.height * (1 - _PAIR) / 2, self.width() - 2 * _MARGIN, 1)
                painter.fillRect(line, QColor(theme.raised))
            painter.setFont(at.font)
            painter.setPen(QColor(theme.text))
            high = at.line if own_origin or at.above else 2 * at.line
            painter.drawText(QRectF(_MARGIN, top, at.name_width, high), _LEFT, lane.name)
            if own_origin:
                painter.setPen(QColor(theme.muted))
                under = QRectF(_MARGIN, top + at.line, at.name_width, at.line)
                beside = QRectF(_MARGIN + at.name_width, top, self.width() - at.name_width - 2 * _MARGIN, at.line)
                painter.drawText(beside if at.above else under, _RIGHT if at.above else _LEFT, lane.origin)
            for side in (0, 1):
                total = lane.total[side]
                if total:
                    painter.setPen(QColor(side_colours(theme.name)[side]))
                    frame = _bar(at, number, side, total / _scale(lane))
                    painter.drawRect(frame.adjusted(0, 0, -1, -1))
            if self.finished or lane.id == "gflops":
                painter.setFont(_bold(at.font))
                painter.setPen(QColor(theme.text))
                below = top + at.above * at.line
                place = QRectF(self.width() - at.ratio_width - _MARGIN, below, at.ratio_width, 2 * at.line)
                painter.drawText(place, _RIGHT, ratio_text(lane.ratio))

    def _draw_moving(self, painter: QPainter, at: _Places) -> None:
        painter.setFont(at.font)
        painter.setPen(QColor(THEMES[self._preferences.theme].text))
        for number, lane in enumerate(self.lanes):
            for side in (0, 1):
                now = lane.now[side]
                if now:
                    fill_side(painter, _bar(at, number, side, now / _scale(lane)), self._preferences.theme, side)
                top = 2 + number * at.height + (at.above + side) * at.line
                place = QRectF(at.bars + at.room + _GAP, top, at.figure_width, at.line)
                painter.drawText(place, _RIGHT, figure(lane, side))


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold


def _scale(lane: FigurePair) -> float:
    """Return the value of the whole width: the larger of both totals."""
    return max(value for value in lane.total if value is not None)


def _bar(at: _Places, number: int, side: int, share: float) -> QRectF:
    top = 2 + number * at.height + (at.above + side) * at.line
    return QRectF(at.bars, top + 1, max(at.room * share, 1.0), at.line - 2)


def figure(lane: FigurePair, side: int, at_end: bool = False) -> str:
    """Return one figure: so far / in all; `at_end`: its final text."""
    now, total = (lane.total if at_end else lane.now)[side], lane.total[side]
    if now is None or total is None:
        return "–"
    if lane.unit == "GFLOPS":
        return gflops_text(total)
    if lane.unit == "%":
        return percent(now / 100)
    return f"{thousands(round(now))} / {thousands(round(total))}" + (f" {lane.unit}" if lane.unit else "")
