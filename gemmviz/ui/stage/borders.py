"""Lines over the cells, each from the size on from which it helps: blocks, warps within one, stages, single cells."""

from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

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
        self._seen: Any = None
        self._kept: tuple[Any, list[tuple[int, _Lines]]] | None = None

    def draw(
        self,
        painter: QPainter,
        placed: list[Panel],
        seen: QRectF,
        ratio: float | None = None,
        only: list[Panel] | None = None,
    ) -> None:
        """Draw the lines of panels within the visible part.

        Parameters
        ----------
        painter, placed, seen
            Where to, where the arrays stand, and which part of it is not covered.
        ratio
            Device pixels per pixel; None: draw lines as lines.
        only
            Some of these arrays; None: all.
        """
        key = [(p.x, p.y, p.cell) for p in placed], seen, ratio
        # The picture takes longer than the lines of one frame: only a view that stays is worth it.
        stays, self._seen = key == self._seen, key
        if ratio is None or not stays:
            for panel in placed if only is None else only:
                for pen, lines in self._of(panel, seen):
                    painter.setPen(pen)
                    painter.drawLines(lines)
            return
        if self._kept is None or self._kept[0] != key:
            parts = [(panel.array, part) for panel in placed for part in self._of(panel, seen) if part[1]]
            self._kept = key, [(array, _Lines(pen, lines, ratio)) for array, (pen, lines) in parts]
        wanted = None if only is None else {panel.array for panel in only}
        for array, part in self._kept[1]:
            if wanted is None or array in wanted:
                part.draw(painter)

    def _of(self, panel: Panel, seen: QRectF) -> list[tuple[QPen, list[QLineF]]]:
        found = []
        if panel.cell >= CELL_LINES:
            pen = QPen(QColor(self._theme.grid), 1 if panel.cell < 40 else 1.5)
            found.append((pen, self._cell_lines(panel, seen)))
        if panel.array != C:
            info = self._arrays[panel.array]
            count = stages(info)
            lines = [line(panel, 0, at, panel.columns, at) for at in range(0, panel.rows, panel.rows // count)[1:]]
            if info.panels:
                lines = [line(panel, at, 0, at, panel.rows) for at in range(0, panel.columns, info.shape[2])[1:]]
            pen = QPen(QColor(self._theme.background), 2 if panel.cell < CELL_LINES else 4)
            return [*found, (pen, lines)] if lines else found
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


class _Lines:
    """Horizontal and vertical lines of one pen, as the rectangles of pixels that they cover, which are drawn faster.

    Parameters
    ----------
    pen, lines
        The lines, with sharp edges.
    ratio
        Device pixels per pixel.
    """

    def __init__(self, pen: QPen, lines: list[QLineF], ratio: float) -> None:
        self._pen, self._lines = pen, lines
        self._rects = [_covered(one, pen.widthF()) for one in lines] if ratio == 1 else []
        # A pixel whose middle is exactly on an edge may be Qt's or not.
        if self._rects and self._picture(rects=True) != self._picture(rects=False):
            self._rects = []

    def draw(self, painter: QPainter, rects: bool = True) -> None:
        """Draw them."""
        if rects and self._rects:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._pen.color())
            painter.drawRects(self._rects)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.setPen(self._pen)
            painter.drawLines(self._lines)

    def _picture(self, rects: bool) -> QImage:
        xs = [x for one in self._lines for x in (one.x1(), one.x2())]
        ys = [y for one in self._lines for y in (one.y1(), one.y2())]
        box = QRectF(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
        inside = box.adjusted(-_PEN, -_PEN, _PEN, _PEN).toAlignedRect()
        picture = QImage(inside.size(), QImage.Format.Format_RGB32)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as into:
            into.translate(-inside.topLeft())
            self.draw(into, rects)
        return picture


def _covered(one: QLineF, wide: float) -> QRect:
    """Return the pixels that a horizontal or vertical line covers: those whose middle is in it."""
    left, right, top, bottom = *sorted((one.x1(), one.x2())), *sorted((one.y1(), one.y2()))
    if wide == 1:  # the pixels of both ends, and all between them
        x, y = floor(left), floor(top)
        return QRect(x, y, floor(right) + 1 - x, floor(bottom) + 1 - y)
    half = wide / 2  # beyond the ends, too
    x, y = ceil(left - half - 0.5), ceil(top - half - 0.5)
    return QRect(x, y, ceil(right + half - 0.5) - x, ceil(bottom + half - 0.5) - y)


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
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows):
        return []
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    part = inside[top:bottom, left:right]
    if part.all():
        return [(left, top, right, top), (left, bottom, right, bottom)] + [(x, top, x, bottom) for x in (left, right)]
    around = np.zeros((bottom - top + 2, right - left + 2), np.int8)
    around[1:-1, 1:-1] = part
    x, y = left - 1, top - 1
    return [(x + x1, y + y1, x + x2, y + y2) for x1, y1, x2, y2 in _edges(around).lines]


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
