"""Marks over the cells at a step: accesses, sectors, the tiles held, wrong elements, the chosen cell."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.accesses import Array
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.accessed_cells import AccessedCells
from gemmviz.ui.stage.borders import line, outline
from gemmviz.ui.stage.colours import Colours
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.related import Related
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.wrong_marks import WrongMarks

_MOST_OUTLINES = 600
_MOST_SECTORS = 64
_SMALLEST_FRAMED = 2.0
_SMALLEST_OUTLINED = 9.0
_OUTLINED_EACH = 24.0
"""From this width in pixels on, each accessed cell has a frame; of smaller cells, their area has one."""


class Marks:
    """The marks of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and its colours.
    touched, colours
        Its accesses, and the values of its cells.
    """

    def __init__(self, playable: Playable, theme: Theme, touched: AccessedCells, colours: Colours) -> None:
        self.playable, self.theme, self.touched, self._colours = playable, theme, touched, colours
        self._owner = playable.recording.owners[0]
        self._outlines: dict[int, tuple[Any, int, list[tuple[int, int, int, int]]]] = {}
        self._lines: dict[int, tuple[list[tuple[int, int, int, int]], Panel, list[QLineF]]] = {}
        self._areas: dict[int, tuple[Ints, list[tuple[int, int, int, int]]]] = {}
        self._misread: tuple[tuple[int, int], Any] | None = None
        self._wrong: tuple[int, Any] | None = None
        self._wrong_marks = {index: WrongMarks(theme) for index in range(len(playable.recording.arrays))}

    def draw(
        self,
        painter: QPainter,
        placed: list[Panel],
        seen: QRectF,
        moment: Moment,
        near: Related | None = None,
        only: list[Panel] | None = None,
    ) -> None:
        """Draw all marks.

        Parameters
        ----------
        painter
            Where to.
        placed
            The panels: A, B, C, then shared arrays.
        seen
            The part of the stage that is not covered, in pixels.
        moment
            The step, and the choice.
        near
            The cells that belong to the choice; None: nothing is chosen.
        only
            The panels whose marks are drawn, apart from those of the chosen cell; None: all.
        """
        painter.setBrush(Qt.BrushStyle.NoBrush)
        timeline = self.playable.timeline
        accessed = int(timeline.array[moment.step]) if timeline.steps else -1
        for panel in placed if only is None else only:
            if not QRectF(panel.x, panel.y, panel.width, panel.height).intersects(seen):
                continue
            self._draw_held(painter, panel, moment)
            if panel.array == accessed:
                self._draw_sectors(painter, panel, moment)
                self._draw_accesses(painter, panel, moment)
            self._draw_wrong(painter, panel, seen, moment)
            if panel.array == accessed:
                self._draw_misread(painter, panel, seen, moment)
        if near is not None and moment.cell is not None and moment.cell[0] == C:
            for panel in placed if only is None else only:
                self._draw_operands(painter, panel, near)
        for panel in placed:
            self._draw_selection(painter, panel, placed, moment)

    def _draw_held(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Outline the tile of A or B that the chosen block holds in shared memory, and the block itself in C."""
        edges = self._outline(panel, moment)
        if not edges:
            return
        kept = self._lines.get(panel.array)
        # The list of edges is the same object as long as they are the same.
        if kept is None or kept[0] is not edges or kept[1] != panel:
            kept = self._lines[panel.array] = edges, panel, [line(panel, *edge) for edge in edges]
        painter.setPen(QPen(QColor(self.theme.selection), 2, Qt.PenStyle.DashLine))
        painter.drawLines(kept[2])

    def _outline(self, panel: Panel, moment: Moment) -> list[tuple[int, int, int, int]]:
        """Return the lines around the chosen block's tiles, in cells; found again only when they changed."""
        if panel.array > C or (panel.array == C and self.playable.recording.blocks < 2):
            return []
        held = None if panel.array == C else self._colours.held(panel.array, moment.step, moment.block)
        kept = self._outlines.get(panel.array)
        # The tiles are the same array object as long as they are the same.
        if kept is None or kept[0] is not held or kept[1] != moment.block:
            inside = self._owner == moment.block
            if held is not None:
                inside = np.zeros((panel.rows, panel.columns), bool)
                inside.reshape(-1)[held] = True
            kept = self._outlines[panel.array] = held, moment.block, outline(inside)
        return kept[2]

    def _draw_sectors(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Frame the sectors that the chosen warp moves at this step."""
        moved = self.touched.sectors(panel.array, moment.step, moment.block, moment.warp)
        if not len(moved) or panel.cell < _SMALLEST_FRAMED:
            return
        info = self.playable.recording.arrays[panel.array]
        colour = self.theme.write if self.playable.timeline.write[moment.step] else self.theme.read
        painter.setPen(QPen(QColor(colour), 1.5))
        painter.drawRects(list(self._sector_boxes(panel, moved[:_MOST_SECTORS], info)))

    def _sector_boxes(self, panel: Panel, sectors: Any, info: Array) -> Iterator[QRectF]:
        """Yield the places of sectors, given by their elements: one that goes on in the next row has two."""
        r, c = info.cells(sectors)
        row = c if info.column_major else r
        whole = (sectors[:, -1] < info.size) & (row[:, 0] == row[:, -1])
        for i in range(len(sectors)):
            if whole[i]:
                yield _box(panel, r[i], c[i])
                continue
            inside = sectors[i] < info.size
            for number in distinct(row[i][inside]):
                here = inside & (row[i] == number)
                yield _box(panel, r[i][here], c[i][here])

    def _draw_accesses(self, painter: QPainter, panel: Panel, moment: Moment) -> None:
        """Outline the cells accessed at this step, small ones as one area: thin for a read, thick for a write.

        Written cells that keep their hue have amber rings.
        """
        playable = self.playable
        if panel.cell < _SMALLEST_OUTLINED:
            return
        info = playable.recording.arrays[panel.array]
        block = moment.block if info.space == "shared" else None
        cells = self.touched.at(panel.array, moment.step, block)
        if not 0 < len(cells) <= _MOST_OUTLINES:
            return
        is_write = bool(playable.timeline.write[moment.step])
        width = min(2.6, panel.cell / 9) if is_write else min(1.4, panel.cell / 14)
        pen = QPen(QColor(self.theme.write if is_write and moment.rings(panel.cell) else self.theme.text), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        if panel.cell < _OUTLINED_EACH:
            painter.drawLines([line(panel, *edge) for edge in self._area(panel, cells)])
            return
        inset = width / 2 + 0.5
        side = panel.cell - 2 * inset
        painter.drawRects(
            [
                QRectF(panel.x + column * panel.cell + inset, panel.y + row * panel.cell + inset, side, side)
                for row, column in (divmod(cell, panel.columns) for cell in cells.tolist())
            ]
        )

    def _area(self, panel: Panel, cells: Ints) -> list[tuple[int, int, int, int]]:
        """Return the lines around accessed cells, in cells; found again only when they changed."""
        kept = self._areas.get(panel.array)
        # The cells of a step are the same array object as long as it is remembered.
        if kept is None or kept[0] is not cells:
            inside = np.zeros((panel.rows, panel.columns), bool)
            inside.reshape(-1)[cells] = True
            kept = self._areas[panel.array] = cells, outline(inside)
        return kept[1]

    def _draw_wrong(self, painter: QPainter, panel: Panel, seen: QRectF, moment: Moment) -> None:
        """Mark the elements of C that are wrong and stay so."""
        if panel.array != C or not self.playable.recording.wrong:
            return
        count = self.playable.wrong_at(moment.step)
        if self._wrong is None or self._wrong[0] != count:
            self._wrong = count, self.playable.wrong_from <= moment.step
        if count:
            self._wrong_marks[C].draw(painter, panel, self._wrong[1], seen, count)

    def _draw_misread(self, painter: QPainter, panel: Panel, seen: QRectF, moment: Moment) -> None:
        """Mark the shared cells whose value differs from the one that a read of this step got."""
        if panel.array <= C:
            return
        key = moment.step, moment.block
        if self._misread is None or self._misread[0] != key:
            self._misread = key, distinct(self.playable.stale_reads(*key).element)
        lost = self._misread[1]
        if len(lost):
            wrong = np.zeros((panel.rows, panel.columns), bool)
            wrong[self.playable.recording.arrays[panel.array].cells(lost)] = True
            self._wrong_marks[panel.array].draw(painter, panel, wrong, seen, key)

    def _draw_selection(self, painter: QPainter, panel: Panel, placed: list[Panel], moment: Moment) -> None:
        if moment.cell is None or moment.cell[0] != panel.array:
            return
        info = self.playable.recording.arrays[panel.array]
        row, column = info.cells(np.array([moment.cell[1]]))
        pen = QPen(QColor(self.theme.selection), 2)
        if panel.array == C:
            a, b = placed[A], placed[B]
            painter.setPen(pen)
            painter.drawRect(QRectF(a.x, a.y + int(row[0]) * a.cell, a.width, a.cell))
            painter.drawRect(QRectF(b.x + int(column[0]) * b.cell, b.y, b.cell, b.height))
        pen.setWidthF(3)
        painter.setPen(pen)
        painter.drawRect(_box(panel, row, column))

    def _draw_operands(self, painter: QPainter, panel: Panel, near: Related) -> None:
        """Outline the row or the column of a shared tile from which the chosen element of C is computed."""
        cells = near.cells.get(panel.array)
        if panel.array <= C or cells is None or len(cells) < 2:
            return
        rows, columns = divmod(cells, panel.columns)
        ends = (rows.min(), rows.max()), (columns.min(), columns.max())
        if min(last - first for first, last in ends) == 0 and sum(last - first for first, last in ends) < len(cells):
            painter.setPen(QPen(QColor(self.theme.selection), 2))
            painter.drawRect(_box(panel, *ends))


def _box(panel: Panel, rows: Any, columns: Any) -> QRectF:
    """Return the place of cells that follow each other in a row or a column."""
    (top, bottom), (left, right) = sorted((int(rows[0]), int(rows[-1]))), sorted((int(columns[0]), int(columns[-1])))
    x, y = panel.x + left * panel.cell, panel.y + top * panel.cell
    return QRectF(x, y, (right - left + 1) * panel.cell, (bottom - top + 1) * panel.cell)


def crossed(box: QRectF) -> list[QLineF]:
    """Return the two lines that cross a box out."""
    inner = box.adjusted(box.width() / 8, box.height() / 8, -box.width() / 8, -box.height() / 8)
    return [QLineF(inner.topLeft(), inner.bottomRight()), QLineF(inner.topRight(), inner.bottomLeft())]
