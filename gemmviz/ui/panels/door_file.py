"""The picture of the third door: a file with a kernel, and C, whose elements are checked."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gemmviz.language import tr
from gemmviz.ui.panels.door_picture import DoorPicture

_FILE = "my_kernel.cu"
_LINES = ((0.0, 0.8), (0.0, 1.0), (0.1, 0.75), (0.1, 0.65), (0.1, 0.9), (0.2, 0.85), (0.1, 0.5), (0.0, 0.06))
"""Where each line of the drawn file begins and ends, in widths."""
_READS = (0, 4, 5)
"""The lines of the drawn file that stand out."""
_CELLS = 4


class FilePicture(DoorPicture):
    """Draws a file at the left, an arrow, the four blocks of C at the right, and a text below C."""

    def _draw(self, painter: QPainter, inside: QRectF, margin: float) -> None:
        painter.setFont(self._type())
        line = 1.5 * painter.fontMetrics().height()
        sheet = QRectF(inside.left(), inside.top(), 0.52 * inside.width(), inside.height())
        self._draw_file(painter, sheet, line)
        side = min(0.3 * inside.width(), inside.height() - line)
        cells = QRectF(inside.right() - side, inside.center().y() - (side + line) / 2, side, side)
        self._draw_arrow(painter, sheet.right() + margin, cells.left() - margin, cells.center().y())
        self._draw_cells(painter, cells)
        below = QRectF(cells.center().x() - side, cells.bottom(), 2 * side, line)
        below.setRight(inside.right() + margin)
        below.setLeft(2 * cells.center().x() - below.right())
        painter.setPen(QColor(self._theme.good))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, tr("✓ C checked"))

    def _draw_file(self, painter: QPainter, sheet: QRectF, line: float) -> None:
        theme = self._theme
        painter.setPen(QPen(QColor(theme.outline), 1))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(sheet, 6, 6)
        head = QRectF(sheet.left() + 8, sheet.top(), sheet.width() - 16, 1.2 * line)
        painter.setPen(QColor(theme.muted))
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, _FILE)
        step = (sheet.bottom() - head.bottom() - 6) / len(_LINES)
        painter.setPen(Qt.PenStyle.NoPen)
        for number, (begin, end) in enumerate(_LINES):
            painter.setBrush(QColor(theme.read if number in _READS else theme.outline))
            left, wide = head.left() + begin * head.width(), (end - begin) * head.width()
            high = max(min(0.35 * step, 5.0), 2.0)
            painter.drawRoundedRect(QRectF(left, head.bottom() + number * step, wide, high), 2, 2)

    def _draw_arrow(self, painter: QPainter, left: float, right: float, y: float) -> None:
        colour, tip = QColor(self._theme.accent), 6.0
        painter.setPen(QPen(colour, 2))
        painter.drawLine(QPointF(left, y), QPointF(right - tip, y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(
            QPolygonF([QPointF(right - tip, y - tip), QPointF(right, y), QPointF(right - tip, y + tip)])
        )

    def _draw_cells(self, painter: QPainter, place: QRectF) -> None:
        theme, cell = self._theme, place.width() / _CELLS
        painter.setPen(QPen(QColor(theme.background), 2))
        for row in range(_CELLS):
            for column in range(_CELLS):
                # Four blocks, as on the stage: each has the hue of an owner.
                painter.setBrush(QColor(*theme.owner(column // 2, row // 2)))
                painter.drawRect(QRectF(place.left() + column * cell, place.top() + row * cell, cell, cell))
