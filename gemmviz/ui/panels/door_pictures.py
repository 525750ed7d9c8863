"""The picture of the second door: the sectors that a warp moves when its lanes read a column, and when a row."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr, trn
from gemmviz.session.models.preferences import Preferences
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES, sectors
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES

_FLOAT, _ROW = 4, 4096
"""Bytes of a value, and values in a row of the matrix: any row of more than a sector gives the same picture."""
_MARGIN, _TYPE, _USUAL = 12, 11, 220  # pixels, at a scale of type of 1: the last one is a usual height
_LINE = 1.5  # heights of the type
_SAID_FROM = 4.2  # lines: the height from which a sentence stands below the sectors
_DOT = 0.36  # of the width of a lane
_APART, _LEAST_FILL = 2.5, 2.5  # pixels between sectors; the least width of the bytes that a lane asks for


def type_px(picture: QWidget) -> float:
    """Return the size of type of a door's picture in pixels: it grows with a picture that is higher than usual."""
    return scaled(_TYPE) * max(1.0, picture.height() / scaled(_USUAL))


class SectorsPicture(QWidget):
    """Draws 32 lanes and the sectors that they touch, twice: a value of each row, and neighbours of one row.

    Parameters
    ----------
    preferences
        Have the theme and the size of type.
    """

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        listen(self, preferences.themed, self._on_theme)

    def _on_theme(self) -> None:
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for no width: the door decides."""
        return QSize(1, round(scaled(10 * _TYPE)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw both reads, one below the other."""
        theme = THEMES[self._preferences.theme]
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), QColor(theme.background))
            margin = scaled(_MARGIN)
            inside = QRectF(self.rect()).adjusted(margin, margin, -margin, -margin)
            half = (inside.height() - margin) / 2
            lanes = np.arange(WARP, dtype=np.int64)
            for number, (name, start) in enumerate(
                (
                    (tr("naive: {access}", access="A[lane][k]"), lanes * _ROW * _FLOAT),
                    (tr("better: {access}", access="B[k][lane]"), lanes * _FLOAT),
                )
            ):
                place = QRectF(inside.left(), inside.top() + number * (half + margin), inside.width(), half)
                self._draw(painter, place, name, start)

    def _draw(self, painter: QPainter, place: QRectF, name: str, start: npt.NDArray[np.int64]) -> None:
        """Draw one request: its name and cost, a dot per lane, its sectors with the bytes asked for, their number."""
        theme = THEMES[self._preferences.theme]
        one, lanes = np.zeros(WARP, np.int64), np.arange(WARP, dtype=np.int64)
        units, least = (int(found[0]) for found in sectors(one, lanes, start, np.full(WARP, _FLOAT, np.int64), 1))
        colour = QColor(theme.write if units > least else theme.read)
        font = QFont(self.font())
        font.setPixelSize(round(type_px(self)))
        painter.setFont(font)
        line = _LINE * painter.fontMetrics().height()
        top = QRectF(place.left(), place.top(), place.width(), line)
        painter.setPen(QColor(theme.muted))
        painter.drawText(top, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        font.setBold(True)
        font.setPixelSize(round(type_px(self) * 1.35))
        painter.setFont(font)
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
        font.setBold(False)
        font.setPixelSize(round(type_px(self)))
        painter.setFont(font)
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
