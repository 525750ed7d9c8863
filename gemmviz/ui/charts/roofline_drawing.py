"""Draws roofs, rungs and names into a plot whose axes are powers of ten."""

from dataclasses import dataclass
from math import atan2, ceil, cos, degrees, hypot, log10, radians, sin

import pyqtgraph as pg
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics

from gemmviz.bench.figures import Shown
from gemmviz.bench.model.roofline import Point, Roof
from gemmviz.ui.charts.chart import Plot, small_font
from gemmviz.ui.look.figure_text import gflops_text
from gemmviz.ui.look.theme import Theme

# Axes in powers of ten: at least from 0.1 to 1000 FLOP/byte, and three decades below the highest roof.
_LEAST_X, _MOST_X = -1.0, 3.0
_DECADES = 3.0
_MARGIN = 0.25
# In a narrower plot only the chosen rung has its name; pointing shows the others.
_WIDE_PX = 500
_SLACK = 1.15
# Where a name may stand beside its marker, as (right, down), the best first; the chosen rung has a line at its sides.
_CLOSE = ((1, 0), (-1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
_ASIDE = ((0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1), (-1, 0), (1, 0))


@dataclass(frozen=True)
class Placed:
    """A rung under the roofline.

    Attributes
    ----------
    name, kernel
        Its usual name, and its name on the ladder.
    shown
        The figure, with its origin.
    place
        Its intensities; no ``gflops`` where it is not measured on this device.
    bound, most
        GFLOPS that the roofs allow at its intensity, and with perfect caches (modelled): its actual and best places
        when it is not measured.
    """

    name: str
    kernel: str
    shown: Shown
    place: Point
    bound: float | None = None
    most: float | None = None

    @property
    def intensity(self) -> float:
        """FLOP/byte: as requested, where that is recorded, else compulsory."""
        return self.place.from_global or self.place.compulsory

    @property
    def at(self) -> tuple[float, float]:
        """The place of its marker: log10 of FLOP/byte and of GFLOPS."""
        return log10(self.intensity), log10(self.place.gflops or self.bound or 1)


class Drawing:
    """Everything drawn in a plot, redrawn at every change.

    Parameters
    ----------
    plot
        The plot to draw into.
    """

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._items: list[pg.GraphicsObject] = []

    def begin(self, theme: Theme, points: float, roofs: list[Roof], placed: list[Placed]) -> None:
        """Clear the drawing, and choose the axes so that roofs and rungs are in sight.

        Parameters
        ----------
        theme, points
            Colours, and the size of text in points.
        roofs, placed
            The roofs and rungs to draw.
        """
        for item in self._items:
            self._plot.removeItem(item)
        self._items = []
        self._written: list[QRect] = []
        self._theme, self._points = theme, points
        places = [p.place for p in placed]
        lefts = [i for p in places for i in (p.from_global, p.from_shared, p.compulsory) if i]
        self._top = max((log10(r.value) for r in roofs if r.kind == "compute"), default=5.0) + 2 * _MARGIN
        self._low = min([self._top - _DECADES, *(p.at[1] - _MARGIN for p in placed)])
        self._left = min([_LEAST_X, *(log10(i) - _MARGIN for i in lefts)])
        self._right = max([_MOST_X, *(log10(i) + _MARGIN for i in lefts)])
        self._plot.setXRange(self._left, self._right, padding=0)
        self._plot.setYRange(self._low, self._top, padding=0)
        for side, start, end in (("bottom", self._left, self._right), ("left", self._low, self._top)):
            whole = range(ceil(start), int(end) + 1)
            self._plot.getAxis(side).setTicks([[(v, _power(v)) for v in whole]])

    def roofs(self, found: list[Roof]) -> None:
        """Draw the roofs, each with its name and figure along it."""
        slopes = [r for r in found if r.kind == "memory"]
        levels = [r for r in found if r.kind == "compute"]
        highest = max((log10(r.value) for r in levels), default=self._top)
        box = self._plot.plotItem.vb
        per_x, per_y = box.width() / (self._right - self._left), box.height() / (self._top - self._low)
        angle = degrees(atan2(per_y, per_x))
        # The slowest memory is the roof proper; the faster ones are dashed.
        for number, roof in enumerate(slopes):
            value = log10(roof.value)
            start, end = max(self._left, self._low - value), min(highest - value, self._right)
            colour = (self._theme.warn, self._theme.bad, self._theme.good)[number % 3]
            style = Qt.PenStyle.DashLine if number else Qt.PenStyle.SolidLine
            self._line([start, end], [start + value, end + value], pg.mkPen(colour, width=2, style=style))
            text = self._fitting(roof, hypot(per_x, per_y) * (end - start))
            # Halfway, where few rungs stand.
            middle = (start + end) / 2, (start + end) / 2 + value
            self._put(self._text(text, colour, (0.5, 1), angle), middle)
            self._keep_free(text, middle, 0.5, angle)
        for roof in levels:
            value = log10(roof.value)
            ridges = [value - log10(r.value) for r in slopes]
            start = max(min(ridges, default=self._left), self._left)
            self._line([start, self._right], [value, value], pg.mkPen(self._theme.text, width=2))
            text = f"{roof.name} {roof.value / 1e3:.3g} TFLOPS"
            self._put(self._text(text, self._theme.text, (1.02, 1)), (self._right, value))
            self._keep_free(text, (self._right, value), 1.0)

    def _keep_free(self, text: str, at: tuple[float, float], anchor: float, angle: float = 0) -> None:
        """Keep rungs' names off a roof's: reserve squares along it, above a place, since it may be inclined."""
        metrics = QFontMetrics(small_font(self._points))
        side, start, along = metrics.height(), self._plot.pixel(*at), radians(angle)
        width = round(metrics.horizontalAdvance(text) * _SLACK)
        for far in range(-round(anchor * width), round((1 - anchor) * width), side // 2):
            right, up = far * cos(along) - side / 2 * sin(along), far * sin(along) + side / 2 * cos(along)
            square = QRect(QPoint(), QSize(side, side))
            square.moveCenter(start + QPoint(round(right), -round(up)))
            self._written.append(square)

    def _fitting(self, roof: Roof, pixels: float) -> str:
        """Return as much of a slope's name and figure as can be written along it."""
        figure = gflops_text(roof.value)
        metrics = QFontMetrics(small_font(self._points))
        texts = (f"{roof.name} {figure} GB/s", f"{roof.name} {figure}", roof.name)
        return next((t for t in texts if metrics.horizontalAdvance(t) * _SLACK <= pixels), "")

    def rungs(self, placed: list[Placed], chosen: str) -> None:
        """Draw a marker per rung; the chosen one with the line to its place with perfect caches, and its name."""
        spots = []
        for one in sorted(placed, key=lambda p: p.kernel == chosen):
            place, (x, y), is_chosen = one.place, one.at, one.kernel == chosen
            colour = self._theme.accent if is_chosen else self._theme.muted
            fill = self._theme.background if one.shown.origin else colour
            recorded = place.from_global is not None
            if is_chosen and recorded:
                end, height = log10(place.compulsory), y if place.gflops else log10(one.most or 1)
                self._line([x, end], [y, height], pg.mkPen(colour, width=2))
                spots.append(self._spot(end, height, "d", 1.1, fill, colour))
            if is_chosen and place.from_shared:
                spots.append(self._spot(log10(place.from_shared), y, "t1", 1.4, fill, colour))
            spots.append(self._spot(x, y, "o" if recorded else "d", 1.5 if is_chosen else 1.1, fill, colour))
        self._add(pg.ScatterPlotItem(spots=spots))
        self._names(placed, chosen)

    def tile(self, intensity: float, gflops: float) -> None:
        """Draw the point where a tile of some intensity meets the roof."""
        pen = pg.mkPen(self._theme.accent, style=Qt.PenStyle.DotLine)
        self._add(pg.InfiniteLine(log10(intensity), angle=90, pen=pen))
        star = self._spot(log10(intensity), log10(gflops), "star", 1.7, self._theme.accent, self._theme.background)
        self._add(pg.ScatterPlotItem(spots=[star]))

    def _names(self, placed: list[Placed], chosen: str) -> None:
        """Write the names that find a free place beside their markers; the chosen rung's always."""
        side = round(self._points * 1.6)
        marks = [QRect(QPoint(), QSize(side, side)) for _ in placed]
        for mark, one in zip(marks, placed, strict=True):
            mark.moveCenter(self._plot.pixel(*one.at))
        inside = self._plot.plotItem.vb.geometry().toRect()
        taken = [*marks, *self._written]
        for one, mark in sorted(zip(placed, marks, strict=True), key=lambda pair: pair[0].kernel != chosen):
            is_chosen = one.kernel == chosen
            if not is_chosen and inside.width() < _WIDE_PX:
                continue
            name = self._text(one.name, self._theme.accent if is_chosen else self._theme.text, (0.5, 0.5))
            # A roof may pass behind a name, which stays readable.
            name.fill = pg.mkBrush(self._theme.background)
            name.textItem.document().setDocumentMargin(1)
            name.updateTextPos()
            size = name.textItem.boundingRect().size().toSize()
            places = _beside(mark, size, _ASIDE if is_chosen else _CLOSE)
            free = (r for r in places if inside.contains(r) and not any(r.intersects(t) for t in taken))
            rect = next(free, None)
            if rect is None and is_chosen:
                rect = next((r for r in places if inside.contains(r)), _pushed_into(places[0], inside))
            if rect is None:
                continue
            taken.append(rect)
            self._put(name, self._view(rect.center()))

    def _view(self, pixel: QPoint) -> tuple[float, float]:
        """Return the position of a pixel of the plot on its axes."""
        place = self._plot.plotItem.vb.mapSceneToView(self._plot.mapToScene(pixel))
        return place.x(), place.y()

    def _spot(self, x: float, y: float, symbol: str, size: float, fill: str, edge: str) -> dict[str, object]:
        pen = pg.mkPen(edge, width=2)
        return {"pos": (x, y), "symbol": symbol, "size": self._points * size, "brush": pg.mkBrush(fill), "pen": pen}

    def _line(self, x: list[float], y: list[float], pen: object) -> None:
        self._add(pg.PlotDataItem(x, y, pen=pen))

    def _text(self, text: str, colour: str, anchor: tuple[float, float], angle: float = 0) -> pg.TextItem:
        item = pg.TextItem(text, color=colour, anchor=anchor, angle=angle)
        item.setFont(small_font(self._points))
        item.setZValue(20)
        return item

    def _put(self, text: pg.TextItem, at: tuple[float, float]) -> None:
        text.setPos(*at)
        self._add(text)

    def _add(self, item: pg.GraphicsObject) -> None:
        self._plot.addItem(item, ignoreBounds=True)
        self._items.append(item)


def _beside(mark: QRect, size: QSize, sides: tuple[tuple[int, int], ...]) -> list[QRect]:
    """Return places of a size beside a marker; a diagonal one ends, or starts, where the marker does."""
    places = []
    for right, down in sides:
        away_x = (size.width() + mark.width()) // 2 + 2 if not down else (size.width() - mark.width()) // 2
        rect = QRect(QPoint(), size)
        rect.moveCenter(mark.center() + QPoint(right * away_x, down * (size.height() + mark.height()) // 2))
        places.append(rect)
    return places


def _pushed_into(rect: QRect, inside: QRect) -> QRect:
    """Return a rectangle moved as far as it must be to lie within another."""
    right = max(rect.right() - inside.right(), 0) or min(rect.left() - inside.left(), 0)
    down = max(rect.bottom() - inside.bottom(), 0) or min(rect.top() - inside.top(), 0)
    return rect.translated(-right, -down)


def _power(exponent: int) -> str:
    """Return the usual text of a power of ten."""
    return f"{10.0**exponent:g}" if exponent < 1 else f"{10**exponent:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
