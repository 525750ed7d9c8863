"""Drawn over the stage: the ways of values to the chosen element of C, and the lanes of a frozen warp."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.warp_request import warp_request
from gemmviz.trace.origin.value_path import Cell, Hop, PathStop, hops_now
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.ui.known import known
from gemmviz.ui.look.theme import Theme, ink, rgb
from gemmviz.ui.stage.accessed_cells import covered
from gemmviz.ui.stage.caption import misread_text
from gemmviz.ui.stage.marks import crossed
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_MOST_NOW = 6  # ways that one step takes at once: those of a fragment are many, and all alike
# Larger cells say their lanes themselves (`gemmviz.ui.stage.cell_text`).
_LANE_FROM, _LANE_UP_TO, _OUTLINED_FROM = 11.0, 20.0, 3.0
_KEPT = 4  # moments whose arrows are kept: this one, and the one before
_HEAD = 9.0
_FAR = 2 * _HEAD  # an arrow with its head and its cross is not farther from its line, in pixels
_PIECE = 48.0  # pixels of an arrow in one box


@dataclass(frozen=True)
class _Arrow:
    """An arrow with a rim, to be seen on cells of any colour; one that is `crossed` begins with a cross."""

    line: QLineF
    strokes: tuple[QPen, QPen]
    rim: QPen
    colour: QColor
    head: QPolygonF
    dot: float
    crossed: list[QLineF]
    note: str
    middle: QPointF

    def areas(self, metrics: QFontMetricsF) -> list[QRectF]:
        """Return the places that it takes, with its note in a font: boxes along its line, which may cross the stage."""
        begin, way = self.line.p1(), (self.middle - self.line.p1()) * 2
        count = max(ceil(max(abs(way.x()), abs(way.y())) / _PIECE), 1)
        corners = [begin + way * (number / count) for number in range(count + 1)]
        boxes = [QRectF(*ends).normalized().adjusted(-_FAR, -_FAR, _FAR, _FAR) for ends in pairwise(corners)]
        return [*boxes, _note_box(metrics, self.middle, self.note).adjusted(-1, -1, 1, 1)] if self.note else boxes

    def draw(self, painter: QPainter, theme: Theme) -> None:
        """Draw it, with its note."""
        for pen in self.strokes:
            painter.setPen(pen)
            painter.drawLine(self.line)
        painter.setPen(self.rim)
        painter.setBrush(self.colour)
        painter.drawPolygon(self.head)
        painter.drawEllipse(self.line.p1(), self.dot, self.dot)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.crossed:
            for shade, width in ((theme.background, 5.0), (theme.bad, 2.6)):
                painter.setPen(QPen(QColor(shade), width))
                painter.drawLines(self.crossed)
        if self.note:
            _note(painter, self.middle, self.note, theme, theme.bad if self.crossed else "")


@dataclass(frozen=True)
class _Arrows:
    """The arrows of one moment, and their places."""

    arrows: list[_Arrow]
    areas: list[QRectF]


_NO_ARROWS = _Arrows([], [])


class ValuePaths:
    """The ways of values of one recording in one theme.

    Parameters
    ----------
    playable
        The recording.
    theme, font
        Colours and font.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, font
        self._metrics = QFontMetricsF(font)
        self._hops: tuple[tuple[int, Cell], list[Hop]] | None = None
        self._panels: list[Panel] | None = None
        self._arrows: OrderedDict[Any, _Arrows] = OrderedDict()

    def draw(self, painter: QPainter, panels: list[Panel], moment: Moment) -> None:
        """Draw the lanes of the frozen warp, then arrows: of the chosen way, or of those that the step takes.

        Parameters
        ----------
        painter, panels
            The target, and the places of the arrays.
        moment
            The step; the chosen element of C is the moment's cell.
        """
        playable, theme = self._playable, self._theme
        if not playable.timeline.steps:
            return
        painter.save()
        painter.setFont(self._font)
        if moment.frozen:
            _draw_lanes(painter, panels, moment, playable, theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for arrow in self._arrows_of(panels, moment).arrows:
            arrow.draw(painter, theme)
        painter.restore()

    def areas(self, panels: list[Panel], moment: Moment) -> list[QRectF]:
        """Return the places that the ways drawn at a moment take."""
        return self._arrows_of(panels, moment).areas

    def _arrows_of(self, panels: list[Panel], moment: Moment) -> _Arrows:
        """Return the arrows of the chosen way, or of those that the step takes; they rest between two steps."""
        if not self._playable.timeline.steps:
            return _NO_ARROWS
        if moment.hop is None and (moment.cell is None or moment.cell[0] != C):
            return _NO_ARROWS
        key = moment.step, moment.cell, moment.hop
        if self._panels is not panels:
            self._panels = panels
            self._arrows.clear()
        found = self._arrows.get(key)
        if found is None:
            hops = [moment.hop] if moment.hop is not None else self._now(moment.step, known(moment.cell))
            numbered = moment.hop is not None
            made = [a for hop in hops for a in _arrows(panels, moment.step, self._playable, self._theme, hop, numbered)]
            areas = [area for arrow in made for area in arrow.areas(self._metrics)]
            found = self._arrows[key] = _Arrows(made, areas) if made else _NO_ARROWS
            while len(self._arrows) > _KEPT:
                self._arrows.popitem(last=False)
        return found

    def _now(self, step: int, cell: Cell) -> list[Hop]:
        """Return the ways to an element of C that a step takes."""
        if self._hops is None or self._hops[0] != (step, cell):
            _, row, column = cell_name(self._playable.recording, cell)
            fed = self._playable.provenance.operand_paths(row, column)
            self._hops = (step, cell), hops_now(self._playable, fed, cell, step, _MOST_NOW)
        return self._hops[1]


def _draw_lanes(painter: QPainter, panels: list[Panel], moment: Moment, playable: Playable, theme: Theme) -> None:
    """Outline the cells of the frozen warp's request, with their lanes where the cells themselves do not say them."""
    asked = warp_request(playable, moment.step, moment.block, moment.warp)
    if asked is None:
        return
    for panel in panels:
        if panel.array != asked.array or panel.cell < _OUTLINED_FROM:
            continue
        cells, place = covered(playable, panel.array, asked.row)
        lanes: dict[int, list[int]] = defaultdict(list)
        for cell, lane in zip(cells.tolist(), asked.lane[place].tolist(), strict=True):
            lanes[cell].append(lane)
        boxes = {cell: _box(panel, *divmod(cell, panel.columns)) for cell in lanes}
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.selection), max(1.5, min(panel.cell / 10, 3))))
        painter.drawRects(list(boxes.values()))
        if _LANE_FROM <= panel.cell < _LANE_UP_TO:
            _draw_numbers(painter, panel, boxes, lanes, theme.write if asked.write else theme.read, theme)


