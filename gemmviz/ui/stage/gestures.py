"""A multiply-add of the chosen thread, and the ring round elements that the next step stores."""

from dataclasses import replace
from itertools import pairwise
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from gemmviz.catalogue.matrices import C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.motion.gestures import Motion, met, product_place, share
from gemmviz.trace.motion.products import AddedProducts
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme, ink, rgb
from gemmviz.ui.stage.accessed_cells import as_drawn, covered
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.cell_text import CellText
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.regions import along, around
from gemmviz.ui.stage.scene import Panel

MOST_CHIPS = 4
"""Of more products that one thread completes at a step, only the cells are lit."""
_LEAST_CELL, _CHIP_CELL = 8.0, 14.0
_DOT = 0.34  # of a cell
_STORE = 0.5  # the fraction at which the last product is added: then the store begins, in which nothing moves
_PARTED: tuple[Motion, ...] = ("full", "plain")  # in a faster step, half of it would be too short for a flight
_LEAST_TEXT, _MOST_TEXT = 11.0, 22.0
_AROUND, _POINTS, _MOST_PIXELS = 6.0, 4, 4e6
_ADDED, _LEAST_ADDED = 0.22, 8.0  # the product at its sum's corner: of a cell, and in pixels


class Gestures:
    """Multiply-adds and stores of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    text
        Writes the values.
    """

    def __init__(self, playable: Playable, theme: Theme, text: CellText) -> None:
        self._playable, self._theme, self._text = playable, theme, text
        self._rings: tuple[tuple[Panel, int, float], QPixmap] | None = None

    def thread(self, moment: Moment) -> int | None:
        """Return the thread whose products are shown: the owner of the chosen element of C, else the chosen lane.

        A thread is its block times the threads of a block, plus its number in the block; None: nobody's.
        """
        recording = self._playable.recording
        if moment.cell is not None and moment.cell[0] == C:
            row, column = (int(v[0]) for v in recording.arrays[C].cells(np.array([moment.cell[1]])))
            block, thread = (int(of[row, column]) for of in recording.owners)
            return block * recording.threads + thread if block >= 0 else None
        if moment.cell is not None:
            return None
        return moment.block * recording.threads + min(moment.warp * WARP + moment.lane, recording.threads - 1)

    def products(self, moment: Moment) -> AddedProducts | None:
        """Return the products of the chosen thread that a moment's step completes; None if there is none."""
        known = self._playable.products
        thread = self.thread(moment)
        if known is None or thread is None:
            return None
        now = known.at(moment.step)
        found = now.thread == thread
        if moment.cell is not None:
            found &= now.element == self._chosen(moment.cell[1])
        return now.taken(np.flatnonzero(found)) if found.any() else None

    def _chosen(self, element: int) -> int:
        row, column = (int(v[0]) for v in self._playable.recording.arrays[C].cells(np.array([element])))
        return row * self._playable.recording.n + column

    def draw(
        self,
        painter: QPainter,
        panels: list[Panel],
        moment: Moment,
        ratio: float,
        covered: QRectF | None = None,
        plays: bool = False,
    ) -> None:
        """Draw the chosen thread's products, then rings round the elements that the next step stores.

        Parameters
        ----------
        painter, panels, ratio
            The painter, the places of the arrays, and device pixels per pixel.
        moment
            The moment, with the chosen thread and the amount of motion.
        covered
            Where a lens stands on the shared tiles: a product of operands below it comes out at its edge.
        plays
            Whether the next frame follows at once: then rings are drawn from a picture, in which two of them that touch
            are a little fainter.
        """
        if moment.motion == "none":
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if panels[C].cell >= _LEAST_CELL:
            products, stores = self.products(moment), self._stores(moment)
            parted = stores and products is not None and moment.motion in _PARTED
            if stores:
                self._draw_rings(painter, panels[C], moment, _STORE if parted else 0.0, ratio if plays else None)
            if products is not None:
                early = replace(moment, fraction=moment.fraction / _STORE) if parted else moment
                self._draw_products(painter, panels, products, early, ratio, covered)
        painter.restore()

    def areas(self, panels: list[Panel], moment: Moment, covered: QRectF | None = None) -> list[QRectF]:
        """Return the places that a moment's gestures take: see `draw`; none of lines."""
        if moment.motion in ("none", "line"):
            return []
        ringed = moment.fraction > 0 and panels[C].cell >= _LEAST_CELL and self._stores(moment)
        found = [around(panels[C])] if ringed else []
        products = self.products(moment)
        if products is None or panels[C].cell < _LEAST_CELL:
            return found
        cells = self._cells_of(panels, products)
        found += [_grown(box) for boxes in cells for box in boxes if box is not None]
        if len(products) > MOST_CHIPS or moment.fraction <= 0:
            return found
        for i, (target, a, b) in enumerate(zip(*cells, strict=True)):
            if target is None or a is None or b is None:
                continue
            size = _chip_size(target)
            wide = self._text.width_of(_product_text(float(products.a[i]), float(products.b[i])), int(size)) + size
            chip = QRectF(-wide / 2, -size, wide, 2 * size)
            if covered is not None and (covered.contains(a.center()) or covered.contains(b.center())):
                begin = self._edge(covered, target, wide - size, size)
                ways = [[begin, target.center()]]
            else:
                middle = _meeting(a, b, target)
                ways = [[middle, target.center()], *(_curve(box, middle, target) for box in (a, b))]
            found.append(_grown(chip.translated(QPointF(target.right() - wide / 2, target.bottom() - size))))
            for way in ways:
                for begin, end in pairwise(way):
                    found += along(chip.translated(begin), chip.translated(end), _AROUND)
        return found

    def _draw_rings(
        self, painter: QPainter, panel: Panel, moment: Moment, begin: float, kept_ratio: float | None
    ) -> None:
        """Let a ring fade in round the cells of C that the next step writes; with a ratio, from a kept picture."""
        if moment.fraction <= begin:
            return
        after = moment.step + 1
        painter.setOpacity(float(share(moment.fraction, begin, 1.0)))
        # Some hundred rings take longer than the rest of a frame, and only their opacity changes.
        if kept_ratio is None or kept_ratio != round(kept_ratio) or panel.width * panel.height > _MOST_PIXELS:
            self._ring(painter, panel, after)
        else:
            corner = QPoint(floor(panel.x), floor(panel.y))
            painter.drawPixmap(corner, self._rings_at(panel, after, corner, kept_ratio))
        painter.setOpacity(1.0)

    def _stores(self, moment: Moment) -> bool:
        """Say whether the next step stores elements of C."""
        timeline, after = self._playable.timeline, moment.step + 1
        return after < timeline.steps and int(timeline.array[after]) == C and bool(timeline.write[after])

    def _rings_at(self, panel: Panel, after: int, corner: QPoint, ratio: float) -> QPixmap:
        """Return the rings of a step as a picture with its left top corner at a point."""
        key = panel, after, ratio
        if self._rings is None or self._rings[0] != key:
            wide, high = ((side + 1) * ratio for side in (panel.width, panel.height))
            picture = QPixmap(ceil(wide), ceil(high))
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            with QPainter(picture) as into:
                into.translate(-corner)
                into.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._ring(into, panel, after)
            self._rings = key, picture
        return self._rings[1]

    def _ring(self, painter: QPainter, panel: Panel, after: int) -> None:
        cells, _ = covered(self._playable, C, self._playable.timeline.rows(after))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.write), max(1.5, panel.cell / 14)))
        painter.drawRects([_cell(panel, int(cell)).adjusted(1.5, 1.5, -1.5, -1.5) for cell in distinct(cells)])

    def _draw_products(
        self,
        painter: QPainter,
        panels: list[Panel],
        products: AddedProducts,
        moment: Moment,
        ratio: float,
        covered: QRectF | None,
    ) -> None:
        targets, first, second = self._cells_of(panels, products)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.read), 2.5))
        # Below a lens, an outline at the tile's edge would be seen beside it.
        seen = (b for b in (*first, *second) if b is not None and not (covered and covered.contains(b.center())))
        painter.drawRects(list({(b.x(), b.y()): b for b in seen}.values()))
        painter.setPen(QPen(QColor(self._theme.selection), 2.5))
        painter.drawRects(targets)
        if len(products) > MOST_CHIPS or moment.fraction <= 0:
            return
        for i, target in enumerate(targets):
            a, b = first[i], second[i]
            if a is None or b is None:
                continue
            if covered is not None and (covered.contains(a.center()) or covered.contains(b.center())):
                self._draw_from(painter, covered, target, float(products.a[i]), float(products.b[i]), moment, ratio)
            else:
                self._draw_one(painter, a, b, target, float(products.a[i]), float(products.b[i]), moment, ratio)

    def _cells_of(
        self, panels: list[Panel], products: AddedProducts
    ) -> tuple[list[QRectF], list[QRectF | None], list[QRectF | None]]:
        """Return the places of each product's sum and of both of its operands."""
        n = self._playable.recording.n
        targets = [
            _cell(panels[C], int(element // n) * panels[C].columns + int(element % n)) for element in products.element
        ]
        first = [self._place(panels, a, p) for a, p in zip(products.a_array, products.a_place, strict=True)]
        second = [self._place(panels, a, p) for a, p in zip(products.b_array, products.b_place, strict=True)]
        return targets, first, second

    def _draw_one(
        self,
        painter: QPainter,
        a: QRectF,
        b: QRectF,
        target: QRectF,
        left: float,
        right: float,
        moment: Moment,
        ratio: float,
    ) -> None:
        """Draw how two operands meet, and how their product goes to its sum."""
        middle = _meeting(a, b, target)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.read), 2))
        if moment.fraction >= 1 and moment.motion != "line":
            self._draw_added(painter, target, left * right, ratio)
            return
        if moment.motion == "line":
            for begin in (a, b):
                painter.drawLine(begin.center(), target.center())
            return
        together = met(moment.fraction)
        for begin in (a, b):
            path = QPainterPath(begin.center())
            path.quadTo(_bend(begin, middle, target), middle)
            painter.setOpacity(1 - 0.5 * product_place(moment.fraction))
            painter.drawPath(_part(path, together))
        painter.setOpacity(1.0)
        size = _chip_size(target)
        if together < 1:
            for begin, value in ((a, left), (b, right)):
                at = begin.center() + (middle - begin.center()) * together
                self._chip(painter, number(value), at, size, self._theme.read, ratio)
            return
        at = middle + (target.center() - middle) * product_place(moment.fraction)
        self._draw_added(painter, target, left * right, ratio)
        self._chip(painter, _product_text(left, right), at, size, self._theme.amber, ratio)

    def _draw_from(
        self,
        painter: QPainter,
        covered: QRectF,
        target: QRectF,
        left: float,
        right: float,
        moment: Moment,
        ratio: float,
    ) -> None:
        """Draw how a product goes to its sum from the edge of the place where its operands are covered."""
        if moment.motion == "line" or met(moment.fraction) < 1:
            return
        size, end = _chip_size(target), target.center()
        begin = self._edge(covered, target, self._text.width_of(_product_text(left, right), int(size)), size)
        at = begin + (end - begin) * product_place(moment.fraction)
        self._draw_added(painter, target, left * right, ratio)
        if moment.fraction < 1:  # it has been added; the store of the sum follows
            self._chip(painter, _product_text(left, right), at, size, self._theme.amber, ratio)

    def _edge(self, covered: QRectF, target: QRectF, wide: float, size: float) -> QPointF:
        """Return where a product with a text of a width comes out of a covered place."""
        end, beside = target.center(), wide / 2 + size
        return QPointF(
            min(max(end.x(), covered.left() - beside), covered.right() + beside),
            min(max(end.y(), covered.top() - size), covered.bottom() + size),
        )

    def _draw_added(self, painter: QPainter, target: QRectF, product: float, ratio: float) -> None:
        """Write the product at the corner of the sum to which it will be added, while it moves there."""
        size = target.width() * _ADDED
        if size >= _LEAST_ADDED:
            text = f"{'+' if product >= 0 else ''}{number(product)}"
            wide = self._text.width_of(text, int(size)) + size
            corner = QPointF(target.right() - wide / 2 - 2, target.bottom() - size)
            self._chip(painter, text, corner, size, self._theme.amber, ratio)

    def _chip(self, painter: QPainter, text: str, at: QPointF, size: float, colour: str, ratio: float) -> None:
        wide = self._text.width_of(text, int(size)) + size
        box = QRectF(at.x() - wide / 2, at.y() - size * 0.85, wide, size * 1.7)
        painter.setPen(QPen(QColor(self._theme.background), 1.5))
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        self._text.write_at(painter, text, ink(self._theme, rgb(colour)), int(size), at.x(), at.y(), ratio)

    def _place(self, panels: list[Panel], array: int, place: int) -> QRectF | None:
        if place < 0:
            return None
        info = self._playable.recording.arrays[array]
        drawn = int(as_drawn(info, np.array([min(int(place), info.size - 1)], np.int64))[0])
        return _cell(panels[array], drawn)


