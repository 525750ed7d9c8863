"""Draws the fragments of a warp: which lane holds which element of A, B and the sums."""

from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.trace.origin.fragments import Fragment
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.steady_scroll import steady_width
from gemmviz.ui.look.theme import THEMES, Rgb, Theme, ink, rgb

_LARGEST_CELL, _LEGIBLE_CELL, _SMALLEST_TYPE_PX = 26.0, 12.0, 6
_TYPE = 0.66  # of a cell's side
_GAP = 0.6  # between fragments, in lines
_GROUP = 4  # neighbouring lanes that share a hue
_DIMMED = 0.45


class FragmentView(QWidget):
    """Three rectangles side by side, each element with its lane; those of the chosen lane stand out."""

    def __init__(self) -> None:
        super().__init__()
        self._playable: Playable | None = None
        self._fragments: list[Fragment] = []
        self._lane = self._room = 0
        self._glyphs: dict[tuple[int, str, float, float], QPixmap] = {}
        self._theme: Theme = THEMES["dark"]
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Fragments of the warp, lane by lane"))

    def sizeHint(self) -> QSize:
        """Three fragments of sixteen columns."""
        return QSize(480, 150)

    def show_fragments(
        self, playable: Playable | None, fragments: list[Fragment], lane: int, theme: Theme, room: int
    ) -> None:
        """Draw fragments.

        Parameters
        ----------
        playable, fragments
            The fragment to draw.
        lane
            The chosen lane.
        theme
            The colours.
        room
            Pixels of height that are seen at once; a legible picture may need more.
        """
        self._playable, self._fragments, self._lane, self._theme = playable, fragments, lane, theme
        self._room = room
        self._take_height()
        self.update()

    def forget(self) -> None:
        """Let go of the fragments; the place that they took stays until others are shown."""
        self._playable, self._fragments = None, []

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that goes with the width."""
        super().resizeEvent(event)
        self._take_height()

    def _take_height(self) -> None:
        if self._fragments:
            text, cell, rows = self._sizes()
            self.setFixedHeight(int(text + 6 + cell * rows))

    def _sizes(self) -> tuple[float, float, int]:
        """Return the height of a line, the side of a cell, and the rows."""
        text = QFontMetricsF(self.font()).height()
        columns = sum(f.lane.shape[1] for f in self._fragments)
        rows = max(f.lane.shape[0] for f in self._fragments)
        # Two are as large as three: nothing jumps when the second matrix is loaded.
        columns = max(columns, 3 * max(f.lane.shape[1] for f in self._fragments))
        room = (steady_width(self) - _GAP * text * 4) / columns
        return text, min(room, max((self._room - text - 6) / rows, _LEGIBLE_CELL), _LARGEST_CELL), rows

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the fragments."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._theme.background))
            if self._fragments and self._playable is not None:
                self._draw(painter, self._playable)

    def _draw(self, painter: QPainter, playable: Playable) -> None:
        text, cell, _ = self._sizes()
        gap = _GAP * text
        x = gap
        for fragment in self._fragments:
            height, width = fragment.lane.shape
            name = playable.recording.arrays[fragment.matrix].name
            last_row, last_column = fragment.row + height - 1, fragment.column + width - 1
            title = f"{name}[{fragment.row}–{last_row}, {fragment.column}–{last_column}]"
            painter.setPen(QColor(self._theme.text))
            box = QRectF(x - gap / 2, 0, width * cell + gap, text)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, title)
            self._draw_cells(painter, fragment, x, text + 2, cell)
            x += width * cell + gap

    def _draw_cells(self, painter: QPainter, fragment: Fragment, x: float, y: float, cell: float) -> None:
        theme = self._theme
        height, width = fragment.lane.shape
        colours = np.array([*(self._colour(lane, lane == self._lane) for lane in range(WARP)), theme.cell], np.uint8)
        image = np.full((height, width, 4), 255, np.uint8)
        image[..., :3] = colours[fragment.lane]  # no lane: the last colour
        picture = QImage(image.data, width, height, width * 4, QImage.Format.Format_RGBX8888)
        painter.drawImage(QRectF(x, y, width * cell, height * cell), picture)
        if cell * _TYPE >= _SMALLEST_TYPE_PX:
            glyphs = [self._glyph(lane, tuple(colours[lane].tolist()), cell) for lane in range(WARP)]
            for i, lanes in enumerate(fragment.lane.tolist()):
                for j, lane in enumerate(lanes):
                    if lane >= 0:
                        painter.drawPixmap(QPointF(x + j * cell, y + i * cell), glyphs[lane])
        painter.setPen(QPen(QColor(theme.selection), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        rows, columns = (fragment.lane == self._lane).nonzero()
        painter.drawRects(
            [
                QRectF(x + j * cell, y + i * cell, cell, cell)
                for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
            ]
        )

    def _glyph(self, lane: int, colour: Rgb, cell: float) -> QPixmap:
        """Return a lane's number as a picture of the size of a cell: many times faster than laying text out."""
        ratio = self.devicePixelRatioF()
        key = lane, ink(self._theme, colour), round(cell, 2), ratio
        found = self._glyphs.get(key)
        if found is None:
            found = QPixmap(ceil(cell * ratio), ceil(cell * ratio))
            found.setDevicePixelRatio(ratio)
            found.fill(Qt.GlobalColor.transparent)
            font = QFont(self.font())
            font.setPixelSize(max(int(cell * _TYPE), 1))
            with QPainter(found) as into:
                into.setFont(font)
                into.setPen(QColor(key[1]))
                into.drawText(QRectF(0, 0, cell, cell), Qt.AlignmentFlag.AlignCenter, str(lane))
            self._glyphs = {k: v for k, v in self._glyphs.items() if k[2:] == key[2:]}  # of this size alone
            self._glyphs[key] = found
        return found

    def _colour(self, lane: int, chosen: bool) -> Rgb:
        """Return a lane's colour: a hue for four of them, dimmed where it is not the chosen one."""
        theme = self._theme
        hue = theme.owners[lane // _GROUP % len(theme.owners)]
        if chosen:
            return hue
        ground = rgb(theme.background)
        red, green, blue = (int(g + (h - g) * _DIMMED) for g, h in zip(ground, hue, strict=True))
        return red, green, blue
