"""The owners of C where warpgroups multiply, and of the parts that threads of a CPU write: outlines and names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.borders import line, outline
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_LEGIBLE = 14.0  # from this width of a cell on, values stand in the cells
_LARGE = 18.0  # and are large enough that they need each cell

Edges = list[tuple[int, int, int, int]]


class Sums:
    """The owners of C of one recording in one theme; nothing if neither warpgroups nor a CPU's threads divide it.

    Parameters
    ----------
    playable, theme
        The recording, and its colours.
    """

    def __init__(self, playable: Playable, theme: Theme) -> None:
        self._playable, self._theme = playable, theme
        self._kept: tuple[Any, list[tuple[int, Edges, tuple[int, int, int, int]]]] | None = None
        recording = playable.recording
        self._threads = recording.backend != "cuda" and recording.threads > 1

    def draw(
        self,
        painter: QPainter,
        placed: list[Panel],
        seen: QRectF,
        moment: Moment,
        font: QFont,
        taken: Sequence[QRectF] = (),
    ) -> None:
        """Outline and name the elements of each warpgroup of the chosen block, or of each thread of a CPU.

        Parameters
        ----------
        painter, placed, seen
            Where to, where the arrays stand, and which part of it is not covered.
        moment
            The step, and the choice.
        font
            Of the names.
        taken
            Places that the names leave free.
        """
        known, panel = self._playable.warpgroups, placed[C]
        if not known.count and not self._threads:
            return
        tiles = tuple(known.tile(moment.step, moment.block, group) for group in range(known.count))
        key = moment.block, tiles
        if self._kept is None or self._kept[0] != key:
            found = [(g, known.held(tile)) for g, tile in enumerate(tiles) if tile >= 0]
            self._kept = key, [_part(*part) for part in (self._of_threads() if self._threads else found)]
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.text), 1.5))
        for _, edges, _ in self._kept[1]:
            painter.drawLines([line(panel, *edge) for edge in edges])
        if panel.cell < (_LARGE if self._threads else _LEGIBLE) and (moment.cell is None or moment.cell[0] != C):
            for group, _, area in self._kept[1]:
                self._name(painter, panel, seen, group, area, font, taken)
        painter.restore()

    def _of_threads(self) -> list[tuple[int, Any]]:
        """Return each thread that wrote one rectangle of C last, with a matrix of its elements."""
        thread = self._playable.recording.owners[1]
        parts = [(int(number), thread == number) for number in distinct(thread[thread >= 0])]
        return [part for part in parts if np.outer(part[1].any(axis=1), part[1].any(axis=0)).sum() == part[1].sum()]

    def _name(
        self,
        painter: QPainter,
        panel: Panel,
        seen: QRectF,
        group: int,
        area: tuple[int, int, int, int],
        font: QFont,
        taken: Sequence[QRectF],
    ) -> None:
        """Write an owner's name into the middle of its elements, or below another text, if there is room."""
        top, bottom, left, right = (side * panel.cell for side in area)
        box = QRectF(panel.x + left, panel.y + top, right - left, bottom - top).intersected(seen)
        metrics = QFontMetricsF(font)
        high = metrics.height() * 1.15
        names = (tr("warpgroup {number}", number=group), tr("group {number}", number=group), str(group))
        for text in (tr("thread {thread}", thread=group), str(group)) if self._threads else names:
            wide = metrics.horizontalAdvance(text) + metrics.height() * 0.8
            if wide <= box.width() and high <= box.height():
                break
        else:
            return
        label = QRectF(box.center().x() - wide / 2, box.center().y() - high / 2, wide, high)
        for other in taken:
            if other.intersects(label):
                label.moveTop(other.bottom() + 2)
                if label.bottom() > box.bottom():
                    label.moveBottom(other.top() - 2)
                if label.top() < box.top():
                    return
        painter.fillRect(label, QColor(self._theme.background))
        painter.setPen(QPen(QColor(self._theme.text), 1))
        painter.drawRect(label)
        painter.setFont(font)
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)


def _part(owner: int, held: Any) -> tuple[int, Edges, tuple[int, int, int, int]]:
    """Return an owner, the lines around its elements, and their bounds: (top, bottom, left, right), in cells."""
    rows, columns = np.flatnonzero(held.any(axis=1)), np.flatnonzero(held.any(axis=0))
    area = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    return owner, outline(held), area
