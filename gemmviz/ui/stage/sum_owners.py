"""The owners of the sums of C where warpgroups multiply: the part of the current tile that each warpgroup holds."""

from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.borders import line, outline
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_LEGIBLE = 14.0  # from this width of a cell on, values stand in the cells

Edges = list[tuple[int, int, int, int]]


class Sums:
    """The owners of the sums of one recording in one theme; nothing if no warpgroup multiplies.

    Parameters
    ----------
    playable, theme
        The recording, and its colours.
    """

    def __init__(self, playable: Playable, theme: Theme) -> None:
        self._playable, self._theme = playable, theme
        self._kept: tuple[Any, list[tuple[int, Edges, tuple[int, int, int, int]]]] | None = None

    def draw(self, painter: QPainter, placed: list[Panel], seen: QRectF, moment: Moment, font: QFont) -> None:
        """Outline and name the elements of each warpgroup of the chosen block.

        Parameters
        ----------
        painter, placed, seen
            Where to, where the arrays stand, and which part of it is not covered.
        moment
            The step, and the choice.
        font
            Of the names.
        """
        known, panel = self._playable.warpgroups, placed[C]
        if not known.count:
            return
        tiles = tuple(known.tile(moment.step, moment.block, group) for group in range(known.count))
        key = moment.block, tiles
        if self._kept is None or self._kept[0] != key:
            self._kept = key, [self._held(g, tile) for g, tile in enumerate(tiles) if tile >= 0]
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.text), 1.5))
        for _, edges, _ in self._kept[1]:
            painter.drawLines([line(panel, *edge) for edge in edges])
        if panel.cell < _LEGIBLE and (moment.cell is None or moment.cell[0] != C):
            for group, _, area in self._kept[1]:
                self._name(painter, panel, seen, group, area, font)
        painter.restore()

    def _held(self, group: int, tile: int) -> tuple[int, Edges, tuple[int, int, int, int]]:
        """Return a warpgroup, the lines around its elements, and its bounds: (top, bottom, left, right), in cells."""
        held = self._playable.warpgroups.held(tile)
        rows, columns = np.flatnonzero(held.any(axis=1)), np.flatnonzero(held.any(axis=0))
        area = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        return group, outline(held), area

    def _name(
        self, painter: QPainter, panel: Panel, seen: QRectF, group: int, area: tuple[int, int, int, int], font: QFont
    ) -> None:
        """Write a warpgroup's name into the middle of its elements, as long as there is room for it."""
        top, bottom, left, right = (side * panel.cell for side in area)
        box = QRectF(panel.x + left, panel.y + top, right - left, bottom - top).intersected(seen)
        metrics = QFontMetricsF(font)
        high = metrics.height() * 1.15
        for text in (tr("warpgroup {number}", number=group), tr("group {number}", number=group), str(group)):
            wide = metrics.horizontalAdvance(text) + metrics.height() * 0.8
            if wide <= box.width() and high <= box.height():
                break
        else:
            return
        label = QRectF(box.center().x() - wide / 2, box.center().y() - high / 2, wide, high)
        painter.fillRect(label, QColor(self._theme.background))
        painter.setPen(QPen(QColor(self._theme.text), 1))
        painter.drawRect(label)
        painter.setFont(font)
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)
