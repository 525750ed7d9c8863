"""Writes into the stage's cells, where they are large enough: values, banks, and the lanes that access them now."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.accessed_cells import covered
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.colours import values, written
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_LEGIBLE = 14.0
BANK_LABEL = 36.0
# In smaller cells there is room for one text: the lane that accesses the cell now says more than its value.
_BESIDE_VALUE, _LANE_LEGIBLE = 26.0, 20.0
_SMALLEST, _LARGEST = 9, 28  # a larger font than usual may go beyond
_MOST_VALUES = 3000
_MOST_GLYPHS = 4096
# Relative luminance of a channel's value (WCAG 2), and the luminance on which black and white have the same contrast.
_LINEAR = np.array([c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in range(256)])
_MIDDLE = (1.05 * 0.05) ** 0.5 - 0.05


@dataclass(frozen=True)
class _Texts:
    """What to write into the visible cells: values, inks, lanes by drawn cell; sizes in pixels; what stands beside."""

    said: list[list[str]]
    inks: Any
    lanes: dict[int, str]
    size: int
    small: int
    beside: bool
    banks: bool
    told: float


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
    vector
        Draw texts as texts, and not from a cache of pictures.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont, vector: bool = False) -> None:
        self._playable = playable
        self._theme = theme
        self._font = font
        self._height = QFontMetricsF(font).height()
        self._vector = vector
        self._glyphs: dict[tuple[str, str, int], tuple[QPixmap, float, float]] = {}
        self._widths: dict[tuple[str, int], float] = {}
        self._values: dict[int, tuple[Any, list[list[str]]]] = {}
        self._layers: dict[int, tuple[Any, QPixmap | None]] = {}
        timeline = playable.timeline
        self._writes = [
            np.flatnonzero((timeline.array == i) & timeline.write) for i in range(len(playable.recording.arrays))
        ]

    def draw(self, painter: QPainter, panel: Panel, visible: QRectF, moment: Moment, image: Any, ratio: float) -> None:
        """Write into the visible cells of a panel.

        Parameters
        ----------
        painter, panel, visible
            Where.
        moment
            When, and of which block and warp.
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
        matrix = self._values_at(panel.array, moment.step, moment.block, part)
        inks = inks_on(self._theme, image[part])
        # In small cells the text takes what room there is.
        size = int(min(max(panel.cell * 0.54, min(panel.cell * 0.66, 12)), max(_LARGEST, 1.6 * self._height)))
        small = max(_SMALLEST, int(panel.cell * 0.18))
        shared = self._playable.recording.arrays[panel.array].space == "shared"
        banks = shared and panel.cell >= BANK_LABEL and self._playable.recording.backend == "cuda"
        lanes: dict[int, str] = {}
        if panel.cell >= _LANE_LEGIBLE:
            lanes = lanes_at(self._playable, panel.array, moment.step, moment.block, moment.warp)
        beside = panel.cell >= _BESIDE_VALUE
        told = max((self._width(lane, small if beside else _SMALLEST) for lane in lanes.values()), default=0.0)
        if not beside and told + 2 > panel.cell:
            lanes = {}  # a lane here and a value there would be read as one kind of figure
        texts = _Texts(matrix, inks, lanes, size, small, beside, banks, told)
        key = panel, part, self._values[panel.array][0], inks.tobytes(), tuple(lanes.items()), size, ratio
        kept = self._layers.get(panel.array)
        if self._vector or kept is None or kept[0] != key:
            self._layers[panel.array] = key, None
            self._write(painter, panel, part, texts, ratio)
            return
        # What stays as it is for a second picture is kept: most arrays rest while one is accessed.
        corner = QPointF(int(panel.x + first_column * panel.cell), int(panel.y + first_row * panel.cell))
        layer = kept[1]
        if layer is None:
            wide, high = (last_column - first_column + 1) * panel.cell, (last_row - first_row + 1) * panel.cell
            layer = QPixmap(int(np.ceil(wide * ratio)), int(np.ceil(high * ratio)))
            layer.setDevicePixelRatio(ratio)
            layer.fill(Qt.GlobalColor.transparent)
            into = QPainter(layer)
            into.translate(-corner)
            self._write(into, panel, part, texts, ratio)
            into.end()
            self._layers[panel.array] = key, layer
        painter.drawPixmap(corner, layer)

    def _write(self, painter: QPainter, panel: Panel, part: tuple[slice, slice], texts: "_Texts", ratio: float) -> None:
        """Write into some cells, one by one."""
        info = self._playable.recording.arrays[panel.array]
        size, small, beside, banks, lanes = texts.size, texts.small, texts.beside, texts.banks, texts.lanes
        # The lanes that access cells now say more than the banks, which are always the same.
        edge = 0.35 * small
        whole = texts.told + self._width("31", small) + 0.5 * small + 2 * edge <= panel.cell
        for i, (row, row_inks) in enumerate(zip(texts.said, texts.inks.tolist(), strict=True), part[0].start):
            for j, (said, shade) in enumerate(zip(row, row_inks, strict=True), part[1].start):
                x, y = panel.x + j * panel.cell, panel.y + i * panel.cell
                lane = lanes.get(i * panel.columns + j, "")
                if lane and beside and self._width(lane, small) + 2 > panel.cell:
                    lane = ""  # nobody could read it
                text = said if beside or not lane else lane
                if text:
                    fit = min(size, int(panel.cell * (1.45 if beside or not lane else 1.25) / len(text)))
                    up = panel.cell * 0.1 if banks or (lane and beside) else 0
                    self._stamp(painter, text, shade, fit, x + panel.cell / 2, y + panel.cell / 2 - up, ratio)
                low = y + panel.cell - small * 0.8
                if banks:
                    bank = str((i * panel.columns + j) * info.itemsize // 4 % 32)
                    if whole or not lane:
                        right = x + panel.cell - edge - self._width(bank, small) / 2
                        self._stamp(painter, bank, shade, small, right, low, ratio)
                if lane and beside:
                    wide = self._width(lane, small)
                    left = x + min(edge, (panel.cell - wide) / 2) + wide / 2
                    self._stamp(painter, lane, shade, small, left, low, ratio)

    def _values_at(self, array: int, step: int, block: int, part: tuple[slice, slice]) -> list[list[str]]:
        """Return what some cells hold, as texts; it changes with the writes to the array only."""
        key = int(np.searchsorted(self._writes[array], step, side="right")), block, part
        kept = self._values.get(array)
        if kept is None or kept[0] != key:
            found = values(self._playable, array, step, block)[part]
            said = [[number(value) for value in row] for row in found.tolist()]
            if np.isnan(found).any():
                for row, column in np.argwhere(~written(self._playable, array, step, block)[part]).tolist():
                    said[row][column] = ""
            kept = self._values[array] = key, said
        return kept[1]

    def _stamp(self, painter: QPainter, text: str, colour: str, size: int, x: float, y: float, ratio: float) -> None:
        """Draw a short text centred at a point, from a cache: a pixmap is many times faster than laying text out."""
        if self._vector:
            font = self._sized(size)
            painter.setFont(font)
            painter.setPen(QColor(colour))
            metrics = QFontMetricsF(font)
            middle = (metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x - metrics.horizontalAdvance(text) / 2, y + middle), text)
            return
        key = (text, colour, size)
        glyph = self._glyphs.get(key)
        if glyph is None:
            if len(self._glyphs) > _MOST_GLYPHS:
                self._glyphs.clear()  # sums of a long run: each text is seen once and never again
            font = self._sized(size)
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
            size_drawn = pixmap.deviceIndependentSize()
            glyph = self._glyphs[key] = pixmap, size_drawn.width() / 2, size_drawn.height() / 2
        painter.drawPixmap(QPointF(round(x - glyph[1]), round(y - glyph[2])), glyph[0])

    def _width(self, text: str, size: int) -> float:
        """Return how wide a text is in a font of `size` pixels, in pixels."""
        width = self._widths.get((text, size))
        if width is None:
            width = self._widths[text, size] = QFontMetricsF(self._sized(size)).horizontalAdvance(text)
        return width

    def _sized(self, size: int) -> QFont:
        font = QFont(self._font)
        font.setPixelSize(max(size, 6))
        return font


def inks_on(theme: Theme, colours: Any) -> Any:
    """Return the text colour that reads better on each of many cells: `gemmviz.ui.look.theme.ink`, for all at once.

    Parameters
    ----------
    theme
        Whose inks.
    colours
        uint8 (rows, columns, 3 or more).

    Returns
    -------
    ndarray
        Texts (rows, columns) such as ``"#000000"``.
    """
    luminance = (
        _LINEAR[colours[..., 0]] * 0.2126 + _LINEAR[colours[..., 1]] * 0.7152 + _LINEAR[colours[..., 2]] * 0.0722
    )
    return np.where(luminance > _MIDDLE, theme.ink_dark, theme.ink_light)


def lanes_at(playable: Playable, array: int, step: int, block: int, warp: int) -> dict[int, str]:
    """Return, by drawn cell, which lanes of a block's warp access it at a step, in a few letters.

    For a fragment of the tensor cores this is who loads or stores which element of it.
    """
    recording = playable.recording
    if recording.backend != "cuda" or not playable.timeline.steps or int(playable.timeline.array[step]) != array:
        return {}
    rows = playable.warp_rows(step, block, warp)
    cells, place = covered(playable, array, rows)
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
