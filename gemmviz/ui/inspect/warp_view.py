"""Draws one warp request: 32 lanes, lines to the sectors or banks of their data, and the wavefronts that follow."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.trace.cost.warp_request import WarpRequest, touched_words
from gemmviz.trace.cost.wavefronts import BANKS, SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.steady_scroll import steady_width
from gemmviz.ui.look.theme import THEMES, Theme, ink, rgb

_GAP = 1.5
# Where many wavefronts are scrolled anyway, the lines may take more room.
_LEAST_LINES, _SCROLLED_LINES, _SCROLLED_FROM = 22.0, 44.0, 6
_WIDE = 800


@dataclass(frozen=True)
class _Grid:
    """Where things stand: 32 columns behind a margin for the rows' names."""

    left: float
    column: float
    text: float

    def box(self, column: float, top: float, height: float) -> QRectF:
        return QRectF(self.left + column * self.column + _GAP / 2, top, self.column - _GAP, height)

    def middle(self, column: float) -> float:
        return self.left + (column + 0.5) * self.column


class WarpView(QWidget):
    """The picture of one request; a click on a lane chooses it."""

    lane_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._playable: Playable | None = None
        self._asked: WarpRequest | None = None
        self._theme: Theme = THEMES["dark"]
        self._lane = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Lanes, sectors and banks of the warp's request"))

    def show_request(self, playable: Playable | None, asked: WarpRequest | None, lane: int, theme: Theme) -> None:
        """Draw a request; None draws nothing.

        Parameters
        ----------
        playable, asked
            The request to draw.
        lane
            The chosen lane: its lines stand out.
        theme
            The colours.
        """
        self._playable, self._asked, self._lane, self._theme = playable, asked, lane, theme
        self._take_height()
        self.update()

    def forget(self) -> None:
        """Let go of the request; the place that it took stays until another one is shown."""
        self._playable = self._asked = None

    def _take_height(self) -> None:
        """Take the height that the request needs: in a low panel many wavefronts are scrolled."""
        self.setMinimumHeight(int(self._needed()))
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that goes with the width."""
        super().resizeEvent(event)
        self._take_height()

    def sizeHint(self) -> QSize:
        """Return the least size for the request."""
        return QSize(500, int(self._needed()))

    def _row(self) -> float:
        return QFontMetricsF(self._font()).height() + 1

    def _font(self) -> QFont:
        """Return the font of the figures: two of them fit into a lane."""
        font = QFont(self.font())
        base = QFontMetricsF(font)
        room = (steady_width(self) / (WARP + 4)) - _GAP - 1
        wide = max(base.horizontalAdvance("28"), 1.0)
        size = font.pointSizeF() if font.pointSizeF() > 0 else 9.0
        font.setPointSizeF(max(min(size, size * room / wide), 5.5))
        return font

    def _needed(self) -> float:
        row = self._row()
        asked = self._asked
        if asked is None:
            return 2 * row
        lanes = row * (2 if asked.is_shared and asked.units > 1 else 1)
        below = row * (1 + asked.units) if asked.is_shared else 2.2 * row
        return lanes + self._least_lines(asked) + below + 6

    def _least_lines(self, asked: WarpRequest) -> float:
        return _SCROLLED_LINES if asked.is_shared and asked.units > _SCROLLED_FROM else _LEAST_LINES

    def _grid(self) -> _Grid:
        names = QFontMetricsF(self.font())
        left = 8 + max(
            names.horizontalAdvance(name) for name in (tr("lane"), tr("bank"), tr("sector"), self._wavefront(32))
        )
        left = min(left, self.width() / 6)
        return _Grid(left, (self.width() - left - 4) / WARP, self._row())

    def _wavefront(self, number: int) -> str:
        """Name a wavefront, in a letter where there is no room for the word."""
        if self.width() >= _WIDE:
            return tr("wavefront {number}", number=number)
        return tr("w {number}", number=number)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the request."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), QColor(self._theme.background))
            if self._asked is not None and self._playable is not None:
                painter.setFont(self._font())
                self._draw(painter, self._playable, self._asked, event.rect())

    def _draw(self, painter: QPainter, playable: Playable, asked: WarpRequest, seen: QRect) -> None:
        grid, row = self._grid(), self._row()
        top = self._draw_lanes(painter, asked, grid)
        below = row * (1 + asked.units) if asked.is_shared else 2.2 * row
        spare = self.height() - 4 - top - below
        target = top + max(min(spare, 110.0), self._least_lines(asked))
        if asked.is_shared:
            self._draw_banks(painter, asked, grid, top, target, seen)
        else:
            self._draw_sectors(painter, playable, asked, grid, top, target)

    def _name(self, painter: QPainter, text: str, top: float, height: float, colour: str | None = None) -> None:
        painter.setPen(QColor(colour or self._theme.muted))
        box = QRectF(2, top, self._grid().left - 5, height)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)

    def _draw_lanes(self, painter: QPainter, asked: WarpRequest, grid: _Grid) -> float:
        """Draw the 32 lanes, and below each the wavefront that serves it last; return where the lines begin."""
        theme, row = self._theme, grid.text
        colour = theme.write if asked.write else theme.read
        active = {int(lane): i for i, lane in enumerate(asked.lane)}
        waits = asked.is_shared and asked.units > 1
        last = asked.last_served() if waits else None
        self._name(painter, tr("lane"), 2, row)
        if waits:
            self._name(painter, tr("served"), 2 + row, row)
        for lane in range(WARP):
            box = grid.box(lane, 2, row)
            if lane in active:
                painter.fillRect(box, QColor(colour))
                painter.setPen(QColor(ink(theme, rgb(colour))))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(lane))
                if last is not None:
                    painter.setPen(QColor(theme.text))
                    under = grid.box(lane, 2 + row, row)
                    painter.drawText(under, Qt.AlignmentFlag.AlignCenter, str(int(last[active[lane]]) + 1))
            elif lane < WARP - asked.missing:
                sign = ("✕" if asked.certain else "?") if asked.outside else "–"
                painter.setPen(QPen(QColor(theme.bad if asked.outside else theme.muted), 1, Qt.PenStyle.DashLine))
                painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, sign)
            if lane == self._lane:
                painter.setPen(QPen(QColor(theme.selection), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(box.adjusted(0, 0, 0, 0))
        return 2 + row * (2 if waits else 1)

    def _line(self, painter: QPainter, lane: int, begin: QPointF, end: QPointF, waits: bool) -> None:
        chosen = lane == self._lane
        pen = QPen(QColor(self._theme.selection if chosen else self._theme.faint), 2.2 if chosen else 1.0)
        if waits:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawLine(begin, end)

    def _draw_banks(
        self, painter: QPainter, asked: WarpRequest, grid: _Grid, top: float, target: float, seen: QRect
    ) -> None:
        """Draw the 32 banks, and a row per wavefront that says which lanes each bank serves in it."""
        theme, row = self._theme, grid.text
        for access, bank, served in zip(asked.access.tolist(), asked.bank.tolist(), asked.served.tolist(), strict=True):
            lane = int(asked.lane[access])
            begin, end = QPointF(grid.middle(lane), top), QPointF(grid.middle(bank), target)
            self._line(painter, lane, begin, end, served > 0)
        self._name(painter, tr("bank"), target, row)
        wanted = set(asked.bank.tolist())
        for bank in range(BANKS):
            box = grid.box(bank, target, row)
            painter.fillRect(box, QColor(theme.raised))
            painter.setPen(QColor(theme.text if bank in wanted else theme.faint))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(bank))
        lanes: dict[tuple[int, int], set[int]] = defaultdict(set)
        for access, bank, served in zip(asked.access.tolist(), asked.bank.tolist(), asked.served.tolist(), strict=True):
            lanes[served, bank].add(int(asked.lane[access]))
        colour = theme.write if asked.write else theme.read
        for wavefront in range(asked.units):
            y = target + row * (1 + wavefront) + 1
            if y > seen.bottom() or y + row < seen.top():
                continue  # scrolled out of sight
            self._name(painter, self._wavefront(wavefront + 1), y, row - 1, theme.text)
            for bank in range(BANKS):
                mine = lanes.get((wavefront, bank))
                if not mine:
                    continue
                box = grid.box(bank, y, row - 1)
                painter.fillRect(box, QColor(colour))
                if self._lane in mine:
                    painter.setPen(QPen(QColor(theme.selection), 2))
                    painter.drawRect(box)
                painter.setPen(QColor(ink(theme, rgb(colour))))
                text = str(next(iter(mine))) if len(mine) == 1 else f"{len(mine)}×"
                _write_within(painter, box, text)

    def _draw_sectors(
        self, painter: QPainter, playable: Playable, asked: WarpRequest, grid: _Grid, top: float, target: float
    ) -> None:
        """Draw the sectors, as wide as there is room, with the words in them that anybody asked for."""
        theme, row = self._theme, grid.text
        info = playable.recording.arrays[asked.array]
        sectors = distinct(asked.place)
        width = min(grid.column * WARP / len(sectors), grid.column * 8)
        left = grid.left + (grid.column * WARP - width * len(sectors)) / 2
        place = {sector: i for i, sector in enumerate(sectors.tolist())}
        for access, sector in zip(asked.access.tolist(), asked.place.tolist(), strict=True):
            lane = int(asked.lane[access])
            within = min(max(int(asked.element[access]) * info.itemsize - sector * SECTOR_BYTES, 0), SECTOR_BYTES - 1)
            x = left + width * (place[sector] + (within + asked.width / 2) / SECTOR_BYTES)
            self._line(painter, lane, QPointF(grid.middle(lane), top), QPointF(x, target), False)
        self._name(painter, tr("sector"), target, row)
        colour = QColor(theme.write if asked.write else theme.read)
        metrics = QFontMetricsF(painter.font())
        for i, sector in enumerate(sectors.tolist()):
            box = QRectF(left + i * width + _GAP / 2, target, width - _GAP, row)
            painter.fillRect(box, QColor(theme.raised))
            flags = touched_words(asked, info.itemsize, sector)
            slot = box.width() / len(flags)
            for word in np.flatnonzero(flags).tolist():
                painter.fillRect(QRectF(box.left() + word * slot, box.top(), max(slot - 0.5, 0.5), row), colour)
            painter.setPen(QPen(QColor(theme.text), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
            painter.setPen(QColor(theme.text))
            first = min(sector * SECTOR_BYTES // info.itemsize, info.size - 1)
            name, r, c = cell_name(playable.recording, (asked.array, first))
            for text in (f"{name}[{r}, {c}]…", f"{r}, {c}"):
                if metrics.horizontalAdvance(text) <= width - 2:
                    painter.drawText(box.translated(0, row + 1), Qt.AlignmentFlag.AlignCenter, text)
                    break

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the lane under the pointer."""
        grid = self._grid()
        lane = int((event.position().x() - grid.left) // grid.column)
        if self._asked is not None and 0 <= lane < WARP and event.position().y() <= 2 + 2 * grid.text:
            self.lane_clicked.emit(lane)


def _write_within(painter: QPainter, box: QRectF, text: str) -> None:
    """Write a text into a box, smaller where it would not fit."""
    wide = QFontMetricsF(painter.font()).horizontalAdvance(text)
    if wide <= box.width():
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return
    painter.save()
    font = QFont(painter.font())
    font.setPointSizeF(font.pointSizeF() * box.width() / wide)
    painter.setFont(font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()
