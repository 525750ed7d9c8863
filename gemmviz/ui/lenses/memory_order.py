"""The lens on memory order: each matrix as the strip of its addresses, and the places on it that are accessed."""

from collections.abc import Iterator
from itertools import pairwise
from math import cos, pi, sin

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.lenses.address_walk import LINE_BYTES, AddressWalk, address_walks
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.accesses import Array
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import SMALL, Heading, Page, source_line
from gemmviz.ui.lenses.request_text import other_step
from gemmviz.ui.lenses.sheet import LEFT, RIGHT, Sheet
from gemmviz.ui.look.theme import Theme

_LEAST_MARK = 2.0  # pixels of an element on the strip
_MAP_FROM = 300.0  # pixels of width from which there is room for a small matrix beside a strip
_LEAST_ROWS = 3.1  # lines of text that a strip takes at least
_ARC = [(cos(pi * i / 10), sin(pi * i / 10)) for i in range(11)]
_OLDEST = 0.3  # opacity of a loop's oldest access


class MemoryOrderLens(GradualLens):
    """Shows the last accesses of the chosen warp, or of a loop on a CPU, in each array, at their places in memory."""

    name: LensName = "memory order"
    title = mark("Memory order")

    def suits(self, playable: Playable) -> bool:
        """Say whether threads access memory themselves."""
        return address_walks(playable).any

    def pieces(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> Iterator[Sheet]:
        """Draw a strip for each array that the warp, or the loop, accesses."""
        playable = moment.playable
        walks = address_walks(playable)
        found = walks.at(playable, moment.step, moment.block, moment.warp, moment.lane)
        with Page(painter, rect, theme, font) as page:
            if not found:
                page.nothing(tr(self.title), tr("This warp makes no request to global memory."))
                return
            chosen = _chosen(found, moment.step)
            room = page.headed(
                Heading(
                    tr(self.title),
                    (tr("recorded"),),
                    False,
                    _description(playable, chosen, walks.on_gpu, moment.step),
                    source_line(playable.recording, playable.line(chosen.step)),
                    _units(chosen, walks.on_gpu),
                    tr("{count} would do", count=chosen.least) if chosen.scattered else "",
                    chosen.scattered,
                )
            )
            if not page.has_room(room):
                return
            most = max(int(room.height() / (_LEAST_ROWS * page.row())), 1)
            shown = _most_important(found, chosen, most)
            high = room.height() / len(shown)
            for number, walk in enumerate(shown):
                place = QRectF(room.left(), room.top() + number * high, room.width(), high)
                yield page
                _Strip(page, place, playable, walk, walk is chosen, walks.on_gpu).draw()


LENS = MemoryOrderLens()


def _chosen(walks: list[AddressWalk], step: int) -> AddressWalk:
    """Return the walk of a step, else the last one before it, else the first one after it."""
    before = [walk for walk in walks if walk.step <= step]
    return max(before, key=lambda walk: walk.step) if before else min(walks, key=lambda walk: walk.step)


def _most_important(walks: list[AddressWalk], chosen: AddressWalk, most: int) -> list[AddressWalk]:
    """Return at most so many walks: the chosen one and the last ones, in the order of the arrays."""
    ranked = sorted(walks, key=lambda walk: (walk is not chosen, walk.write, -walk.step))[:most]
    return [walk for walk in walks if walk in ranked]


def _description(playable: Playable, walk: AddressWalk, on_gpu: bool, step: int) -> tuple[str, ...]:
    """Name the warp or loop, its step if that is another one, and explain the outlines; in little room not these."""
    name, count = playable.recording.arrays[walk.array].name, len(walk.order)
    if on_gpu:
        outlined = tr("outlined: sectors of {bytes} bytes", bytes=SECTOR_BYTES)
        if walk.write:
            who = trn("{count} lane writes {array}", "{count} lanes write {array}", count, array=name)
        else:
            who = trn("{count} lane reads {array}", "{count} lanes read {array}", count, array=name)
    else:
        outlined = tr("outlined: cache lines of {bytes} bytes", bytes=LINE_BYTES)
        if walk.write:
            who = trn("the last write of {array}", "the last {count} writes of {array}", count, array=name)
        else:
            who = trn("the last read of {array}", "the last {count} reads of {array}", count, array=name)
    if on_gpu and walk.step != step:
        when = f"{name} ({other_step(walk.step, step)})"
        who = f"{who} ({other_step(walk.step, step)})"
        return f"{who}; {outlined}", who, when
    return f"{who}; {outlined}", who


def _units(walk: AddressWalk, on_gpu: bool) -> str:
    """Name the unit that a walk moves: sectors on a GPU, cache lines on a CPU."""
    count = len(walk.units)
    if on_gpu:
        return trn("{count} sector", "{count} sectors", count)
    return trn("{count} cache line", "{count} cache lines", count)


def _distance(walk: AddressWalk, itemsize: int, on_gpu: bool) -> tuple[str, ...]:
    """Say how far it is from one access to the next."""
    if walk.distance is None:
        return ("",)
    if walk.distance == 0:
        if on_gpu:
            return tr("lane to lane: the same element"), tr("the same element")
        return tr("from one to the next: the same element"), tr("the same element")
    count = thousands(abs(walk.distance) * itemsize)
    if abs(walk.distance) == walk.covers:
        if on_gpu:
            return (tr("lane to lane: neighbours"), tr("neighbours"))
        return (tr("from one to the next: neighbours"), tr("neighbours"))
    if on_gpu:
        return tr("lane to lane: {bytes} bytes", bytes=count), tr("{bytes} bytes apart", bytes=count)
    return tr("from one to the next: {bytes} bytes", bytes=count), tr("{bytes} bytes apart", bytes=count)


class _Strip:
    """Draws one array: its name, a small matrix, and the strip with the accesses on it."""

    def __init__(
        self, page: Page, place: QRectF, playable: Playable, walk: AddressWalk, is_chosen: bool, on_gpu: bool
    ) -> None:
        self.page, self.place, self.walk, self.is_chosen, self.on_gpu = page, place, walk, is_chosen, on_gpu
        self.info: Array = playable.recording.arrays[walk.array]
        self.colour = page.accent(walk.scattered)
        self.colours = self._faded()
        rows, columns = self.info.grid
        # A major is a row of a matrix stored by rows, a column of one stored by columns, a panel: it lies in one piece.
        self.majors = self.info.shape[0] if self.info.panels else columns if self.info.column_major else rows
        self.of_major = self.info.size // self.majors
        self.is_beside = self.info.panels or self.info.column_major  # the next major is right of it, not below it

    def draw(self) -> None:
        """Draw everything."""
        page, place = self.page, self.place
        name, small = page.row(), page.row(SMALL)
        body = place.adjusted(0, name, 0, -page.em * 0.3)
        if self.is_chosen:
            page.painter.fillRect(QRectF(place.left(), place.top() + 2, 3, name - 4), self.colour)
        self._title(QRectF(place.left() + page.em * 0.4, place.top(), place.width() - page.em * 0.4, name))
        left = body.left()
        side = min(body.height(), place.width() * 0.2, page.em * 11)
        if place.width() >= _MAP_FROM and side >= page.em * 2.2:
            left += self._matrix(QRectF(body.left() + page.em * 0.4, body.top(), side, side)) + page.em * 1.2
        strip = QRectF(left, 0, body.right() - left, 0)
        spare = body.height() - small
        arcs = min(max(spare * 0.5, page.em * 0.5), page.em * 4.5)
        high = min(max(spare - arcs, page.em * 0.5), page.em * 2.4)
        strip.setTop(body.top() + arcs + max(spare - arcs - high, 0) * 0.3)
        strip.setHeight(high)
        self._addresses(strip)
        self._hops(strip, arcs)
        self._ends(QRectF(strip.left(), strip.bottom() + 1, strip.width(), small))

    def _title(self, row: QRectF) -> None:
        """Name the array, its layout, the distance of the accesses, and the units that they move."""
        page, info = self.page, self.info
        page.write(row, info.name, bold=True)
        row.setLeft(row.left() + page.width(info.name, bold=True) + page.em * 0.6)
        layout = tr("stored by columns") if info.column_major else tr("stored by rows")
        if info.panels:
            layout = tr("one panel after another")
        right = _units(self.walk, self.on_gpu)
        if not self.is_chosen:
            page.write(row, right, SMALL, page.theme.muted, RIGHT)
            row.setRight(row.right() - page.width(right, SMALL) - page.em * 0.6)
        distances = _distance(self.walk, info.itemsize, self.on_gpu)
        texts = [*(f"{layout}  ·  {text}" if text else layout for text in distances), distances[-1] or layout]
        page.write_first(row, texts, SMALL, page.theme.muted, LEFT)

    def _faded(self) -> list[QColor]:
        """Return the colour of each access: of a loop, older ones fade; the lanes of a warp are equal."""
        count = len(self.walk.order)
        if self.on_gpu or count < 2:
            return [self.colour] * count
        made = []
        for number in range(count):
            colour = QColor(self.colour)
            colour.setAlphaF(_OLDEST + (1 - _OLDEST) * number / (count - 1))
            made.append(colour)
        return made

    def _matrix(self, box: QRectF) -> float:
        """Draw the matrix with its accesses; thin lines show which way memory runs; return its width."""
        page, info, painter = self.page, self.info, self.page.painter
        rows, columns = info.grid
        cell = min(box.height() / rows, box.width() / columns)
        box = QRectF(box.left(), box.top(), cell * columns, cell * rows)
        painter.fillRect(box, QColor(*page.theme.cell))
        each = (box.width() if self.is_beside else box.height()) / self.majors
        if each >= 3:
            page.pen(page.theme.outline, 0.6)
            for number in range(1, self.majors):
                if self.is_beside:
                    x = box.left() + number * each
                    painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
                else:
                    y = box.top() + number * each
                    painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        covered = (self.walk.element[:, None] + np.arange(self.walk.covers)).ravel()
        r, c = info.cells(np.minimum(covered, info.size - 1))
        size = max(cell, _LEAST_MARK)
        for number, (row, column) in enumerate(zip(r.tolist(), c.tolist(), strict=True)):
            mark_at = QRectF(box.left() + column * cell, box.top() + row * cell, size, size)
            painter.fillRect(mark_at, self.colours[number // self.walk.covers])
        return box.width()

    def _addresses(self, strip: QRectF) -> None:
        """Draw the strip: rows (or columns, panels) in two shades, moved units in outline, accesses filled."""
        page, painter, info, walk = self.page, self.page.painter, self.info, self.walk
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        each = strip.width() / info.size
        painter.fillRect(strip, QColor(*page.theme.cell))
        if each * self.of_major >= 2:
            for number in range(1, self.majors, 2):
                part = QRectF(
                    strip.left() + number * self.of_major * each, strip.top(), self.of_major * each, strip.height()
                )
                painter.fillRect(part, page.mixed(page.theme.cell, 0.55))
        for number in range(len(walk.order)):
            wide = max(each * walk.covers, _LEAST_MARK)
            x = strip.left() + int(walk.element[number]) * each
            gap = 1.0 if wide > 4 else 0.0
            place = QRectF(min(x, strip.right() - wide), strip.top() + 2, wide - gap, strip.height() - 4)
            painter.fillRect(place, self.colours[number])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        of_unit = max(walk.unit_bytes / info.itemsize, 1) * each
        if of_unit >= 3:
            page.pen(page.theme.text, 1.0)
            for unit in walk.units.tolist():
                x = strip.left() + unit * of_unit
                wide = min(of_unit, strip.right() - x)
                painter.drawRect(QRectF(x + 0.5, strip.top() - 1.5, wide - 1, strip.height() + 3))

    def _hops(self, strip: QRectF, room: float) -> None:
        """Draw an arc from each access to the next: the longer, the higher."""
        page, walk, info = self.page, self.walk, self.info
        each = strip.width() / info.size
        middle = [strip.left() + (e + walk.covers / 2) * each for e in walk.element.tolist()]
        base, most = strip.top() - 3, max(room - 4, 2.0)
        pen = None
        for number, (x, to) in enumerate(pairwise(middle), 1):
            half = (to - x) / 2
            if abs(half) < 0.25:
                continue
            high = min(abs(half) * 0.9, most)
            if self.colours[number] is not pen:
                pen = self.colours[number]
                page.pen(pen)
            # A line of few pieces is drawn many times as fast as an arc.
            page.painter.drawPolyline([QPointF(x + half * (1 - across), base - high * up) for across, up in _ARC])
        radius = min(max(each * 0.3, 1.5), 3.5)
        page.painter.setPen(Qt.PenStyle.NoPen)
        for number, x in enumerate(middle):
            page.painter.setBrush(self.colours[number])
            page.painter.drawEllipse(QPointF(x, base), radius, radius)

    def _major(self, major: int) -> str:
        """Name a row (or column, panel)."""
        number = thousands(major)
        if self.info.panels:
            return tr("panel {number}", number=number)
        return tr("column {number}", number=number) if self.info.column_major else tr("row {number}", number=number)

    def _ends(self, row: QRectF) -> None:
        """Name the rows (or columns, panels) below the strip, or where they are too narrow, its two ends."""
        page, info = self.page, self.info
        wide = row.width() / self.majors
        first, last = self._major(0), self._major(self.majors - 1)
        if page.width(last, SMALL) + page.em * 0.4 <= wide:
            for major in range(self.majors):
                place = QRectF(row.left() + major * wide, row.top(), wide, row.height())
                page.write(place, self._major(major), SMALL, page.theme.muted)
            return
        page.write(row, first, SMALL, page.theme.muted)
        page.write(row, last, SMALL, page.theme.muted, RIGHT)
        size = tr("addresses: {bytes} bytes", bytes=thousands(info.size * info.itemsize))
        ends = page.width(first, SMALL) + page.width(last, SMALL) + 2 * page.em
        if page.width(size, SMALL) + ends <= row.width():
            page.write(row, size, SMALL, page.theme.faint, Qt.AlignmentFlag.AlignCenter)
