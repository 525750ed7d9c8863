"""The picture of the second door: the sectors that a warp moves when its lanes read a column, and when a row."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gemmviz.language import tr, trn
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES, sectors
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.panels.door_picture import DoorPicture

_FLOAT, _ROW = 4, 4096
"""Bytes of a value, and values in a row of the matrix: any row of more than a sector gives the same picture."""
_LINE = 1.5  # heights of the type
_SAID_FROM = 4.2  # lines: the height from which a sentence stands below the sectors
_DOT = 0.36  # of the width of a lane
_APART, _LEAST_FILL = 2.5, 2.5  # pixels between sectors; the least width of the bytes that a lane asks for


class SectorsPicture(DoorPicture):
    """Draws 32 lanes and the sectors that they touch, twice: a value of each row, and neighbours of one row."""

    def _draw(self, painter: QPainter, inside: QRectF, margin: float) -> None:
        half = (inside.height() - margin) / 2
        lanes = np.arange(WARP, dtype=np.int64)
        for number, (name, start) in enumerate(
            (
                (tr("naive: {access}", access="A[lane][k]"), lanes * _ROW * _FLOAT),
                (tr("better: {access}", access="B[k][lane]"), lanes * _FLOAT),
            )
        ):
            place = QRectF(inside.left(), inside.top() + number * (half + margin), inside.width(), half)
            self._draw_request(painter, place, name, start)

    def _draw_request(self, painter: QPainter, place: QRectF, name: str, start: npt.NDArray[np.int64]) -> None:
        """Draw one request: its name and cost, a dot per lane, its sectors with the bytes asked for, their number."""
        theme = self._theme
        one, lanes = np.zeros(WARP, np.int64), np.arange(WARP, dtype=np.int64)
        units, least = (int(found[0]) for found in sectors(one, lanes, start, np.full(WARP, _FLOAT, np.int64), 1))
        colour = QColor(theme.write if units > least else theme.read)
        painter.setFont(self._type())
        line = _LINE * painter.fontMetrics().height()
        top = QRectF(place.left(), place.top(), place.width(), line)
        painter.setPen(QColor(theme.muted))
        painter.drawText(top, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(self._type(1.35, bold=True))
        painter.setPen(colour)
        figure = trn("{count} sector", "{count} sectors", units)
        painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, figure)
        step = place.width() / WARP
        radius = _DOT * step
        y = top.bottom() + radius + 2
        sector = start // SECTOR_BYTES
        touched = distinct(sector)
        # In a low picture the room is for the lines from the lanes to their sectors.
        said = place.height() >= _SAID_FROM * line
        below = QRectF(place.left(), place.bottom() - line * said, place.width(), line)
        wide, high = place.width() / len(touched), min((below.top() - y) * 0.5, 3 * line)
        box_top = below.top() - high
        used = WARP * _FLOAT // len(touched)
        painter.setFont(self._type())
        painter.setPen(QColor(theme.muted))
        text = tr("each box: a sector of {bytes} bytes, {used} of them used", bytes=SECTOR_BYTES, used=used)
        if said:
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, text)
        for at, number in enumerate(touched.tolist()):
            box = QRectF(place.left() + at * wide + 0.5, box_top, wide - _APART, high)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            for byte in (start[sector == number] % SECTOR_BYTES).tolist():
                part = box.width() / SECTOR_BYTES
                painter.drawRect(
                    QRectF(box.left() + byte * part, box.top(), max(_FLOAT * part - 0.6, _LEAST_FILL), high)
                )
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 1))
            painter.drawRect(box)
        for lane in range(WARP):
            x = place.left() + (lane + 0.5) * step
            at = int(np.searchsorted(touched, sector[lane]))
            byte = (int(start[lane]) % SECTOR_BYTES + _FLOAT / 2) / SECTOR_BYTES
            painter.setPen(QPen(colour, 1))
            painter.drawLine(QPointF(x, y), QPointF(place.left() + (at + byte) * wide, box_top))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x, y), radius, radius)
