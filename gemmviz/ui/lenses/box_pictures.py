"""Pictures of boxes that are drawn again and again, mostly unchanged: of a few that change, only these are painted."""

from collections import OrderedDict
from collections.abc import Callable, Hashable

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPixmap

_MOST = 1.5  # pictures have this many times the pixels of the layer, at most: those of A and B, and some more
_REPEATS = 8  # pixels of Qt's patterns
_Key = tuple[tuple[float, ...], Hashable]


class BoxPictures:
    """The pictures of the boxes of one layer.

    Attributes
    ----------
    ratio
        Device pixels per pixel; None: no pictures are kept, as for a file that keeps lines and texts.
    sight
        The part of the layer that is seen: of a box that reaches beyond it no picture is kept.
    painted
        How often a box was painted, and not copied.
    """

    def __init__(self) -> None:
        self.ratio: float | None = None
        self.sight = QRectF()
        self.painted = 0
        self._kept: OrderedDict[_Key, QPixmap] = OrderedDict()
        self._area = 0.0

    def begin(self, ratio: float | None, sight: QRectF) -> None:
        """Begin to draw the layer, with these attributes."""
        if self.ratio != ratio:
            self._kept.clear()
            self._area = 0.0
        self.ratio, self.sight = ratio, sight

    def draw(self, painter: QPainter, box: QRectF, key: Hashable, paint: Callable[[QPainter], None]) -> None:
        """Draw a box.

        Parameters
        ----------
        painter, box
            Where to.
        key
            All that it depends on, other than the box.
        paint
            Paints it with a painter: opaque, and nothing outside of the box.
        """
        ratio = self.ratio
        # Between two pixels of the screen, a copy would be blurred.
        if ratio is None or ratio != round(ratio) or not self.sight.contains(box):
            self.painted += 1
            paint(painter)
            return
        place = QRectF(box.toAlignedRect())
        # Hatching repeats: it must begin in the picture as it does in the layer.
        place.setTopLeft(QPointF(place.x() - place.x() % _REPEATS, place.y() - place.y() % _REPEATS))
        full = (box.x(), box.y(), box.width(), box.height()), key
        picture = self._kept.get(full)
        if picture is not None:
            self._kept.move_to_end(full)
        else:
            self.painted += 1
            picture = QPixmap(round(place.width() * ratio), round(place.height() * ratio))
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            with QPainter(picture) as into:
                into.setFont(painter.font())
                into.translate(-place.topLeft())
                paint(into)
            self._kept[full] = picture
            self._area += _area(place)
            while self._area > _MOST * _area(self.sight):
                self._area -= _area(self._kept.popitem(last=False)[1].deviceIndependentSize())
        painter.drawPixmap(place.topLeft(), picture)


def _area(of: QRectF | QSizeF) -> float:
    return of.width() * of.height()
