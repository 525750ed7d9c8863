"""Lines over the cells, each from the size on from which it helps: blocks, warps within one, stages, single cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from gemmviz.catalogue.matrices import C
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.scene import Panel, stages

CELL_LINES = 8.0
"""Below this width of a cell, in pixels, the lines would take more of it than they leave."""
_AREA_LINES = {"block": 8.0, "warp": 16.0}
_WARP_CELLS = 3.0
_PEN = 4.0  # more than half the width of the widest pen, in pixels


class Borders:
    """The lines of one recording in one theme; they are worked out anew when the view changes.

    Parameters
    ----------
    recording, theme
        The recording, and its colours.
    """

    def __init__(self, recording: Recording, theme: Theme) -> None:
        self._theme, self._arrays = theme, recording.arrays
        block, thread = recording.owners
        self._areas: dict[str, _Edges] = {}
        if recording.backend == "cuda":
            if recording.blocks > 1:
                self._areas["block"] = _edges(block)
            if recording.threads > WARP:
                warps = -(-recording.threads // WARP)
                inside = np.where(block >= 0, block * warps + thread // WARP, -1)
                self._areas["warp"] = _edges(inside, but=block)
        self._kept: tuple[Any, list[tuple[QPointF, QPixmap]]] | None = None

    def draw(self, painter: QPainter, placed: list[Panel], seen: QRectF, ratio: float | None = None) -> None:
        """Draw the lines of all panels within the visible part.

        Parameters
        ----------
        painter, placed, seen
            Where to, where the arrays stand, and which part of it is not covered.
        ratio
            Device pixels per pixel, for pictures that are kept; None: draw lines as lines.
        """
        # Between two pixels of the screen, a picture would be blurred. The lines are opaque and have sharp edges.
        if ratio is None or ratio != round(ratio):
            for panel in placed:
                self._draw_lines(painter, panel, seen)
            return
        key = [(p.x, p.y, p.cell) for p in placed], seen, ratio
        if self._kept is None or self._kept[0] != key:
            self._kept = key, [self._picture(panel, seen, ratio) for panel in placed]
        for at, picture in self._kept[1]:
            if not picture.isNull():
                painter.drawPixmap(at, picture)

    def _draw_lines(self, painter: QPainter, panel: Panel, seen: QRectF) -> None:
        for pen, lines in self._of(panel, seen):
            painter.setPen(pen)
            painter.drawLines(lines)

    def _picture(self, panel: Panel, seen: QRectF, ratio: float) -> tuple[QPointF, QPixmap]:
        """Return the lines of a panel as a picture, and the place of its corner."""
        whole = QRectF(panel.x, panel.y, panel.width, panel.height).intersected(seen)
        box = QRectF(whole.adjusted(-_PEN, -_PEN, _PEN, _PEN).toAlignedRect())
        if whole.isEmpty() or not any(lines for _, lines in self._of(panel, seen)):
            return box.topLeft(), QPixmap()
        picture = QPixmap(round(box.width() * ratio), round(box.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        into = QPainter(picture)
        into.translate(-box.topLeft())
        self._draw_lines(into, panel, seen)
        into.end()
        return box.topLeft(), picture

    def _of(self, panel: Panel, seen: QRectF) -> list[tuple[QPen, list[QLineF]]]:
        found = []
        if panel.cell >= CELL_LINES:
            pen = QPen(QColor(self._theme.grid), 1 if panel.cell < 40 else 1.5)
            found.append((pen, self._cell_lines(panel, seen)))
        if panel.array != C:
            count = stages(self._arrays[panel.array])
            rows = [panel.rows // count * stage for stage in range(1, count)]
            pen = QPen(QColor(self._theme.background), 2 if panel.cell < CELL_LINES else 4)
            return [*found, (pen, [line(panel, 0, row, panel.columns, row) for row in rows])] if rows else found
        for name in ("warp", "block"):
            edges = self._areas.get(name)
            if edges is None or edges.size * panel.cell < _AREA_LINES[name]:
                continue
            if name == "warp" and panel.cell < _WARP_CELLS:
                continue
            colour = self._theme.background if name == "warp" else self._theme.text
            lines = [line(panel, *edge) for edge in edges.lines]
            found.append((QPen(QColor(colour), 2.0 if name == "warp" else 1.4), [x for x in lines if _near(x, seen)]))
        return found

    def _cell_lines(self, panel: Panel, seen: QRectF) -> list[QLineF]:
        left, right = max(panel.x, seen.left()), min(panel.x + panel.width, seen.right())
        top, bottom = max(panel.y, seen.top()), min(panel.y + panel.height, seen.bottom())
        if left >= right or top >= bottom:
            return []
        xs = (panel.x + i * panel.cell for i in range(panel.columns + 1))
        ys = (panel.y + i * panel.cell for i in range(panel.rows + 1))
        lines = [QLineF(x, top, x, bottom) for x in xs if left <= x <= right]
        return lines + [QLineF(left, y, right, y) for y in ys if top <= y <= bottom]


@dataclass(frozen=True)
class _Edges:
    """Lines between neighbours that differ, in cells: (x1, y1, x2, y2), and about how far apart they stand."""

    lines: list[tuple[int, int, int, int]]
    size: float


def _edges(owner: Any, but: Any = None) -> _Edges:
    """Return the lines between neighbours with different owners; not those where `but` differs, too.

    Areas are nearly always rectangles: each row of borders is merged into the longest lines.
    """
    lines: list[tuple[int, int, int, int]] = []
    distances = []
    for vertical in (False, True):
        matrix, other = (m.T if vertical else m for m in (owner, owner if but is None else but))
        differ = matrix[1:] != matrix[:-1]
        distances.append(len(matrix) / (int(differ.any(axis=1).sum()) + 1))
        if but is not None:
            differ &= other[1:] == other[:-1]
        ends = np.diff(np.pad(differ, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        (row, begin), end = np.nonzero(ends == 1), np.nonzero(ends == -1)[1]
        at = row + 1
        columns = (at, begin, at, end) if vertical else (begin, at, end, at)
        lines += zip(*(column.tolist() for column in columns), strict=True)
    return _Edges(lines, min(distances))


def outline(inside: Any) -> list[tuple[int, int, int, int]]:
    """Return the lines around the cells that are set in a matrix, in cells: (x1, y1, x2, y2)."""
    around = np.pad(inside, 1).astype(np.int8)
    return [(x1 - 1, y1 - 1, x2 - 1, y2 - 1) for x1, y1, x2, y2 in _edges(around).lines]


def line(panel: Panel, x1: int, y1: int, x2: int, y2: int) -> QLineF:
    """Return a line given in cells of a panel, in pixels."""
    cell = panel.cell
    return QLineF(panel.x + x1 * cell, panel.y + y1 * cell, panel.x + x2 * cell, panel.y + y2 * cell)


def _near(edge: QLineF, seen: QRectF) -> bool:
    return (
        min(edge.x1(), edge.x2()) <= seen.right()
        and max(edge.x1(), edge.x2()) >= seen.left()
        and min(edge.y1(), edge.y2()) <= seen.bottom()
        and max(edge.y1(), edge.y2()) >= seen.top()
    )
