"""Asynchronous copies in flight: their destination is hatched, their source is marked, until they arrive.

Cells side by side are hatched as one rectangle, so that all copies are seen however many there are and however small.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.accessed_cells import covered
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

Cells = tuple[int, int, int, int]
_SMALLEST_MARKED = 4.0
_SMALLEST_CUT = 12.0
"""From this width in pixels on, the corner of each cell that is read is cut off; smaller cells have one frame."""
_LEAST_PITCH = 4.0  # pixels from one stripe to the next, where cells are smaller
_MOST_CORNERS = 4096  # visible cells: of more, only their outlines are drawn
_KEPT = 8
_KEPT_BOXES = 64  # some hundred lines each
# Stripes grow with the cell: (from this width in pixels, stripes to the middle of the cell).
_STRIPES = ((28.0, 3), (12.0, 2), (0.0, 1))


@dataclass(frozen=True)
class _Flying:
    """Copies that are under way: the rows that write and read, and by array the rectangles of cells, once looked up."""

    write: Ints
    read: Ints
    areas: dict[int, tuple[list[Cells], list[Cells]]] = field(default_factory=dict)


class InFlight:
    """The copies of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and its colours.
    """

    def __init__(self, playable: Playable, theme: Theme) -> None:
        self._playable, self._theme = playable, theme
        self._changes: dict[int, Ints] = {}
        self._kept: OrderedDict[tuple[int, int], _Flying] = OrderedDict()

    def draw(self, painter: QPainter, panels: list[Panel], seen: QRectF, moment: Moment) -> None:
        """Mark the copies of the chosen block that are under way after the moment's step.

        Parameters
        ----------
        painter, panels, seen
            The target, the places of the arrays, and the part that is not covered.
        moment
            The step, and the block.
        """
        if not len(self._playable.async_copies.issued):
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for panel in panels:
            going, coming = self.areas(moment, panel.array)
            self._draw_targets(painter, panel, going, seen)
            self._draw_sources(painter, panel, coming, seen)

    def state(self, step: int, block: int) -> int:
        """Return a number that changes with the copies of a block that are under way."""
        if not len(self._playable.async_copies.issued):
            return 0
        return int(np.searchsorted(self._changes_of(block), step, side="right"))

    def _changes_of(self, block: int) -> Ints:
        """Return the steps at which the copies of a block that are under way change, ascending."""
        if block not in self._changes:
            flights = self._playable.async_copies
            mine = slice(*np.searchsorted(flights.block, (block, block + 1)).tolist())
            self._changes[block] = distinct(np.concatenate([flights.issued[mine], flights.arrived[mine]]))
        return self._changes[block]

    def areas(self, moment: Moment, array: int) -> tuple[list[Cells], list[Cells]]:
        """Return the rectangles of an array's cells that copies are going to, and those that they read."""
        key = moment.block, self.state(moment.step, moment.block)
        if key not in self._kept:
            copies = self._playable.async_copies
            found = copies.at(moment.step, moment.block)
            write, read = copies.write[found], copies.read[found]
            self._kept[key] = _Flying(write, read[read >= 0])
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        flying = self._kept[key]
        if array not in flying.areas:
            of = self._playable.recording.accesses.array
            write, read = (rows[of[rows] == array] for rows in (flying.write, flying.read))
            flying.areas[array] = self._merged(array, write), self._merged(array, read)
        return flying.areas[array]

    def _merged(self, array: int, rows: Ints) -> list[Cells]:
        """Return the cells that accesses cover as rectangles."""
        if not len(rows):
            return []
        info = self._playable.recording.arrays[array]
        inside = np.zeros(info.grid, bool)
        inside.reshape(-1)[covered(self._playable, array, rows)[0]] = True
        return rectangles(inside)

    def _draw_targets(self, painter: QPainter, panel: Panel, areas: list[Cells], seen: QRectF) -> None:
        """Hatch the cells that will be written, and frame them where they are too small to be distinguished."""
        painter.setPen(QPen(QColor(self._theme.write), max(1.0, panel.cell / 18)))
        boxes = _in_sight(panel, areas, seen)
        pitch = _pitch(panel.cell)
        painter.drawLines([line for box in boxes for line in hatching(box, pitch)])
        if panel.cell < _SMALLEST_MARKED:
            painter.drawRects(boxes)

    def _draw_sources(self, painter: QPainter, panel: Panel, areas: list[Cells], seen: QRectF) -> None:
        """Mark the cells that the copies read: a corner of each is cut off; of small cells, all are framed."""
        side, boxes = panel.cell, _in_sight(panel, areas, seen)
        count = sum(box.width() * box.height() for box in boxes) / side**2
        if side < _SMALLEST_CUT or count > _MOST_CORNERS:
            painter.setPen(QPen(QColor(self._theme.write), 1.5, Qt.PenStyle.DotLine))
            painter.drawRects(boxes)
            return
        painter.setPen(QPen(QColor(self._theme.write), max(1.0, side / 12)))
        part, lines = side * 0.4, []
        for box in boxes:
            for i in range(round(box.height() / side)):
                for j in range(round(box.width() / side)):
                    x, y = box.left() + j * side, box.top() + i * side
                    lines.append(QLineF(x + 1, y + part, x + part, y + 1))
        painter.drawLines(lines)


