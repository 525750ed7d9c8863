"""Paints roofs, kernels and names into a frame with logarithmic axes."""

from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, radians, sin

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from gemmviz.bench.figures import Shown
from gemmviz.bench.model.roofline import Point, Roof
from gemmviz.language import mark, tr
from gemmviz.ui.charts.figures.ladder_figures import Role
from gemmviz.ui.charts.log_frame import LogFrame
from gemmviz.ui.charts.painted import page_font, role_colour
from gemmviz.ui.look.figure_text import gflops_text, times
from gemmviz.ui.look.theme import Theme

_LEAST_X, _MOST_X = 0.1, 100.0  # FLOP per byte
_DECADES = 1e3
"""The lower end of the axis is at most this share of the highest roof."""
_RADIUS = 5.0
_PLACES = 12
"""Places along a roof at which its name is tried."""
_APART = 6
"""The distance of the squares that keep names away from a line, in pixels."""
_ORDER: tuple[Role, ...] = ("chosen", "before", "best", "library", "other")
_LEAST_ROOM = 1.05
_STACKED = 2
"""From so many kernels on at one place, the picture says why they stand there."""
_REASON, _BESIDE = 0.45, 14.0  # of the width at most; pixels between the reason and the middle of the marks
_SLOPES = {"memory": mark("memory"), "L2": "L2", "shared": mark("shared")}


@dataclass(frozen=True)
class Placed:
    """A kernel under the roofline.

    Attributes
    ----------
    name, kernel
        Its short name, and its name on the ladder.
    shown
        The figure, with its origin.
    place
        Its intensities; no ``gflops`` if it is not measured on this device.
    bound, most
        GFLOPS that the roofs allow at its intensity, and with perfect caches (modelled): its positions when it is not
        measured.
    role
        Its relation to the chosen kernel.
    """

    name: str
    kernel: str
    shown: Shown
    place: Point
    bound: float | None = None
    most: float | None = None
    role: Role = "other"

    @property
    def intensity(self) -> float:
        """FLOP/byte of the recorded requests; the compulsory value if they are not recorded."""
        return self.place.from_global or self.place.compulsory

    @property
    def height(self) -> float:
        """GFLOPS at the position of its marker."""
        return self.place.gflops or self.bound or 1.0

    @property
    def served(self) -> bool:
        """Whether its marker is to the left of the roof: caches served some of the counted bytes."""
        return bool(self.place.gflops and self.bound and self.place.from_global and self.place.gflops > self.bound)