def _draw_numbers(
    painter: QPainter,
    panel: Panel,
    boxes: dict[int, QRectF],
    lanes: dict[int, list[int]],
    colour: str,
    theme: Theme,
) -> None:
    """Write the first lane of each cell over it; a plus where there are more."""
    font = QFont(painter.font())
    font.setPixelSize(max(int(panel.cell * 0.58), 7))
    painter.save()
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    for cell, box in boxes.items():
        label = f"{lanes[cell][0]}{'+' if len(lanes[cell]) > 1 else ''}"
        if metrics.horizontalAdvance(label) > panel.cell:
            label = str(lanes[cell][0])
        painter.fillRect(box.adjusted(1, 1, -1, -1), QColor(colour))
        painter.setPen(QColor(ink(theme, rgb(colour))))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)
    painter.restore()


def _arrows(panels: list[Panel], step: int, playable: Playable, theme: Theme, hop: Hop, numbered: bool) -> list[_Arrow]:
    """Return the arrows of one way: solid where it is taken at this step, dashed before and after."""
    legs: list[tuple[Cell, Cell, tuple[PathStop, ...]]] = []
    if hop.write is None:
        legs.append((hop.origin, hop.target, (hop.use,)))
    else:
        legs.append((hop.origin, hop.write.cell, (hop.read, hop.write)))
        legs.append((hop.use.cell, hop.target, (hop.use,)))
    shown = {p.array: p for p in panels}
    found = []
    for begin, end, stops in legs:
        if begin[0] not in shown or end[0] not in shown:
            continue
        _, *from_cell = cell_name(playable.recording, begin)
        _, *to_cell = cell_name(playable.recording, end)
        target = _box(shown[end[0]], *to_cell)
        line = _up_to(target, _box(shown[begin[0]], *from_cell).center())
        now = any(stop.step == step for stop in stops)
        if hop.misread and stops == (hop.use,):
            # The value was not the one in the cell: dashed, and crossed out where it begins.
            text = misread_text(hop.use.value, hop.read.value)
            found.append(_arrow(line, theme.bad, now, theme, text, wrong=True))
            continue
        steps = "–".join(thousands(number + 1) for number in sorted({stop.step for stop in stops}))
        note = tr("step {step}", step=steps) if numbered else ""
        found.append(_arrow(line, theme.read if len(stops) == 1 else theme.write, now, theme, note))
    return found