def _in_sight(panel: Panel, areas: list[Cells], seen: QRectF) -> list[QRectF]:
    """Return rectangles of cells in pixels, whole cells of them that are not out of sight."""
    side = panel.cell
    first_row, end_row = (int(np.floor((seen.top() - panel.y) / side)), int(np.ceil((seen.bottom() - panel.y) / side)))
    first, end = (int(np.floor((seen.left() - panel.x) / side)), int(np.ceil((seen.right() - panel.x) / side)))
    boxes = []
    for top, bottom, left, right in areas:
        top, bottom, left, right = max(top, first_row), min(bottom, end_row), max(left, first), min(right, end)
        if top < bottom and left < right:
            at = panel.x + left * side, panel.y + top * side
            boxes.append(QRectF(*at, (right - left) * side, (bottom - top) * side))
    return boxes


def rectangles(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[Cells]:
    """Cut the cells that are set in a matrix into rectangles: (top, bottom, left, right), the ends not included.

    Runs in a row become one, and equal rows that follow each other.
    """
    changed = np.append(True, (inside[1:] != inside[:-1]).any(axis=1))
    tops = np.flatnonzero(changed)
    found: list[Cells] = []
    for top, bottom in zip(tops.tolist(), np.append(tops[1:], len(inside)).tolist(), strict=True):
        ends = np.diff(inside[top].astype(np.int8), prepend=0, append=0)
        lefts, rights = np.flatnonzero(ends == 1).tolist(), np.flatnonzero(ends == -1).tolist()
        found += [(top, bottom, left, right) for left, right in zip(lefts, rights, strict=True)]
    return found


def _pitch(cell: float) -> float:
    """Return how far apart stripes stand over cells of a width, in pixels: the same in every cell."""
    if cell < _LEAST_PITCH:
        return _LEAST_PITCH
    return cell / next(count for width, count in _STRIPES if cell >= width)


def hatching(box: QRectF, pitch: float | None = None) -> list[QLineF]:
    """Return stripes across a box, from lower left to upper right.

    Parameters
    ----------
    box
        The rectangle to hatch, in pixels.
    pitch
        How far apart the stripes begin at the edges; by default as in a cell of that size.
    """
    wide, high = box.width(), box.height()
    return _stripes(box.left(), box.top(), wide, high, pitch or _pitch(min(wide, high)))


@lru_cache(_KEPT_BOXES)
def _stripes(left: float, top: float, wide: float, high: float, pitch: float) -> list[QLineF]:
    """Return the stripes of `hatching`; kept, as copies go to the same few boxes again and again."""
    lines = []
    for number in range(1, round((wide + high) / pitch)):
        reach = number * pitch
        begin, end = max(reach - high, 0.0), min(reach, wide)
        lines.append(QLineF(left + begin, top + reach - begin, left + end, top + reach - end))
    return lines
