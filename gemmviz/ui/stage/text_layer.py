"""The texts of an array's cells as one picture: where few of them change, only these are written anew."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gemmviz.ui.stage.cell_values import Part
from gemmviz.ui.stage.scene import Panel

_PATCHED, _WORTH_KEEPING = 0.5, 0.25  # of the cells, at most: those that change in a picture, and before one is made
Cell = tuple[int, int]


@dataclass(frozen=True)
class Content:
    """All that the texts of some cells depend on.

    Attributes
    ----------
    place
        All that the places and sizes of the texts depend on.
    cells
        Per cell, row by row, whatever decides its text.
    alone
        Whether no text leaves its cell.
    """

    place: Any
    cells: list[Any]
    alone: bool


@dataclass
class TextLayer:
    """The picture of one array's texts.

    Attributes
    ----------
    written
        How often all cells, and how often single cells were written into a picture.
    """

    written: int = 0
    _shown: Content | None = None
    _picture: QPixmap | None = field(default=None, repr=False)
    _outside: Content | None = None
    """A content some of whose texts leave their cells: in its place a picture would be given up at the next change."""

    def draw(
        self,
        painter: QPainter,
        panel: Panel,
        part: Part,
        content: Content,
        ratio: float,
        write: Callable[[QPainter, list[Cell] | None], object],
        stay_inside: Callable[[list[Cell] | None], bool],
    ) -> None:
        """Draw the texts.

        Parameters
        ----------
        painter, panel, part
            Where to, the array, and its cells.
        content
            All that they depend on.
        ratio
            Device pixels per pixel.
        write
            Writes some cells, given as (row, column), or all, with a painter.
        stay_inside
            Says whether the texts that were written into some cells, or into all, leave a pixel at each of their edges.
        """
        before, self._shown = self._shown, content
        if before is None or before.place != content.place:
            self._picture = None
            write(painter, None)
            return
        pairs = enumerate(zip(before.cells, content.cells, strict=True))
        changed = [i for i, (old, new) in pairs if old != new] if content is not before else []
        # Between two pixels of the screen, the edge of a cell cannot be cleared without its neighbour's.
        alone = content.alone and before.alone and ratio == round(ratio)
        share = len(changed) / max(len(content.cells), 1)
        corner = QPointF(int(panel.x + part[1].start * panel.cell), int(panel.y + part[0].start * panel.cell))
        if self._picture is not None and changed:
            if alone and share <= _PATCHED:
                cells = self._patch(self._picture, panel, part, changed, corner, write)
                self._check(content, stay_inside(cells))
            else:
                self._picture = None
        elif self._picture is None and (not changed or (alone and share <= _WORTH_KEEPING and self._fits(content))):
            self._picture = _clear(panel, part, ratio)
            self._write_into(self._picture, corner, write, None)
            if changed:
                self._check(content, stay_inside(None))
        if self._picture is None:
            write(painter, None)
        else:
            painter.drawPixmap(corner, self._picture)

    def _check(self, content: Content, inside: bool) -> None:
        """Give the picture up if a part of it could not be written anew."""
        if not inside:
            self._picture, self._outside = None, content

    def _fits(self, content: Content) -> bool:
        return self._outside is None or self._outside.place != content.place

    def _patch(
        self,
        picture: QPixmap,
        panel: Panel,
        part: Part,
        changed: list[int],
        corner: QPointF,
        write: Callable[[QPainter, list[Cell] | None], object],
    ) -> list[Cell]:
        """Write some cells of a picture anew; return them."""
        wide = part[1].stop - part[1].start
        cells = [(part[0].start + i // wide, part[1].start + i % wide) for i in changed]
        with QPainter(picture) as into:
            into.translate(-corner)
            into.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            for row, column in cells:
                x, y = panel.x + column * panel.cell, panel.y + row * panel.cell
                left, top, right, bottom = ceil(x), ceil(y), floor(x + panel.cell), floor(y + panel.cell)
                into.fillRect(left, top, right - left, bottom - top, Qt.GlobalColor.transparent)
        self._write_into(picture, corner, write, cells)
        return cells

    def _write_into(
        self,
        picture: QPixmap,
        corner: QPointF,
        write: Callable[[QPainter, list[Cell] | None], object],
        cells: list[Cell] | None,
    ) -> None:
        with QPainter(picture) as into:
            into.translate(-corner)
            write(into, cells)
        self.written += 1 if cells is None else len(cells)


def _clear(panel: Panel, part: Part, ratio: float) -> QPixmap:
    """Return a clear picture, one cell larger than a part of an array."""
    high, wide = ((side.stop - side.start + 1) * panel.cell for side in part)
    made = QPixmap(ceil(wide * ratio), ceil(high * ratio))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    return made