def _product_text(left: float, right: float) -> str:
    return f"{number(left)} × {number(right)} = {number(left * right)}"


def _chip_size(target: QRectF) -> float:
    return min(max(target.width() * 0.4, _LEAST_TEXT), _MOST_TEXT)


def _meeting(a: QRectF, b: QRectF, target: QRectF) -> QPointF:
    """Return where two operands meet."""
    middle: QPointF = (a.center() + b.center()) * 0.5
    return middle + (target.center() - middle) * 0.35


def _bend(begin: QRectF, middle: QPointF, target: QRectF) -> QPointF:
    """Return the point towards which an operand's way bends."""
    bend: QPointF = (begin.center() + middle) * 0.5 + QPointF(0, target.height() * 0.3)
    return bend


def _curve(begin: QRectF, middle: QPointF, target: QRectF) -> list[QPointF]:
    """Return points of an operand's way: between two of them it is nearly straight."""
    start, bend = begin.center(), _bend(begin, middle, target)
    shares = [number / _POINTS for number in range(_POINTS + 1)]
    return [start * (1 - t) ** 2 + bend * (2 * t * (1 - t)) + middle * t**2 for t in shares]


def _grown(box: QRectF) -> QRectF:
    return box.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)


def _cell(panel: Panel, drawn: int) -> QRectF:
    row, column = divmod(drawn, panel.columns)
    return QRectF(panel.x + column * panel.cell, panel.y + row * panel.cell, panel.cell, panel.cell)


def _part(path: QPainterPath, upto: float) -> QPainterPath:
    """Return the first part of a path."""
    points: npt.NDArray[np.float64] = np.linspace(0, upto, 12)
    found = QPainterPath(path.pointAtPercent(0))
    for at in points[1:].tolist():
        found.lineTo(path.pointAtPercent(min(at, 1.0)))
    return found
