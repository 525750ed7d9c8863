"""Asynchronous copies in flight: where they are going is hatched, what they read is marked, until they arrive."""

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from gemmviz.trace.playable import Playable
from gemmviz.trace.requests import Ints
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.touched import covered
from gemmviz.ui.theme import Theme

_SMALLEST_HATCHED = 4.0
_MOST = 4096
# Stripes grow with the cell: (from this width in pixels, stripes to the middle of the cell).
_STRIPES = ((28.0, 3), (12.0, 2), (0.0, 1))


def draw(painter: QPainter, panels: list[Panel], moment: Moment, playable: Playable, theme: Theme, font: QFont) -> None:
    """Mark the copies of the chosen block that are under way after the moment's step.

    Parameters
    ----------
    painter, panels
        Where to, and where the arrays stand.
    moment, playable
        When, of what.
    theme, font
        As for all overlays; nothing is written here.
    """
    if not len(playable.recording.accesses.copies) or not playable.timeline.steps:
        return
    found = playable.flights.at(moment.step, moment.block)
    if not len(found):
        return
    painter.setBrush(Qt.BrushStyle.NoBrush)
    log = playable.recording.accesses
    read, write = playable.flights.read[found], playable.flights.write[found]
    read = read[read >= 0]
    for panel in panels:
        going = write[log.array[write] == panel.array]
        coming = read[log.array[read] == panel.array]
        if len(going):
            _draw_target(painter, panel, _cells(playable, panel, going), theme)
        if len(coming):
            _draw_source(painter, panel, _cells(playable, panel, coming), theme)


def _cells(playable: Playable, panel: Panel, rows: Ints) -> list[QRectF]:
    cells = np.unique(covered(playable, panel.array, rows)[0])[:_MOST].tolist()
    side = panel.cell
    return [QRectF(panel.x + c % panel.columns * side, panel.y + c // panel.columns * side, side, side) for c in cells]


def _draw_target(painter: QPainter, panel: Panel, cells: list[QRectF], theme: Theme) -> None:
    """Hatch the cells that will be written; where there is no room for stripes, frame them."""
    painter.setPen(QPen(QColor(theme.write), max(1.0, panel.cell / 18)))
    if panel.cell < _SMALLEST_HATCHED:
        painter.drawRects(cells)
        return
    painter.drawLines([line for cell in cells for line in hatching(cell)])


def _draw_source(painter: QPainter, panel: Panel, cells: list[QRectF], theme: Theme) -> None:
    """Mark what the copies read: a corner of the cell is cut off."""
    painter.setPen(QPen(QColor(theme.write), max(1.0, panel.cell / 12)))
    part = panel.cell * 0.4
    lines = [QLineF(c.left() + 1, c.top() + part, c.left() + part, c.top() + 1) for c in cells]
    painter.drawLines(lines if panel.cell >= _SMALLEST_HATCHED else [])


def hatching(box: QRectF) -> list[QLineF]:
    """Return stripes across a box, from lower left to upper right."""
    side, lines = min(box.width(), box.height()), []
    stripes = next(count for width, count in _STRIPES if side >= width)
    for number in range(1, 2 * stripes):
        reach = side * number / stripes
        inside = min(reach, side)
        beyond = reach - inside
        lines.append(QLineF(box.left() + beyond, box.top() + inside, box.left() + inside, box.top() + beyond))
    return lines
