"""The background with all labels as one picture, which stays until the view changes."""

from collections.abc import Callable
from math import ceil
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPixmap, QRegion

from gemmviz.ui.stage.kept_picture import fits
from gemmviz.ui.stage.regions import box, boxes
from gemmviz.ui.stage.scene import Panel


class LabelLayer:
    """The picture of one stage.

    Parameters
    ----------
    background
        Its colour.
    """

    def __init__(self, background: str) -> None:
        self._background = background
        self._kept: tuple[Any, QPixmap, list[tuple[QRectF, QRectF]]] | None = None
        self.spare: QPixmap | None = None
        """A picture that is not drawn any more: see `gemmviz.ui.stage.kept_picture.KeptPicture.spare`."""

    def draw(
        self,
        painter: QPainter,
        rect: QRectF,
        seen: QRectF,
        placed: list[Panel],
        key: Any,
        ratio: float,
        write: Callable[[QPainter], object],
        part: QRegion | None = None,
    ) -> None:
        """Draw the background and the labels; the cells will cover the rest.

        Parameters
        ----------
        painter, rect
            Where to.
        seen, placed
            The part for labels, and the places of the arrays in it.
        key
            All that the labels depend on, other than `ratio`.
        ratio
            Device pixels per pixel.
        write
            Writes the labels with a painter.
        part
            The part of `rect` that has to be drawn; None: all of it.
        """
        if self._kept is None or self._kept[0] != (key, ratio):
            width, height = ceil(rect.width() * ratio), ceil(rect.height() * ratio)
            pixmap, self.spare = self.let_go(), None
            if pixmap is None or not fits(pixmap, width, height, ratio):
                pixmap = QPixmap(width, height)
                pixmap.setDevicePixelRatio(ratio)
            # With the background, so that the picture is a copy of it and not a mixture with it.
            pixmap.fill(QColor(self._background))
            with QPainter(pixmap) as into:
                into.setClipRect(seen.translated(-rect.topLeft()))
                write(into)
            # A large picture costs memory: the part below the cells is left out.
            uncovered = QRegion(rect.toAlignedRect())
            for panel in placed:
                inside = box(panel.place).intersected(seen)
                uncovered -= QRegion(inside.adjusted(1, 1, -1, -1).toRect())
            parts = []
            for piece in boxes(uncovered):
                whole = QRectF(piece).intersected(rect)
                at = whole.translated(-rect.topLeft())
                parts.append((whole, QRectF(at.x() * ratio, at.y() * ratio, at.width() * ratio, at.height() * ratio)))
            self._kept = (key, ratio), pixmap, parts
        for place, source in self._kept[2]:
            if part is None or part.intersects(place.toAlignedRect()):
                painter.drawPixmap(place, self._kept[1], source)

    def let_go(self) -> QPixmap | None:
        """Keep no picture any more, and return one to paint over."""
        kept, self._kept = self._kept, None
        return kept[1] if kept is not None else self.spare
