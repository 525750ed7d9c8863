"""A multiply-add of the chosen thread, and the ring round elements that the next step stores."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gemmviz.catalogue.matrices import C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.motion.gestures import met, product_place, share
from gemmviz.trace.motion.products import AddedProducts
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme, ink, rgb
from gemmviz.ui.stage.accessed_cells import as_drawn, covered
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.cell_text import CellText
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

MOST_CHIPS = 4
"""Of more products that one thread completes at a step, only the cells are lit."""
_LEAST_CELL, _CHIP_CELL = 8.0, 14.0
_DOT = 0.34  # of a cell
_LEAST_TEXT, _MOST_TEXT = 11.0, 22.0
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
        self, painter: QPainter, panels: list[Panel], moment: Moment, ratio: float, covered: QRectF | None = None
    ) -> None:
        """Draw the chosen thread's products, and rings round the elements that the next step stores.

        Parameters
        ----------
        painter, panels, ratio
            The painter, the places of the arrays, and device pixels per pixel.
        moment
            The moment, with the chosen thread and the amount of motion.
        covered
            Where a lens stands on the shared tiles: a product of operands below it comes out at its edge.
        """
        if moment.motion == "none":
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_rings(painter, panels[C], moment)
        products = self.products(moment)
        if products is not None and panels[C].cell >= _LEAST_CELL:
            self._draw_products(painter, panels, products, moment, ratio, covered)
        painter.restore()

    def _draw_rings(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Let a ring fade in round the cells of C that the next step writes."""
        timeline, after = self._playable.timeline, moment.step + 1
        if moment.fraction <= 0 or after >= timeline.steps or panel.cell < _LEAST_CELL:
            return
        if int(timeline.array[after]) != C or not timeline.write[after]:
            return
        cells, _ = covered(self._playable, C, timeline.rows(after))
        painter.setOpacity(float(share(moment.fraction, 0.0, 1.0)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.write), max(1.5, panel.cell / 14)))
        painter.drawRects([_cell(panel, int(cell)).adjusted(1.5, 1.5, -1.5, -1.5) for cell in distinct(cells)])
        painter.setOpacity(1.0)

    def _draw_products(
        self,
        painter: QPainter,
        panels: list[Panel],
        products: AddedProducts,
        moment: Moment,
        ratio: float,
        covered: QRectF | None,
    ) -> None:
        n = self._playable.recording.n
        targets = [
            _cell(panels[C], int(element // n) * panels[C].columns + int(element % n)) for element in products.element
        ]
        first = [self._place(panels, a, p) for a, p in zip(products.a_array, products.a_place, strict=True)]
        second = [self._place(panels, a, p) for a, p in zip(products.b_array, products.b_place, strict=True)]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.read), 2.5))
        painter.drawRects(list({(b.x(), b.y()): b for b in (*first, *second) if b is not None}.values()))
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
        middle: QPointF = (a.center() + b.center()) * 0.5
        middle += (target.center() - middle) * 0.35
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.read), 2))
        if moment.motion == "line":
            for begin in (a, b):
                painter.drawLine(begin.center(), target.center())
            return
        together = met(moment.fraction)
        for begin in (a, b):
            path = QPainterPath(begin.center())
            path.quadTo((begin.center() + middle) * 0.5 + QPointF(0, target.height() * 0.3), middle)
            painter.setOpacity(1 - 0.5 * product_place(moment.fraction))
            painter.drawPath(_part(path, together))
        painter.setOpacity(1.0)
        size = min(max(target.width() * 0.4, _LEAST_TEXT), _MOST_TEXT)
        if together < 1:
            for begin, value in ((a, left), (b, right)):
                at = begin.center() + (middle - begin.center()) * together
                self._chip(painter, number(value), at, size, self._theme.read, ratio)
            return
        at = middle + (target.center() - middle) * product_place(moment.fraction)
        self._draw_added(painter, target, left * right, ratio)
        self._chip(painter, _product_text(left, right), at, size, self._theme.write, ratio)

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
        size, end = min(max(target.width() * 0.4, _LEAST_TEXT), _MOST_TEXT), target.center()
        wide = self._text.width_of(_product_text(left, right), int(size)) / 2 + size
        begin = QPointF(
            min(max(end.x(), covered.left() - wide), covered.right() + wide),
            min(max(end.y(), covered.top() - size), covered.bottom() + size),
        )
        at = begin + (end - begin) * product_place(moment.fraction)
        self._draw_added(painter, target, left * right, ratio)
        self._chip(painter, _product_text(left, right), at, size, self._theme.write, ratio)

    def _draw_added(self, painter: QPainter, target: QRectF, product: float, ratio: float) -> None:
        """Write the product at the corner of the sum to which it will be added, while it moves there."""
        size = target.width() * _ADDED
        if size >= _LEAST_ADDED:
            text = f"{'+' if product >= 0 else ''}{number(product)}"
            wide = self._text.width_of(text, int(size)) + size
            corner = QPointF(target.right() - wide / 2 - 2, target.bottom() - size)
            self._chip(painter, text, corner, size, self._theme.write, ratio)

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
