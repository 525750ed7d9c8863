"""Marks over cells with a wrong value: a corner each, or where cells are small an outline around all of them.

The cells are tinted as well, see `gemmviz.ui.stage.colours`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.borders import line, outline
from gemmviz.ui.stage.scene import Panel

_SMALLEST_CORNER = 9.0
"""Pixels: the side of the smallest cell that gets a corner of its own."""
_CORNER, _LARGEST_CORNER = 0.34, 20.0
"""Side of the corner: in sides of the cell, and at most in pixels."""
_MOST_EDGES = 400
"""An outline with more sides of cells than this is a pattern that hides the cells."""
_OUTLINE = 1.6  # pixels

Wrong = npt.NDArray[np.bool_]


class WrongMarks:
    """Draws the marks of one panel; they are made anew only when the view or the wrong cells change.

    Parameters
    ----------
    theme
        The colours.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._corners: tuple[Any, QPainterPath] | None = None
        self._edges: tuple[Any, list[tuple[int, int, int, int]]] | None = None

    def draw(self, painter: QPainter, panel: Panel, wrong: Wrong, seen: QRectF, key: object) -> None:
        """Mark the cells with a wrong value.

        Parameters
        ----------
        painter, panel
            Where to.
        wrong
            Whether each cell is wrong: as many rows and columns as the panel has.
        seen
            The part of the stage that can be seen, in pixels.
        key
            Equal as long as `wrong` is the same.
        """
        if panel.cell < _SMALLEST_CORNER:
            self._draw_outline(painter, panel, wrong, key)
            return
        whole = key, panel.x, panel.y, panel.cell, seen.getRect()
        if self._corners is None or self._corners[0] != whole:
            self._corners = whole, _corners(panel, wrong, seen)
        painter.setPen(QPen(QColor(self._theme.background), min(panel.cell / 20, 2.0)))
        painter.setBrush(QColor(self._theme.bad))
        painter.drawPath(self._corners[1])
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_outline(self, painter: QPainter, panel: Panel, wrong: Wrong, key: object) -> None:
        if self._edges is None or self._edges[0] != key:
            self._edges = key, _edges(wrong)
        painter.setPen(QPen(QColor(self._theme.bad), _OUTLINE))
        painter.drawLines([line(panel, *edge) for edge in self._edges[1]])


def corner(box: QRectF) -> QPolygonF:
    """Return the triangle in the upper right corner of a box that marks a wrong value."""
    side = min(_CORNER * box.width(), _LARGEST_CORNER)
    right, top = box.right(), box.top()
    return QPolygonF([QPointF(right - side, top), QPointF(right, top), QPointF(right, top + side)])


def _corners(panel: Panel, wrong: Wrong, seen: QRectF) -> QPainterPath:
    """Return the corners of the wrong cells that can be seen."""
    top, bottom = _range(seen.top() - panel.y, seen.bottom() - panel.y, panel.cell)
    left, right = _range(seen.left() - panel.x, seen.right() - panel.x, panel.cell)
    path = QPainterPath()
    for row, column in np.argwhere(wrong[top:bottom, left:right]).tolist():
        x, y = panel.x + (left + column) * panel.cell, panel.y + (top + row) * panel.cell
        path.addPolygon(corner(QRectF(x, y, panel.cell, panel.cell)))
        path.closeSubpath()
    return path


def _range(first: float, last: float, cell: float) -> tuple[int, int]:
    """Return the first and the end of the cells between two places, in pixels."""
    return max(int(first // cell), 0), max(int(last // cell) + 1, 0)


def _edges(wrong: Wrong) -> list[tuple[int, int, int, int]]:
    """Return the outline of the wrong cells, or where that is long the smallest rectangle around all of them."""
    sides = np.count_nonzero(wrong[1:] != wrong[:-1]) + np.count_nonzero(wrong[:, 1:] != wrong[:, :-1])
    if sides <= _MOST_EDGES:
        return outline(wrong)
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    return [
        (left, top, right, top),
        (left, bottom, right, bottom),
        (left, top, left, bottom),
        (right, top, right, bottom),
    ]
