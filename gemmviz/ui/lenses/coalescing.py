"""The lens on coalescing: 32 lanes above the sectors that they request, with unused bytes."""

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.lenses.sector_use import SectorUse, lane_distance, sector_use
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import SMALL, Page
from gemmviz.ui.lenses.request_text import request_heading, shown_request
from gemmviz.ui.lenses.sheet import LEFT, MIDDLE, RIGHT, Sheet
from gemmviz.ui.look.theme import Theme

_NARROWEST_SECTOR = 7.0
_FEWEST_ACROSS = 4  # sectors: so wide are they where there are fewer, too
_GAP = 3.0  # between rows of sectors
_LEAST_FILL = 2.6  # pixels: the least width of the bytes that a lane asks for
_LEGIBLE_DOT = 6.5  # radius from which a lane's number is written in its dot
_BOTH = 2.15  # rows of small text: the height of the names and the captions of sectors


class CoalescingLens(GradualLens):
    """Shows one request of the chosen warp to global memory."""

    name: LensName = "coalescing"
    title = mark("Coalescing")

    def suits(self, playable: Playable) -> bool:
        """Say whether a warp accesses global memory."""
        return warp_requests(playable).any("global")

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw the request of the step, or the last one before it, or the next one."""
        asked = shown_request(moment, "global")
        with Page(painter, rect, theme, font) as page:
            if asked is None:
                page.nothing(tr(self.title), tr("This warp makes no request to global memory."))
                return
            use = sector_use(asked, moment.playable.recording.arrays[asked.array].itemsize)
            heading = request_heading(
                moment,
                asked,
                title=tr(self.title),
                tags=(tr("recorded"),),
                modelled=False,
                figure=trn("{count} sector", "{count} sectors", asked.units),
                under=tr("{count} would do", count=asked.least) if asked.units > asked.least else "",
            )
            room = page.headed(heading)
            if page.has_room(room):
                yield page
                yield from _Picture(page, room, moment, use).pieces()


LENS = CoalescingLens()


class _Picture:
    """Draws the lanes and sectors of one request."""

    def __init__(self, page: Page, room: QRectF, moment: LensMoment, use: SectorUse) -> None:
        self.page, self.room, self.moment, self.use = page, room, moment, use
        self.asked = use.request
        self.late = self.asked.units > self.asked.least
        self.colour = page.accent(self.late)
        self.column = room.width() / WARP
        self.radius = min(self.column * 0.43, page.em)
        # Sectors stand in one row, or in as many as keep them wide enough.
        count = len(use.sectors)
        self.rows = max(-(-count // max(int(room.width() / _NARROWEST_SECTOR), 1)), 1)
        self.across = max(-(-count // self.rows), _FEWEST_ACROSS)
        self.wide = room.width() / self.across

    def pieces(self) -> Iterator[Sheet]:
        """Draw lanes, sectors, and as much text below them as there is room for; see `GradualLens.pieces`."""
        page, room = self.page, self.room
        small, line = page.row(SMALL), page.row()
        lanes = small + 2 * self.radius
        totals = room.height() > 15 * line
        spare = room.height() - lanes - (3.4 + 0.2) * small - 5 * line * totals
        gap = min(max(spare * 0.45, page.em * 0.8), page.em * 9)
        high = min(max((spare - gap) / self.rows - _GAP, page.em * 0.6), page.em * 9)
        top = room.top() + lanes + gap
        self._links(room.top() + lanes, top, high)
        self._lanes(room.top() + small)
        yield page
        self._sectors(top, high)
        yield page
        y = top + self.rows * (high + _GAP)
        if room.bottom() - y >= _BOTH * small:  # else the captions alone: they say more than the names
            self._names(QRectF(room.left(), y, room.width(), small))
            y += small
        if room.bottom() - y >= small:
            self._captions(QRectF(room.left(), y, room.width(), small * 1.15))
        y += 1.2 * small
        if totals:
            y = self._totals(QRectF(room.left(), y + line, room.width(), 4 * line))
        if room.bottom() - y >= small:
            self._legend(QRectF(room.left(), room.bottom() - small, room.width(), small))

    def _lane_x(self, lane: int) -> float:
        return self.room.left() + (lane + 0.5) * self.column

    def _lanes(self, top: float) -> None:
        """Draw a dot for each lane, in outline where it does not take part, and say which is which."""
        page, theme, radius = self.page, self.page.theme, self.radius
        active = set(self.asked.lane.tolist())
        y, inside = top + radius, radius >= _LEGIBLE_DOT
        over = QRectF(self.room.left(), top - page.row(SMALL), self.room.width(), page.row(SMALL))
        page.write(over, tr("lane"), SMALL, theme.muted)
        for lane in range(WARP):
            x = self._lane_x(lane)
            if lane in active:
                page.dot(QPointF(x, y), radius, self.colour, str(lane) if inside else "")
            else:
                page.pen(theme.faint)
                page.painter.drawEllipse(QPointF(x, y), radius - 0.5, radius - 0.5)
            if lane == self.moment.lane:
                page.pen(theme.selection, 1.6)
                page.painter.setBrush(Qt.BrushStyle.NoBrush)
                page.painter.drawEllipse(QPointF(x, y), radius + 0.8, radius + 0.8)
            if not inside and lane in (8, 16, 24, 31):
                wide = page.em * 2
                box = QRectF(min(x - wide / 2, over.right() - wide), over.top(), wide, over.height())
                page.write(box, str(lane), SMALL, theme.muted, MIDDLE)

    def _links(self, top: float, bottom: float, high: float) -> None:
        """Draw a line from each lane to the bytes that it asks for."""
        page = self.page
        plain, chosen = QColor(self.colour), None
        plain.setAlphaF(0.75)
        page.pen(plain, 1.0)
        for lane, middle in zip(self.asked.lane.tolist(), self.use.middle.tolist(), strict=True):
            row, at = divmod(middle, self.across) if self.rows > 1 else (0, middle)
            end = QPointF(self.room.left() + at * self.wide, bottom + row * (high + _GAP))
            begin = QPointF(self._lane_x(lane), top)
            if lane == self.moment.lane:
                chosen = begin, end
            else:
                page.painter.drawLine(begin, end)
        if chosen is not None:
            page.pen(page.theme.selection, 1.8)
            page.painter.drawLine(*chosen)

    def _box(self, place: int, top: float, high: float) -> QRectF:
        row, column = divmod(place, self.across)
        gap = min(self.wide * 0.12, 4.0)
        return QRectF(self.room.left() + column * self.wide + gap / 2, top + row * (high + _GAP), self.wide - gap, high)

    def _sectors(self, top: float, high: float) -> None:
        """Draw the sectors: each element that a lane asks for is filled, the others are empty."""
        page, theme, painter = self.page, self.page.theme, self.page.painter
        itemsize = min(self.moment.playable.recording.arrays[self.asked.array].itemsize, SECTOR_BYTES)
        slots = SECTOR_BYTES // itemsize
        asked = np.logical_or.reduce(self.use.asked.reshape(len(self.use.asked), slots, itemsize), axis=2).tolist()
        fill = self.colour
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for place, flags in enumerate(asked):
            box = self._box(place, top, high)
            painter.fillRect(box, QColor(theme.raised))
            slot = (box.width() - 2) / slots
            inner = 1.0 if slot >= 4 else 0.0
            for number in range(slots):
                piece = QRectF(box.left() + 1 + number * slot + inner / 2, box.top() + 2, slot - inner, high - 4)
                if flags[number]:
                    painter.fillRect(piece.adjusted(0, 0, max(_LEAST_FILL - piece.width(), 0), 0), fill)
                elif slot >= 5:
                    page.pen(theme.outline, 1.0)
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRect(piece.adjusted(0.5, 0.5, -1, -1))
            page.pen(theme.outline, 1.0)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _names(self, row: QRectF) -> None:
        """Name the first element of each sector, or where there is no room, of the first and the last one."""
        page, recording = self.page, self.moment.playable.recording
        info = recording.arrays[self.asked.array]
        first = np.minimum(self.use.sectors * SECTOR_BYTES // info.itemsize, info.size - 1)
        names = []
        for element in first.tolist():
            name, r, c = cell_name(recording, (self.asked.array, element))
            names.append(f"{name}[{r}, {c}]…")
        if self.rows == 1 and max(page.width(name, SMALL) for name in names) + page.em * 0.3 <= self.wide:
            for place, name in enumerate(names):
                box = QRectF(row.left() + place * self.wide, row.top(), self.wide, row.height())
                page.write(box, name, SMALL, page.theme.muted, MIDDLE)
            return
        page.write(row, names[0], SMALL, page.theme.muted, LEFT)
        used = QRectF(row.left(), row.top(), self.wide * min(len(names), self.across), row.height())
        if used.width() > 2.4 * page.width(names[0], SMALL):
            page.write(used, names[-1], SMALL, page.theme.muted, RIGHT)

    def _captions(self, row: QRectF) -> None:
        """Write the used share of the moved bytes, and the distance of neighbouring lanes."""
        page, use = self.page, self.use
        used = tr("used {used} of {moved} bytes", used=thousands(use.used_bytes), moved=thousands(use.moved_bytes))
        wide = page.width(used, bold=True) + page.em
        page.write(row, used, colour=page.theme.write if self.late else None, align=RIGHT, bold=True)
        distance = lane_distance(self.asked.lane, use.start)
        left = QRectF(row.left(), row.top(), row.width() - wide, row.height())
        if distance == 0:
            text = (tr("neighbouring lanes ask for the same element"), tr("the same element"))
        elif distance is not None:
            count = thousands(abs(distance))
            text = (
                tr("neighbouring lanes are {bytes} bytes apart", bytes=count),
                tr("{bytes} bytes apart", bytes=count),
            )
        else:
            return
        page.write_first(left, text, colour=page.theme.muted)

    def _totals(self, room: QRectF) -> float:
        """Compare all requests of the line with the least they could move; return where the text ends."""
        page, traffic = self.page, self.moment.playable.traffic
        name = self.moment.playable.recording.arrays[self.asked.array].name
        same = [s for s in traffic.sites if (s.line, s.array, s.write) == (self.asked.line, name, self.asked.write)]
        units, least, requests = (
            sum(values) for values in zip(*((s.units, s.least_units, s.requests) for s in same), strict=True)
        )
        line = page.row()
        head = trn(
            "The whole recording, this line: {requests} request",
            "The whole recording, this line: {requests} requests",
            requests,
            requests=thousands(requests),
        )
        page.write(QRectF(room.left(), room.top(), room.width(), line), head, bold=True)
        names = [tr("sectors moved"), tr("would do")]
        left = max(page.width(text) for text in names) + page.em
        longest = room.width() - left - page.width(thousands(units), bold=True) - page.em
        for row, (text, count) in enumerate(zip(names, (units, least), strict=True), 1):
            y = room.top() + row * line * 1.25
            page.write(QRectF(room.left(), y, left, line), text, colour=page.theme.muted)
            bar = QRectF(room.left() + left, y + line * 0.15, max(longest * count / max(units, 1), 2), line * 0.7)
            if row == 1:
                page.painter.fillRect(bar, self.colour)
            else:
                page.pen(page.theme.text, 1.2)
                page.painter.setBrush(Qt.BrushStyle.NoBrush)
                page.painter.drawRect(bar)
            box = QRectF(bar.right() + page.em * 0.4, y, room.right() - bar.right(), line)
            page.write(box, thousands(count), bold=True)
        return room.top() + 3.6 * line

    def _legend(self, row: QRectF) -> None:
        texts = (tr("Filled: a lane asked for it. Empty: moved with the sector, but unused."), tr("filled: asked for"))
        self.page.write_first(row, texts, SMALL, self.page.theme.muted)
