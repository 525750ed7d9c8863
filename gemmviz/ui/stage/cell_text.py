"""Writes into the stage's cells, where they are large enough: values, banks, and the lanes that access them now."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from gemmviz.catalogue.matrices import C
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.accessed_cells import covered
from gemmviz.ui.stage.cell_values import LIVE, PLAIN, STORED, CellTexts, CellValues, Part
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.text_layer import Cell, Content, TextLayer

_LEGIBLE = 14.0
BANK_LABEL = 36.0
SUM_CELL = 18.0
"""Cells of C at least this wide, in pixels, show running sums: they change with every product."""
# In smaller cells there is room for one text: the lane that accesses the cell now says more than its value.
_BESIDE_VALUE, _LANE_LEGIBLE = 32.0, 20.0
_LONGEST = 1.45  # cells that a text of one letter may be wide; longer texts are smaller
_SMALLEST, _LARGEST = 9, 28  # a larger font than usual may go beyond
_MOST_VALUES = 3000
_MOST_GLYPHS = 4096
_Glyph = tuple[QPixmap, float, float]
# Relative luminance of a channel's value (WCAG 2), and the luminance on which black and white have the same contrast.
_LINEAR = np.array([c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in range(256)])
_MIDDLE = (1.05 * 0.05) ** 0.5 - 0.05


@dataclass(frozen=True)
class _Texts:
    """Texts for the visible cells: values, whether each is dark, lanes by drawn cell; sizes in pixels."""

    values: CellTexts
    dark: list[list[bool]]
    lanes: dict[int, str]
    size: int
    small: int
    beside: bool
    banks: bool
    lane_width: float


class CellText:
    """The texts of one recording's cells in one theme.

    Parameters
    ----------
    playable
        The recording.
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
        self._glyphs: dict[tuple[str, str, int, int], _Glyph] = {}
        self._widths: dict[tuple[str, int], float] = {}
        self._values = CellValues(playable)
        self._dark: dict[int, tuple[Any, Part, list[list[bool]]]] = {}
        self._banks: dict[int, list[str]] = {}
        self._contents: dict[int, tuple[Any, CellTexts, Any, Content]] = {}
        self._layers: dict[int, TextLayer] = {}

    def draw(self, painter: QPainter, panel: Panel, visible: QRectF, moment: Moment, image: Any, ratio: float) -> None:
        """Write into the visible cells of a panel.

        Parameters
        ----------
        painter, panel, visible
            The target, the array and its visible part.
        moment
            The step, the block and the warp.
        image
            uint8 (rows, columns, 4), the colours of the cells: each text is dark or light after its cell.
        ratio
            Device pixels per pixel.
        """
        if panel.cell < _LEGIBLE:
            return
        part = _visible_part(panel, visible)
        if (part[0].stop - part[0].start) * (part[1].stop - part[1].start) > _MOST_VALUES:
            return
        texts = self._texts(panel, moment, part, self._darkness(panel.array, image, part))
        if self._vector:
            self._write(painter, panel, part, texts, ratio)
            return

        def write(into: QPainter, cells: list[Cell] | None) -> None:
            if cells is None:
                self._write(into, panel, part, texts, ratio)
            else:
                self._write_some(into, panel, part, texts, cells, ratio)

        def stay_inside(cells: list[Cell] | None) -> bool:
            return self._stay_inside(panel, part, texts, cells)

        layer = self._layers.setdefault(panel.array, TextLayer())
        layer.draw(painter, panel, part, self._content(panel, part, texts, ratio), ratio, write, stay_inside)

    def _content(self, panel: Panel, part: Part, texts: _Texts, ratio: float) -> Content:
        """Return all that the texts of a panel depend on; it is the same object as long as nothing in it changes."""
        known, kept = (panel, part, texts.size, ratio, texts.lanes, texts.lane_width), self._contents.get(panel.array)
        if kept is None or kept[0] != known or kept[1] is not texts.values or kept[2] is not texts.dark:
            values, styles = texts.values, texts.values.styles
            flat = chain.from_iterable
            cells: list[Any] = list(
                zip(flat(values.texts), flat(texts.dark), flat(styles) if styles else repeat(PLAIN), strict=False)
            )
            wide = part[1].stop - part[1].start
            for place, lane in texts.lanes.items():
                row, column = place // panel.columns - part[0].start, place % panel.columns - part[1].start
                if 0 <= row < part[0].stop - part[0].start and 0 <= column < wide:
                    cells[row * wide + column] += (lane, texts.lane_width)
            content = Content((panel, part, texts.size, ratio), cells, texts.beside or not texts.lanes)
            kept = self._contents[panel.array] = known, texts.values, texts.dark, content
        return kept[3]

    def _write_some(
        self, painter: QPainter, panel: Panel, part: Part, texts: _Texts, cells: list[Cell], ratio: float
    ) -> None:
        inks, styles = (self._theme.ink_light, self._theme.ink_dark), texts.values.styles
        for row, column in cells:
            i, j = row - part[0].start, column - part[1].start
            style = styles[i][j] if styles is not None else PLAIN
            ink = inks[texts.dark[i][j]]
            self._write_cell(painter, panel, (row, column), texts, texts.values.texts[i][j], ink, ratio, style)

    def _stay_inside(self, panel: Panel, part: Part, texts: _Texts, cells: list[Cell] | None) -> bool:
        """Say whether the values of some cells, or of all, leave a pixel at each edge of their cells."""
        side, styles = panel.cell, texts.values.styles
        high = side * (0.8 if texts.banks or texts.lanes else 1.0) - 2
        every = (
            (row, column)
            for row in range(*part[0].indices(panel.rows))
            for column in range(part[1].start, part[1].stop)
        )
        inks = self._theme.ink_light, self._theme.ink_dark
        for row, column in cells if cells is not None else every:
            i, j = row - part[0].start, column - part[1].start
            text = texts.values.texts[i][j]
            if not text:
                continue
            size = min(texts.size, int(side * _LONGEST / len(text)))
            glyph = self._glyphs.get(
                (text, inks[texts.dark[i][j]], size, styles[i][j] if styles is not None else PLAIN)
            )
            if glyph is None or 2 * glyph[1] > side - 2 or 2 * glyph[2] > high:
                return False
        return True

    def _darkness(self, array: int, image: Any, part: Part) -> list[list[bool]]:
        """Return which of some cells have a dark text; an image of the same colours is the same object."""
        kept = self._dark.get(array)
        if kept is None or kept[0] is not image or kept[1] != part:
            kept = self._dark[array] = image, part, dark_on(image[part]).tolist()
        return kept[2]

    def _texts(self, panel: Panel, moment: Moment, part: Part, dark: list[list[bool]]) -> _Texts:
        """Return the texts for some cells, and their sizes."""
        summed = panel.array == C and panel.cell >= SUM_CELL
        values = self._values.at(panel.array, moment.step, moment.block, part, summed)
        # In small cells the text takes all the room.
        size = int(min(max(panel.cell * 0.54, min(panel.cell * 0.66, 12)), max(_LARGEST, 1.6 * self._height)))
        small = max(_SMALLEST, int(panel.cell * 0.18))
        shared = self._playable.recording.arrays[panel.array].space == "shared"
        banks = shared and panel.cell >= BANK_LABEL and self._playable.recording.backend == "cuda"
        lanes: dict[int, str] = {}
        if panel.cell >= _LANE_LEGIBLE:
            lanes = lanes_at(self._playable, panel.array, moment.step, moment.block, moment.warp)
        beside = panel.cell >= _BESIDE_VALUE
        lane_width = max((self._width(lane, small if beside else _SMALLEST) for lane in lanes.values()), default=0.0)
        if not beside and (lane_width + 2 > panel.cell or any(map(any, values.texts))):
            lanes = {}  # a lane here and a value there would be read as one kind of figure
        return _Texts(values, dark, lanes, size, small, beside, banks, lane_width)

    def _write(self, painter: QPainter, panel: Panel, part: Part, texts: _Texts, ratio: float) -> None:
        """Write into some cells, one by one."""
        styles, banks, lanes = texts.values.styles, texts.banks, texts.lanes
        side, first, half = panel.cell, part[1].start, panel.cell / 2
        inks, up = (self._theme.ink_light, self._theme.ink_dark), panel.cell * 0.1 if banks else 0
        places = [panel.x + column * side + half for column in range(first, part[1].stop)]
        glyphs: dict[tuple[str, bool, int], _Glyph] = {}
        for at, (row_texts, dark) in enumerate(zip(texts.values.texts, texts.dark, strict=True)):
            row = at + part[0].start
            drawn, y = styles[at] if styles is not None else [PLAIN] * len(row_texts), panel.y + row * side + half - up
            for column, (x, text, is_dark, style) in enumerate(zip(places, row_texts, dark, drawn, strict=True), first):
                if self._vector or (lanes and row * panel.columns + column in lanes):
                    self._write_cell(painter, panel, (row, column), texts, text, inks[is_dark], ratio, style)
                    continue
                # As `_write_cell` does it; most cells have no lane, and there are hundreds.
                if text:
                    glyph = glyphs.get((text, is_dark, style))
                    if glyph is None:
                        size = min(texts.size, int(side * _LONGEST / len(text)))
                        glyph = glyphs[text, is_dark, style] = self._glyph(text, inks[is_dark], size, ratio, style)
                    painter.drawPixmap(round(x - glyph[1]), round(y - glyph[2]), glyph[0])
                if banks:
                    self._write_bank(painter, panel, (row, column), texts.small, inks[is_dark], ratio)

    def _write_bank(
        self, painter: QPainter, panel: Panel, at: tuple[int, int], small: int, ink: str, ratio: float
    ) -> None:
        """Write the bank of a cell into its right lower corner."""
        banks = self._banks.get(panel.array)
        if banks is None:
            step = self._playable.recording.arrays[panel.array].itemsize
            count = panel.rows * panel.columns
            banks = self._banks[panel.array] = [str(place * step // 4 % 32) for place in range(count)]
        bank = banks[at[0] * panel.columns + at[1]]
        x, y = panel.x + at[1] * panel.cell, panel.y + at[0] * panel.cell
        right = x + panel.cell - 0.35 * small - self._width(bank, small) / 2
        self._stamp(painter, bank, ink, small, right, y + panel.cell - small * 0.8, ratio)

    def _write_cell(
        self,
        painter: QPainter,
        panel: Panel,
        at: tuple[int, int],
        texts: _Texts,
        text: str,
        ink: str,
        ratio: float,
        style: int = PLAIN,
    ) -> None:
        """Write a value, the bank and the lane that accesses the cell now, as far as there is room."""
        small, place = texts.small, at[0] * panel.columns + at[1]
        x, y = panel.x + at[1] * panel.cell, panel.y + at[0] * panel.cell
        lane = texts.lanes.get(place, "")
        if lane and texts.beside and self._width(lane, small) + 2 > panel.cell:
            lane = ""  # too small to read
        instead = lane and not texts.beside
        text = lane if instead else text
        if text:
            fit = min(texts.size, int(panel.cell * (1.25 if instead else _LONGEST) / len(text)))
            up = panel.cell * 0.1 if texts.banks or (lane and texts.beside) else 0
            drawn = PLAIN if instead else style
            self._stamp(painter, text, ink, fit, x + panel.cell / 2, y + panel.cell / 2 - up, ratio, drawn)
        low, edge = y + panel.cell - small * 0.8, 0.35 * small
        # The lanes that access cells now say more than the banks, which are always the same.
        if texts.banks and (
            not lane or texts.lane_width + self._width("31", small) + 0.5 * small + 2 * edge <= panel.cell
        ):
            self._write_bank(painter, panel, at, small, ink, ratio)
        if lane and texts.beside:
            wide = self._width(lane, small)
            left = x + min(edge, (panel.cell - wide) / 2) + wide / 2
            self._stamp(painter, lane, ink, small, left, low, ratio)

    def write_at(self, painter: QPainter, text: str, colour: str, size: int, x: float, y: float, ratio: float) -> None:
        """Write a short text in a font of `size` pixels, centred at a point."""
        self._stamp(painter, text, colour, size, x, y, ratio)

    def write_values(
        self, painter: QPainter, values: list[tuple[str, float, float]], colour: str, cell: float, ratio: float
    ) -> None:
        """Write values as cells of a width in pixels have them, each with the point that it is centred at."""
        size = int(min(max(cell * 0.54, min(cell * 0.66, 12)), max(_LARGEST, 1.6 * self._height)))
        glyphs: dict[str, _Glyph] = {}
        for text, x, y in values:
            fitting = min(size, int(cell * _LONGEST / len(text)))
            if self._vector:
                self._stamp(painter, text, colour, fitting, x, y, ratio)
                continue
            glyph = glyphs.get(text) or glyphs.setdefault(text, self._glyph(text, colour, fitting, ratio, PLAIN))
            painter.drawPixmap(round(x - glyph[1]), round(y - glyph[2]), glyph[0])

    def width_of(self, text: str, size: int) -> float:
        """Return how wide a text is in a font of `size` pixels, in pixels."""
        return self._width(text, size)

    def _stamp(
        self,
        painter: QPainter,
        text: str,
        colour: str,
        size: int,
        x: float,
        y: float,
        ratio: float,
        style: int = PLAIN,
    ) -> None:
        """Draw a short text centred at a point, from a cache: a pixmap is many times faster than laying text out."""
        if self._vector:
            font = self._sized(size, style)
            painter.setFont(font)
            painter.setPen(QColor(colour))
            metrics = QFontMetricsF(font)
            middle = (metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x - metrics.horizontalAdvance(text) / 2, y + middle), text)
            return
        glyph = self._glyph(text, colour, size, ratio, style)
        painter.drawPixmap(round(x - glyph[1]), round(y - glyph[2]), glyph[0])

    def _glyph(self, text: str, colour: str, size: int, ratio: float, style: int) -> _Glyph:
        """Return a short text as a pixmap, with half its width and half its height in pixels."""
        key = (text, colour, size, style)
        glyph = self._glyphs.get(key)
        if glyph is None:
            if len(self._glyphs) > _MOST_GLYPHS:
                self._glyphs.clear()  # sums of a long run: each text is seen once and never again
            font = self._sized(size, style)
            metrics = QFontMetricsF(font)
            width, height = metrics.horizontalAdvance(text) + 2, metrics.height()
            pixmap = QPixmap(int(np.ceil(width * ratio)), int(np.ceil(height * ratio)))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            with QPainter(pixmap) as into:
                into.setFont(font)
                into.setPen(QColor(colour))
                into.drawText(QRectF(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, text)
            size_drawn = pixmap.deviceIndependentSize()
            glyph = self._glyphs[key] = pixmap, size_drawn.width() / 2, size_drawn.height() / 2
        return glyph

    def _width(self, text: str, size: int) -> float:
        """Return how wide a text is in a font of `size` pixels, in pixels."""
        width = self._widths.get((text, size))
        if width is None:
            width = self._widths[text, size] = QFontMetricsF(self._sized(size)).horizontalAdvance(text)
        return width

    def _sized(self, size: int, style: int = PLAIN) -> QFont:
        font = QFont(self._font)
        font.setPixelSize(max(size, 6))
        font.setItalic(style == LIVE)
        font.setBold(style == STORED)
        return font


def _visible_part(panel: Panel, visible: QRectF) -> tuple[slice, slice]:
    """Return the rows and columns of the cells that can be seen."""
    first_row = max(0, int((visible.top() - panel.y) // panel.cell))
    first_column = max(0, int((visible.left() - panel.x) // panel.cell))
    last_row = min(panel.rows, int((visible.bottom() - panel.y) // panel.cell) + 1)
    last_column = min(panel.columns, int((visible.right() - panel.x) // panel.cell) + 1)
    return slice(first_row, last_row), slice(first_column, last_column)


def dark_on(colours: Any) -> Any:
    """Return where a dark text reads better than a light one: `gemmviz.ui.look.theme.ink`, for many cells at once.

    Parameters
    ----------
    colours
        uint8 (rows, columns, 3 or more), the colours of the cells.

    Returns
    -------
    ndarray
        bool (rows, columns).
    """
    luminance = (
        _LINEAR[colours[..., 0]] * 0.2126 + _LINEAR[colours[..., 1]] * 0.7152 + _LINEAR[colours[..., 2]] * 0.0722
    )
    return luminance > _MIDDLE


def lanes_at(playable: Playable, array: int, step: int, block: int, warp: int) -> dict[int, str]:
    """Return, by drawn cell, which lanes of a block's warp access it at a step, in a few letters.

    For a fragment of the tensor cores these are the lanes that load or store each element of it.
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
