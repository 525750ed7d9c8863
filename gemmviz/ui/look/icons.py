"""The transport's icons, drawn as polygons: the fonts of many machines lack these characters."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

_SIZE = 32
# Bars as (x, width), triangles as (base, tip), in sixteenths of the icon.
_SHAPES: dict[str, tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]] = {
    "play": ((), ((4, 14),)),
    "pause": (((4, 3), (9, 3)), ()),
    "forward": (((10, 2),), ((4, 10),)),
    "back": (((4, 2),), ((12, 6),)),
    "phase_on": ((), ((2, 8), (8, 14))),
    "phase_back": ((), ((8, 2), (14, 8))),
    "start": (((2, 2),), ((9, 4), (14, 9))),
    "end": (((12, 2),), ((2, 7), (7, 12))),
}


def icon(name: str, colour: str) -> QIcon:
    """Return the icon called `name` (a key of the table, or ``"loop"``) in one colour."""
    pixmap = QPixmap(_SIZE, _SIZE)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(_SIZE / 16, _SIZE / 16)
        if name == "loop":
            pen = QPen(QColor(colour), 1.8)
            painter.setPen(pen)
            path = QPainterPath()
            box = QRectF(3, 3, 10, 10)
            path.arcMoveTo(box, 50)
            path.arcTo(box, 50, 290)
            painter.drawPath(path)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawPolygon(QPolygonF([QPointF(9.6, 6.2), QPointF(14.6, 7.4), QPointF(14.4, 2.2)]))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            bars, triangles = _SHAPES[name]
            for x, width in bars:
                painter.drawRect(QRectF(x, 3, width, 10))
            for base, tip in triangles:
                painter.drawPolygon(QPolygonF([QPointF(base, 3), QPointF(base, 13), QPointF(tip, 8)]))
    return QIcon(pixmap)
