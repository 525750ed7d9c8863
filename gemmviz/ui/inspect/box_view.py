"""Draws the layout of a copy engine's box in shared memory: the row and the banks of each piece of 16 bytes."""

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.hopper.tma_activity import pieces
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.look.theme import THEMES, Theme, ink, rgb

_BANKS_OF_PIECE = 4
_WIDEST = 72.0
_APART = 6  # pixels between the names of neighbouring banks


class BoxView(QWidget):
    """The first lines of a box in shared memory; the first piece of each row stands out."""

    def __init__(self) -> None:
        super().__init__()
        self._recording: Recording | None = None
        self._number = 0
        self._write = False
        self._theme: Theme = THEMES["dark"]
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Box in shared memory: pieces of 16 bytes by bank"))

    def show_box(self, playable: Playable, number: int, write: bool, theme: Theme) -> None:
        """Draw a box that is read from its matrix or written to shared memory (`write`), or the other way round."""
        self._recording, self._number, self._write, self._theme = playable.recording, number, write, theme
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def forget(self) -> None:
        """Let go of the box."""
        self._recording = None

    def sizeHint(self) -> QSize:
        """Ask for eight lines and the banks above them."""
        return QSize(320, int(9 * self._line() + 6))

    def _line(self) -> float:
        return QFontMetricsF(self.font()).height() + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines."""
        recording, theme, line = self._recording, self._theme, self._line()
        if recording is None or recording.boxes.array[self._number] < 0:
            return
        with QPainter(self) as painter:
            metrics = QFontMetricsF(self.font())
            stands = pieces(recording, self._number)
            names = [self._row_name(stands[i]) for i in range(len(stands))]
            left = 8 + max(metrics.horizontalAdvance(name) for name in [*names, tr("bank")])
            wide = min((self.width() - left - 12) / stands.shape[1], _WIDEST)
            banks = [
                f"{first}–{first + _BANKS_OF_PIECE - 1}"
                for first in range(0, stands.shape[1] * _BANKS_OF_PIECE, _BANKS_OF_PIECE)
            ]
            if max(map(metrics.horizontalAdvance, banks)) + _APART > wide:
                banks = [name.partition("–")[0] for name in banks]  # the first bank of each piece
            painter.setPen(QColor(theme.muted))
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, 2, left, line), right, tr("bank"))
            for place, name in enumerate(banks):
                painter.drawText(QRectF(left + 6 + place * wide, 2, wide, line), Qt.AlignmentFlag.AlignCenter, name)
            for i, name in enumerate(names):
                top = 2 + (i + 1) * line
                painter.setPen(QColor(theme.muted))
                painter.drawText(QRectF(0, top, left, line), right, name)
                for place, (row, piece) in enumerate(stands[i].tolist()):
                    if row >= 0:
                        self._draw_piece(painter, QRectF(left + 6 + place * wide, top, wide - 2, line - 1), piece)

    def _row_name(self, line: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
        rows = distinct(line[line[:, 0] >= 0, 0])
        if not len(rows):
            return ""
        if len(rows) == 1:
            return tr("row {number}", number=int(rows[0]))
        return tr("rows {numbers}", numbers=f"{rows[0]}–{rows[-1]}")

    def _draw_piece(self, painter: QPainter, box: QRectF, piece: int) -> None:
        theme = self._theme
        colour = theme.write if self._write else theme.read
        if piece == 0:
            painter.fillRect(box, QColor(colour))
            painter.setPen(QColor(ink(theme, rgb(colour))))
        else:
            painter.fillRect(box, QColor(theme.raised))
            painter.setPen(QPen(QColor(theme.text)))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(piece))
