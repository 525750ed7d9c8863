"""The elements of C that a thread owns: a frame around each of them, and a tint on those of its warp."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gemmviz.catalogue.matrices import C
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.borders import line, outline
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_FRAMED = 4.0  # from this width of a cell on there are frames; smaller elements are dots
_SMALLEST_DOT = 2.0
_LINE = 2.5
_TINT = 0.13
_AROUND = 2.0  # the dashed line around its block

Mask = npt.NDArray[np.bool_]


def owned(playable: Playable, row: int, column: int) -> tuple[Mask, Mask]:
    """Return the elements of C that an element's thread owns, and those of its warp, as recorded: two masks m x n.

    Parameters
    ----------
    playable
        The recording.
    row, column
        The element; if it is never written, both masks are empty.
    """
    block, thread = playable.recording.owners
    owner, number = int(block[row, column]), int(thread[row, column])
    if owner < 0:
        return np.zeros(block.shape, bool), np.zeros(block.shape, bool)
    mine = block == owner
    of_thread = mine & (thread == number)
    if playable.warpgroups.count:
        # A value that was stored through shared memory was in the registers of another thread.
        of_thread = np.zeros(block.shape, bool)
        of_thread.ravel()[playable.warpgroups.of_thread(row, column)] = True
    if playable.recording.backend != "cuda":
        return of_thread, of_thread
    return of_thread, mine & (thread // WARP == number // WARP)


@dataclass(frozen=True)
class _Owned:
    """The elements that belong to the thread of an element of C.

    Attributes
    ----------
    block
        Its block.
    edges, cells
        The lines around the thread's elements, in cells; and these elements, counted by rows.
    runs
        The other elements of its warp: (row, first column, the one after the last).
    around
        The lines around its block, in cells.
    """

    block: int
    edges: list[tuple[int, int, int, int]]
    cells: list[int]
    runs: list[tuple[int, int, int]]
    around: list[tuple[int, int, int, int]]


class Ownership:
    """Draws the elements that the thread of an element owns, for one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    """

    def __init__(self, playable: Playable, theme: Theme) -> None:
        self._playable, self._theme = playable, theme
        self._kept: tuple[int, _Owned] | None = None
        self._lines: tuple[list[tuple[int, int, int, int]], Panel, list[QLineF]] | None = None

    def draw(self, painter: QPainter, panel: Panel, seen: QRectF, moment: Moment) -> None:
        """Draw it for the element under the pointer, else for the chosen one.

        Parameters
        ----------
        painter, panel, seen
            Where to, where C stands, and which part of the stage is not covered.
        moment
            The elements.
        """
        element = moment.hovered
        if element is None and moment.cell is not None and moment.cell[0] == C:
            row, column = (int(v[0]) for v in self._playable.recording.arrays[C].cells(np.array([moment.cell[1]])))
            element = row * panel.columns + column
        if element is None:
            return
        if self._kept is None or self._kept[0] != element:
            self._kept = element, self._look_up(element, panel.columns)
        found = self._kept[1]
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        tint = QColor(self._theme.selection)
        tint.setAlphaF(_TINT)
        side = panel.cell
        for row, begin, end in found.runs:
            box = QRectF(panel.x + begin * side, panel.y + row * side, (end - begin) * side, side).intersected(seen)
            painter.fillRect(box, tint)
        if found.block != moment.block:  # the chosen block has its line already
            painter.setPen(QPen(QColor(self._theme.selection), _AROUND, Qt.PenStyle.DashLine))
            painter.drawLines([line(panel, *edge) for edge in found.around])
        if side < _FRAMED:
            self._draw_dots(painter, panel, found.cells)
        else:
            # The list of edges is the same object as long as they are the same.
            if self._lines is None or self._lines[0] is not found.edges or self._lines[1] != panel:
                self._lines = found.edges, panel, [line(panel, *edge) for edge in found.edges]
            lines = self._lines[2]
            painter.setPen(QPen(QColor(self._theme.background), _LINE + 2))
            painter.drawLines(lines)
            painter.setPen(QPen(QColor(self._theme.selection), _LINE))
            painter.drawLines(lines)
        painter.restore()

    def _draw_dots(self, painter: QPainter, panel: Panel, cells: list[int]) -> None:
        dot = max(panel.cell, _SMALLEST_DOT)
        for cell in cells:
            row, column = divmod(cell, panel.columns)
            x, y = panel.x + (column + 0.5) * panel.cell, panel.y + (row + 0.5) * panel.cell
            painter.fillRect(QRectF(x - dot / 2, y - dot / 2, dot, dot), QColor(self._theme.selection))

    def _look_up(self, element: int, columns: int) -> _Owned:
        of_thread, of_warp = owned(self._playable, *divmod(element, columns))
        recording = self._playable.recording
        blocks, cells = recording.owners[0], np.flatnonzero(of_thread).tolist()
        block = int(blocks.flat[element])
        around = outline(blocks == block) if block >= 0 and recording.blocks > 1 else []
        return _Owned(block, outline(of_thread), cells, _runs(of_warp & ~of_thread), around)


def _runs(mask: Mask) -> list[tuple[int, int, int]]:
    """Return the stretches that are set, row by row: (row, first column, the one after the last)."""
    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, begins = np.nonzero(steps == 1)
    _, ends = np.nonzero(steps == -1)
    return list(zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True))