class Drawing:
    """One picture of roofs and kernels.

    Parameters
    ----------
    size, theme
        The size of the surface, and the colours.
    roofs, placed
        The roofs and the kernels to paint.
    """

    def __init__(self, size: QSize, theme: Theme, roofs: list[Roof], placed: list[Placed]) -> None:
        self._theme, self._roofs, self._placed = theme, roofs, placed
        places = [p.place for p in placed]
        lefts = [i for p in places for i in (p.from_global, p.from_shared, p.compulsory) if i]
        top = max((r.value for r in roofs if r.kind == "compute"), default=1e5)
        low = min([top / _DECADES, *(p.height for p in placed)])
        high = max([top * 1.5, *(p.height for p in placed)])
        self.frame = LogFrame(size, (min([_LEAST_X, *lefts]), max([_MOST_X, *lefts])), (low, high))
        self._metrics = QFontMetricsF(page_font())
        self._taken: list[QRectF] = []

    def at(self, placed: Placed) -> QPointF:
        """Return the position of a kernel's marker."""
        return self.frame.at(placed.intensity, placed.height)

    def paint(self, painter: QPainter, tile: tuple[float, float] | None) -> None:
        """Paint all.

        Parameters
        ----------
        painter
            The painter of the surface.
        tile
            FLOP/byte and GFLOPS of the bound of a tile, which is marked; None for no mark.
        """
        self.frame.paint(painter, self._theme, tr("FLOP per byte"), "GFLOPS")
        painter.save()
        painter.setClipRect(self.frame.area.adjusted(-_RADIUS, -_RADIUS, _RADIUS, _RADIUS))
        self._taken = [self._box(self.at(p), _RADIUS * 2, _RADIUS * 2) for p in self._placed]
        self._paint_roofs(painter)
        if tile is not None:
            self._tile(painter, *tile)
        self._say_uncounted(painter)
        ordered = sorted(self._placed, key=lambda p: _ORDER.index(p.role))
        for placed in reversed(ordered):
            self._marker(painter, placed)
        for placed in ordered:
            self._room(painter, placed)
        for placed in ordered:
            self._name(painter, placed)
        if any(p.served for p in self._placed):
            self._say_served(painter)
        painter.restore()

    # Roofs

    def _paint_roofs(self, painter: QPainter) -> None:
        slopes = [r for r in self._roofs if r.kind == "memory"]
        levels = [r for r in self._roofs if r.kind == "compute"]
        highest = max((r.value for r in levels), default=1e9)
        area, start = self.frame.area, self.frame
        zero, ten = start.at(1, 1), start.at(10, 10)
        angle = degrees(atan2(zero.y() - ten.y(), ten.x() - zero.x()))
        for number, roof in enumerate(slopes):
            ridge = start.at(highest / roof.value, highest)
            # The line ends at the left or lower edge of the frame.
            down = min(
                (area.bottom() - ridge.y()) / sin(radians(angle)), (ridge.x() - area.left()) / cos(radians(angle))
            )
            foot = QPointF(ridge.x() - down * cos(radians(angle)), ridge.y() + down * sin(radians(angle)))
            # The slowest memory is the main roof; faster memories are dashed.
            colour = QColor(self._theme.faint if number else self._theme.text)
            painter.setPen(QPen(colour, 1 if number else 2, Qt.PenStyle.DashLine if number else Qt.PenStyle.SolidLine))
            painter.drawLine(foot, ridge)
            self._keep_free(foot, ridge)
            self._along(painter, roof, foot, ridge, angle, colour)
        for roof in levels:
            ridges = [roof.value / r.value for r in slopes]
            left = max(start.at(min(ridges), roof.value).x(), area.left()) if ridges else area.left()
            y = start.at(1, roof.value).y()
            painter.setPen(QPen(QColor(self._theme.text), 2))
            painter.drawLine(QPointF(left, y), QPointF(area.right(), y))
            self._keep_free(QPointF(left, y), QPointF(area.right(), y))
            text = tr("{roof} {gflops}, modelled", roof=roof.name, gflops=gflops_text(roof.value))
            if self._metrics.horizontalAdvance(text) > area.right() - left:
                text = f"{roof.name} {gflops_text(roof.value)}"
            wide, line = self._metrics.horizontalAdvance(text), self._metrics.height()
            box = QRectF(area.right() - wide - 2, y - line - 1, wide + 2, line)
            self._write(painter, text, box, QColor(self._theme.text))
            self._taken.append(box)

    def _keep_free(self, start: QPointF, end: QPointF) -> None:
        """Reserve squares along a line, so that names do not overlap it."""
        length = hypot(end.x() - start.x(), end.y() - start.y())
        for far in range(0, round(length), _APART):
            self._taken.append(self._box(start + (end - start) * (far / length), _APART, 4))

    def _along(
        self, painter: QPainter, roof: Roof, foot: QPointF, ridge: QPointF, angle: float, colour: QColor
    ) -> None:
        """Write the name and the figure of a slope along its line, as much as fits, where it covers fewest kernels."""
        length = hypot(ridge.x() - foot.x(), ridge.y() - foot.y())
        figure = gflops_text(roof.value)
        texts = (
            tr("{roof} {figure} GB/s, modelled", roof=tr(_SLOPES[roof.name]), figure=figure),
            f"{tr(_SLOPES[roof.name])} {figure}",
        )
        text = next((t for t in texts if self._metrics.horizontalAdvance(t) * 1.1 <= length), "")
        wide, line = self._metrics.horizontalAdvance(text), self._metrics.height()
        spare = max(length - wide, 0.0)
        begin = min(0.1 * length, spare)
        # From the usual place on, below the line and then above it.
        begins = sorted((spare * at / _PLACES for at in range(_PLACES + 1)), key=lambda at: abs(at - begin))
        boxes = [QRectF(at, top, wide + 2, line) for top in (2.0, -line - 2.0) for at in (begin, *begins)]
        drawn = [self.at(placed) for placed in self._placed]
        drawn += [corner for placed in self._placed if (corner := self._triangle_at(placed)) is not None]
        marks = [_turned(place - foot, angle) for place in drawn]
        reach = _RADIUS + 2

        def covered(box: QRectF) -> int:
            return sum(box.adjusted(-reach, -reach, reach, reach).contains(mark) for mark in marks)

        box = min(boxes, key=covered)
        painter.save()
        painter.translate(foot)
        painter.rotate(-angle)
        self._write(painter, text, box, colour)
        painter.restore()
        for far in range(round(box.left()), round(box.right()), round(line / 2)):
            middle = foot + _turned(QPointF(far, box.center().y()), -angle)
            self._taken.append(self._box(middle, line, line))

    def _triangle_at(self, placed: Placed) -> QPointF | None:
        """Return where the chosen kernel is marked for its shared memory, too; None for others."""
        intensity = placed.place.from_shared if placed.role == "chosen" else None
        return self.frame.at(intensity, placed.height) if intensity else None

    def _tile(self, painter: QPainter, intensity: float, gflops: float) -> None:
        """Mark the point on the roof at the intensity of a tile."""
        at, area = self.frame.at(intensity, gflops), self.frame.area
        painter.setPen(QPen(QColor(self._theme.muted), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(at.x(), area.bottom()), at)
        painter.setPen(QPen(QColor(self._theme.muted), 1.5))
        painter.setBrush(QColor(self._theme.background))
        painter.drawRect(self._box(at, 7, 7))

    # Kernels

    def _marker(self, painter: QPainter, placed: Placed) -> None:
        """Paint a circle for counted bytes, or a diamond for the model in which each matrix moves once."""
        colour = role_colour(placed.role, self._theme)
        edge = QColor(self._theme.outline) if placed.role == "other" else colour
        hollow = bool(placed.shown.origin) or not placed.place.gflops
        at, place = self.at(placed), placed.place
        painter.setPen(QPen(edge, 1.6))
        painter.setBrush(QColor(self._theme.background) if hollow else colour)
        corner = self._triangle_at(placed)
        if corner is not None:
            painter.drawPolygon(_triangle(corner, _RADIUS))
        size = _RADIUS * (1.3 if placed.role == "chosen" else 1.0)
        if place.from_global is not None:
            painter.drawEllipse(at, size, size)
        else:
            painter.drawPolygon(_diamond(at, size * 1.2))

    def _room(self, painter: QPainter, placed: Placed) -> None:
        """Draw a dotted line from the chosen kernel up to the roof, with the factor between them."""
        roof = placed.bound
        if placed.role != "chosen" or not placed.place.gflops or not roof or roof < _LEAST_ROOM * placed.place.gflops:
            return
        start, end = self.at(placed), self.frame.at(placed.intensity, roof)
        painter.setPen(QPen(role_colour("chosen", self._theme), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(start, end)
        factor = times(roof / placed.place.gflops)
        # Without counted bytes, the marker is at the intensity of perfect caches.
        counted = placed.place.from_global is not None
        text = tr("room: {times}", times=factor) if counted else tr("room: up to {times}", times=factor)
        wide, line = self._metrics.horizontalAdvance(text), self._metrics.height()
        middle = (start.y() + end.y()) / 2
        left = start.x() + 6 if start.x() + wide + 8 <= self.frame.area.right() else start.x() - wide - 8
        # Below the roof: close to it the text would cover the line, and the roof's name above it.
        box = QRectF(left, max(middle - line / 2, end.y() + 3), wide + 2, line)
        painter.fillRect(box, QColor(self._theme.background))
        self._write(painter, text, box, role_colour("chosen", self._theme))
        self._taken.append(box)

    def _name(self, painter: QPainter, placed: Placed) -> None:
        """Write a name beside its marker if there is room; the name of the chosen kernel always."""
        chosen = placed.role == "chosen"
        metrics = QFontMetricsF(page_font(chosen))
        wide, line, at = metrics.horizontalAdvance(placed.name) + 2, metrics.height(), self.at(placed)
        away = _RADIUS + 5
        tries = [
            QRectF(at.x() + away, at.y() - line / 2, wide, line),
            QRectF(at.x() - away - wide, at.y() - line / 2, wide, line),
            QRectF(at.x() - wide / 2, at.y() + away, wide, line),
            QRectF(at.x() - wide / 2, at.y() - away - line, wide, line),
        ]
        if chosen:  # its room, or other kernels, may stand beside it
            tries += [side.translated(0, line * by) for by in (1, -1, 2, -2, 3) for side in tries[:2]]
        own = self._box(at, _RADIUS * 2, _RADIUS * 2)
        inside = [box for box in tries if self.frame.area.contains(box)]
        taken = [other for other in self._taken if other != own]
        box = next((b for b in inside if not any(b.intersects(other) for other in taken)), None)
        if box is None and chosen:
            box = min(inside or tries[:1], key=lambda b: sum(b.intersects(other) for other in taken))
        if box is not None:
            self._taken.append(box)
            painter.fillRect(box, QColor(self._theme.background))
            colour = QColor(self._theme.muted) if placed.role == "other" else role_colour(placed.role, self._theme)
            self._write(painter, placed.name, box, colour, chosen)

    def _say_uncounted(self, painter: QPainter) -> None:
        """Say why kernels stand one above the other: without counted bytes, all have the intensity of their size."""
        places = [self.at(p).x() for p in self._placed if p.place.gflops and p.place.from_global is None]
        if len(places) < _STACKED:
            return
        area, x, left = self.frame.area, max(places), min(places)
        painter.setPen(QPen(QColor(self._theme.faint), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        text = tr("bytes not counted: these kernels stand where each matrix would move once")
        # Left of all marks, and as high as it needs: on the marks it could not be read, nor could they.
        wide = min(area.width() * _REASON, left - _BESIDE - area.left())
        box = QRectF(left - _BESIDE - wide, area.top(), wide, area.height() - 4)
        flags = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        painter.setFont(page_font())
        painter.setPen(QColor(self._theme.muted))
        used = painter.boundingRect(box, flags, text)
        painter.fillRect(used, QColor(self._theme.background))
        painter.drawText(box, flags, text)
        self._taken.append(QRectF(used))

    def _say_served(self, painter: QPainter) -> None:
        text, area = tr("left of the roof: caches served these bytes"), self.frame.area
        box = QRectF(area.left() + 6, area.top() + 4, area.width() * 0.4, 3 * self._metrics.height())
        painter.setFont(page_font())
        painter.setPen(QColor(self._theme.muted))
        used = painter.boundingRect(box, int(Qt.TextFlag.TextWordWrap), text)
        painter.fillRect(used, QColor(self._theme.background))
        painter.drawText(box, int(Qt.TextFlag.TextWordWrap), text)

    def _write(self, painter: QPainter, text: str, box: QRectF, colour: QColor, bold: bool = False) -> None:
        painter.setFont(page_font(bold))
        painter.setPen(colour)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), text)

    def _box(self, middle: QPointF, width: float, height: float) -> QRectF:
        return QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height)


def _diamond(at: QPointF, size: float) -> QPolygonF:
    return QPolygonF([at + QPointF(*d) for d in ((0, -size), (size, 0), (0, size), (-size, 0))])


def _triangle(at: QPointF, size: float) -> QPolygonF:
    return QPolygonF([at + QPointF(*d) for d in ((0, -size), (size, size), (-size, size))])


def _turned(point: QPointF, angle: float) -> QPointF:
    """Return a point in axes that are turned against the clock by an angle in degrees, on a screen."""
    x, y, turn = point.x(), point.y(), radians(angle)
    return QPointF(x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn))