def _up_to(target: QRectF, begin: QPointF) -> QLineF:
    """Return a line to the border of a cell, so that its value stays readable."""
    centre = target.center()
    dx, dy = abs(begin.x() - centre.x()), abs(begin.y() - centre.y())
    inside = max(1.0, 2 * dx / target.width(), 2 * dy / target.height())
    end = QPointF(centre.x() + (begin.x() - centre.x()) / inside, centre.y() + (begin.y() - centre.y()) / inside)
    return QLineF(begin, end)


def _arrow(line: QLineF, colour: str, now: bool, theme: Theme, note: str, wrong: bool = False) -> _Arrow:
    width, whole = 2.6 if now else 1.6, line
    head = QPolygonF()
    if line.length() > 2 * _HEAD:
        unit, normal = line.unitVector(), line.normalVector().unitVector()
        along = QPointF(unit.dx(), unit.dy()) * _HEAD
        across = QPointF(normal.dx(), normal.dy()) * (_HEAD * 0.45)
        tip = line.p2()
        head = QPolygonF([tip, tip - along + across, tip - along - across])
        line = QLineF(line.p1(), tip - along * 0.8)
    pen = QPen(QColor(colour), width)
    pen.setStyle(Qt.PenStyle.SolidLine if now and not wrong else Qt.PenStyle.DashLine)
    cross = QRectF(0, 0, 2 * _HEAD, 2 * _HEAD)
    cross.moveCenter(whole.p1())
    return _Arrow(
        line,
        (QPen(QColor(theme.background), width + 2.4), pen),
        QPen(QColor(theme.background), 1),
        QColor(colour),
        head,
        width + 1,
        crossed(cross) if wrong else [],
        note,
        whole.center(),
    )


def _note(painter: QPainter, at: QPointF, text: str, theme: Theme, colour: str = "") -> None:
    box = _note_box(QFontMetricsF(painter.font()), at, text)
    painter.setPen(QPen(QColor(colour or theme.border), 1))
    painter.setBrush(QColor(theme.raised))
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(QColor(theme.text))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _note_box(metrics: QFontMetricsF, at: QPointF, text: str) -> QRectF:
    box = QRectF(0, 0, metrics.horizontalAdvance(text) + 8, metrics.height())
    box.moveCenter(at)
    return box


def _box(panel: Panel, row: int, column: int) -> QRectF:
    return QRectF(panel.x + column * panel.cell, panel.y + row * panel.cell, panel.cell, panel.cell)
