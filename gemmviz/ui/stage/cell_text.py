"""Writes into the stage's cells, where they are large enough: values, banks, and the lanes that access them now."""

from collections import defaultdict
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import WARP
from gemmviz.ui.stage import scene
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.theme import Theme, ink

_LEGIBLE = 15.0
BANK_LABEL = 36.0
# In smaller cells there is room for one text: the lane that accesses the cell now says more than its value.
_BESIDE_VALUE, _LANE_LEGIBLE = 26.0, 20.0
_SMALLEST = 9
_MOST_VALUES = 6000


class CellText:
    """The texts of one recording's cells in one theme.

    Parameters
    ----------
    playable
        Whose cells.
    theme
        The colours.
    font
        The base font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable = playable
        self._theme = theme
        self._font = font
        self._glyphs: dict[tuple[str, str, int], QPixmap] = {}

    def draw(
        self, painter: QPainter, panel: Panel, visible: QRectF, step: int, block: int, image: Any, ratio: float
    ) -> None:
        """Write into the visible cells of a panel.

        Parameters
        ----------
        painter, panel, visible
            Where.
        step, block
            When, and of which block.
        image
            uint8 (rows, columns, 4), the colours of the cells: each text is dark or light after its cell.
        ratio
            Device pixels per pixel.
        """
        if panel.cell < _LEGIBLE:
            return
        first_row = max(0, int((visible.top() - panel.y) // panel.cell))
        first_column = max(0, int((visible.left() - panel.x) // panel.cell))
        last_row = min(panel.rows, int((visible.bottom() - panel.y) // panel.cell) + 1)
        last_column = min(panel.columns, int((visible.right() - panel.x) // panel.cell) + 1)
        if (last_row - first_row) * (last_column - first_column) > _MOST_VALUES:
            return
        part = (slice(first_row, last_row), slice(first_column, last_column))
        matrix = scene.values(self._playable, panel.array, step, block)[part].tolist()
        colours = image[part][..., :3].tolist()
        size = int(min(panel.cell * 0.54, 28))
        small = max(_SMALLEST, int(panel.cell * 0.18))
        info = self._playable.recording.arrays[panel.array]
        banks = info.space == "shared" and panel.cell >= BANK_LABEL
        lanes = lanes_at(self._playable, panel.array, step, block) if panel.cell >= _LANE_LEGIBLE else {}
        beside = panel.cell >= _BESIDE_VALUE
        for i, (row, hues) in enumerate(zip(matrix, colours, strict=True), first_row):
            for j, (value, hue) in enumerate(zip(row, hues, strict=True), first_column):
                x, y = panel.x + j * panel.cell, panel.y + i * panel.cell
                shade = ink(self._theme, tuple(hue))
                lane = lanes.get(i * panel.columns + j, "")
                if (len(lane) + 0.5) * 0.6 * (small if beside else _SMALLEST) > panel.cell:
                    lane = ""  # nobody could read it
                text = number(value) if beside or not lane else lane
                if text:
                    fit = min(size, int(panel.cell * (1.45 if beside or not lane else 1.25) / len(text)))
                    up = panel.cell * 0.1 if banks or (lane and beside) else 0
                    self._stamp(painter, text, shade, fit, x + panel.cell / 2, y + panel.cell / 2 - up, ratio)
                low = y + panel.cell - small * 0.8
                if banks:
                    bank = (i * panel.columns + j) * info.itemsize // 4 % 32
                    self._stamp(painter, str(bank), shade, small, x + panel.cell - small * 0.9, low, ratio)
                if lane and beside:
                    self._stamp(painter, lane, shade, small, x + small * (0.35 * len(lane) + 0.3), low, ratio)

    def _stamp(self, painter: QPainter, text: str, colour: str, size: int, x: float, y: float, ratio: float) -> None:
        """Draw a short text centred at a point, from a cache: a pixmap is many times faster than laying text out."""
        key = (text, colour, size)
        pixmap = self._glyphs.get(key)
        if pixmap is None:
            font = QFont(self._font)
            font.setPixelSize(max(size, 6))
            metrics = QFontMetricsF(font)
            width, height = metrics.horizontalAdvance(text) + 2, metrics.height()
            pixmap = QPixmap(int(np.ceil(width * ratio)), int(np.ceil(height * ratio)))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            into = QPainter(pixmap)
            into.setFont(font)
            into.setPen(QColor(colour))
            into.drawText(QRectF(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, text)
            into.end()
            self._glyphs[key] = pixmap
        at = pixmap.deviceIndependentSize()
        painter.drawPixmap(QPointF(round(x - at.width() / 2), round(y - at.height() / 2)), pixmap)


def lanes_at(playable: Playable, array: int, step: int, block: int) -> dict[int, str]:
    """Return, by drawn cell, which lanes of the block's first warp access it at a step, in a few letters.

    For a fragment of the tensor cores this is who loads or stores which element of it.
    """
    recording = playable.recording
    if recording.backend != "cuda" or not playable.timeline.steps or int(playable.timeline.array[step]) != array:
        return {}
    rows = playable.warp_rows(step, block, 0)
    cells, place = scene.covered(playable, array, rows)
    lanes = recording.accesses.thread[rows][place] % WARP
    found: dict[int, set[int]] = defaultdict(set)
    for cell, lane in zip(cells.tolist(), lanes.tolist(), strict=True):
        found[cell].add(lane)
    return {cell: _named(sorted(mine)) for cell, mine in found.items()}


def _named(lanes: list[int]) -> str:
    first, last = lanes[0], lanes[-1]
    if len(lanes) == 1:
        return f"L{first}"
    return f"L{first}-{last}" if last - first == len(lanes) - 1 else f"L{first}+{len(lanes) - 1}"
