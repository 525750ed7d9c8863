"""Copies on their way: ghosts that fly from the cells that were read to the cells that will be written.

Where a ghost stands is a pure function of the moment. Many small cells are drawn in colour alone, and very many as one
piece for each tile.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, sin

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QLinearGradient, QPainter, QPen, QRegion

from gemmviz.catalogue.matrices import C
from gemmviz.trace.motion.flights import BlockFlights, Flights
from gemmviz.trace.motion.gestures import Motion, lift
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import Theme, ink, rgb
from gemmviz.ui.stage.cell_text import CellText
from gemmviz.ui.stage.cell_values import in_cell
from gemmviz.ui.stage.ghost_labels import GhostLabels
from gemmviz.ui.stage.ghost_places import Ends, Places, corners, ends, places
from gemmviz.ui.stage.ghost_shapes import Floats, between, bounds, hull, together
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.regions import along
from gemmviz.ui.stage.scene import Panel

MOST_WITH_VALUES, VALUE_CELL = 400, 14.0
"""As many ghosts, in cells at least this wide in pixels, show their values."""
MOST_CELLS, LEAST_CELL = 4000, 3.0
"""As many ghosts, in cells at least this wide, are drawn one by one."""
_RISE, _ARC = 4.0, 10.0  # pixels
_WAITING = 0.6  # opacity of a ghost that does not move during this step
_BAND, _SHADOW = 0.28, 0.4
_KEPT = 4  # steps
_AROUND = 10.0  # pixels round a ghost: its frame and its shadow reach out of it


@dataclass(frozen=True)
class _Standing:
    """The ghosts of one request.

    Attributes
    ----------
    mine
        Their numbers among the flights.
    boxes
        float64 (n, 3): left, top and side of each, in pixels; none if they are drawn as one piece.
    bounds
        The place of all of them.
    moving
        Whether they move during this step.
    whole
        Whether they are drawn as one piece.
    shadow
        How far below them their shadow is, in pixels; 0: none.
    """

    mine: npt.NDArray[np.int64]
    boxes: Floats
    bounds: QRectF
    moving: bool
    whole: bool
    shadow: float


class Ghosts:
    """The copies of one recording in one theme.

    Parameters
    ----------
    playable, theme
        The recording, and the colours.
    text, font
        Writes the values; the base font of the labels.
    """

    def __init__(self, playable: Playable, theme: Theme, text: CellText, font: QFont) -> None:
        self._playable, self._theme, self._text = playable, theme, text
        self._labels = GhostLabels(playable.recording, theme, font)
        self._labelled_at: tuple[Places, list[tuple[QRectF, str]]] | None = None
        self._flights: tuple[int, BlockFlights] | None = None
        self._ends: tuple[list[Panel], Flights, Ends] | None = None
        self._places: tuple[list[Panel], tuple[int, int, float], Places] | None = None
        self._stand: tuple[Places, Motion, bool, list[_Standing]] | None = None
        self._requests: OrderedDict[tuple[int, int], list[npt.NDArray[np.int64]]] = OrderedDict()

    def flights(self, moment: Moment) -> Flights:
        """Return the copies of the chosen block that are under way between a moment's step and the next one."""
        if self._flights is None or self._flights[0] != moment.block:
            shown = self._playable
            found = BlockFlights(shown.recording, shown.timeline, shown.staged, moment.block)
            self._flights = moment.block, found
            self._requests.clear()
        return self._flights[1].at(moment.step)

    def _at(self, panels: list[Panel], moment: Moment) -> Places:
        """Return where the ghosts of a moment stand; found once for each frame."""
        kept, key = self._places, (moment.block, moment.step, moment.fraction)
        if kept is None or kept[0] is not panels or kept[1] != key:
            flights, ways = self.flights(moment), self._ends
            if ways is None or ways[0] is not panels or ways[1] is not flights:
                ways = self._ends = panels, flights, ends(self._playable, panels, flights)
            kept = self._places = panels, key, places(flights, ways[2], moment.step + moment.fraction)
        return kept[2]

    def areas(self, panels: list[Panel], moment: Moment, covered: bool = False) -> list[QRectF]:
        """Return the places that the bands and ghosts of a moment take: see `draw`; none of lines."""
        if moment.motion in ("none", "line") or not self.flights(moment):
            return []
        at, found = self._at(panels, moment), []
        for one in self._standing(self.flights(moment), at, moment, covered):
            mine, ends = one.mine, [one.bounds]
            if moment.motion == "full" and one.moving:
                ends.append(at.ends.boxes(mine)[0])
            found += along(ends[0], ends[-1], _AROUND)
        return found + [place.adjusted(-2, -2, 2, 2) for place, _ in self._labelled(panels, at, moment, covered)]

    def _labelled(self, panels: list[Panel], at: Places, moment: Moment, covered: bool) -> list[tuple[QRectF, str]]:
        """Return the labels of what is under way, and their places; none while it is fast; below a lens in matrices."""
        if moment.motion != "full":
            return []
        if self._labelled_at is None or self._labelled_at[0] is not at:
            flights = self.flights(moment)
            standing = self._standing(flights, at, moment, covered)
            # By its source and not by its place: else the label would change sides on the way.
            pieces = (
                (one.mine, one.bounds, at.ends.boxes(one.mine)[0].top() if self._are_valued(at, one) else None)
                for one in standing
                if one.moving
            )
            waiting = ((one.mine, one.bounds) for one in standing if not one.moving and one.whole)
            labels = self._labels.placed(flights, pieces, waiting)
            if covered:
                inside = [QRectF(panel.x, panel.y, panel.width, panel.height) for panel in panels[: C + 1]]
                labels = [one for one in labels if any(matrix.contains(one[0]) for matrix in inside)]
            self._labelled_at = at, labels
        return self._labelled_at[1]

    def _are_valued(self, at: Places, one: "_Standing") -> bool:
        """Say whether the ghosts show their values."""
        small = one.whole or len(one.mine) > MOST_WITH_VALUES
        return not small and float(at.side[one.mine].min()) >= VALUE_CELL and one.moving

    def _standing(self, flights: Flights, at: Places, moment: Moment, covered: bool) -> list["_Standing"]:
        """Return the ghosts of each request, which all move together; found once for each frame."""
        kept = self._stand
        if kept is None or kept[0] is not at or kept[1:3] != (moment.motion, covered):
            found = list(self._find_standing(flights, at, moment, covered))
            kept = self._stand = at, moment.motion, covered, found
        return kept[3]

    def _find_standing(self, flights: Flights, at: Places, moment: Moment, covered: bool) -> Iterator["_Standing"]:
        for mine in self._requests_at(moment):
            first = int(mine[0])
            gesture, along = float(at.gesture[first]), float(at.along[first])
            moving = bool(flights.begin[first] == moment.step or flights.end[first] == moment.step + 1)
            if gesture <= 0 or (covered and not moving):
                continue  # the source itself shows it, or it would wait on cells of other tiles
            up = float(lift(gesture)) * _RISE if moment.motion == "full" else 0.0
            shift = -up - _ARC * sin(pi * along)
            stored = int(flights.stored[first]) >= 0
            whole = stored or len(mine) > MOST_CELLS or float(at.side[mine].min()) < LEAST_CELL
            if whole:
                # The pieces of a box stand in another order in shared memory: cell by cell it would shrink on its way.
                boxes = np.zeros((0, 3))
                around = between(*at.ends.boxes(mine), along).translated(0, shift)
            else:
                boxes = np.stack([at.x[mine], at.y[mine] + shift, at.side[mine]], axis=1)
                around = bounds(*boxes.T)
            shadow = up if moment.motion in ("full", "plain") else 0.0
            yield _Standing(mine, boxes, around, moving, whole, shadow)

    def prepare(self, moment: Moment) -> None:
        """Find the copies of a moment, which `draw` needs."""
        if moment.motion != "none":
            self._requests_at(moment)

    def draw(self, painter: QPainter, panels: list[Panel], moment: Moment, ratio: float, covered: bool = False) -> None:
        """Draw bands and ghosts; pads are below: see `draw_pads`.

        Parameters
        ----------
        painter, panels, ratio
            The painter, the places of the arrays, and device pixels per pixel.
        moment
            The moment, with the chosen block and the amount of motion.
        covered
            Whether a lens stands on the shared tiles: copies to them are seen as long as they are in their matrix, and
            those that wait are not.
        """
        flights = self.flights(moment) if moment.motion != "none" else ()
        if not flights:
            return
        at = self._at(panels, moment)
        painter.save()
        if covered:
            inside = QRegion()
            for panel in panels[: C + 1]:
                inside += QRectF(panel.x, panel.y, panel.width, panel.height).toRect()
            painter.setClipRegion(inside, Qt.ClipOperation.IntersectClip)
        if moment.motion == "line":
            self._draw_lines(painter, at, moment)
        else:
            self._draw_ghosts(painter, flights, at, moment, ratio, covered)
            painter.setOpacity(1.0)
            self._labels.draw(painter, self._labelled(panels, at, moment, covered))
        painter.restore()

    def _requests_at(self, moment: Moment) -> list[npt.NDArray[np.int64]]:
        """Return the copies that leave, land, come from and go to the same together, of those under way."""
        flights, key = self.flights(moment), (moment.block, moment.step)
        found = self._requests.get(key)
        if found is None:
            found = self._requests[key] = together(flights)
            while len(self._requests) > _KEPT:
                self._requests.popitem(last=False)
        return found

    def padded(self, moment: Moment) -> list[int]:
        """Return the arrays that have pads: see `draw_pads`."""
        if moment.motion == "none":
            return []
        flights = self.flights(moment)
        return [int(array) for array in np.unique(flights.target[~flights.asynchronous])]

    def draw_pads(self, painter: QPainter, panels: list[Panel], moment: Moment) -> None:
        """Outline the cells that copies on their way will write, small ones as one box: dashed, as they are to come.

        Those of asynchronous copies are hatched already (`gemmviz.ui.stage.in_flight`). Pads rest between two steps.

        Parameters
        ----------
        painter, panels, moment
            As in `draw`. Without the panel of an array its pads are left out.
        """
        flights = self.flights(moment) if moment.motion != "none" else ()
        if not flights:
            return
        by_array = {panel.array: panel for panel in panels}
        shown = np.isin(flights.target, list(by_array))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(QColor(self._theme.write), 1.3, Qt.PenStyle.DashLine)
        pen.setDashPattern([2.5, 2.0])
        painter.setPen(pen)
        for mine in self._requests_at(moment):
            if flights.asynchronous[mine[0]] or not shown[mine[0]]:
                continue
            x, y, side = corners(self._playable, by_array, flights.target[mine], flights.target_element[mine])
            if len(mine) <= MOST_WITH_VALUES and side.min() >= VALUE_CELL:
                boxes = zip(x.tolist(), y.tolist(), side.tolist(), strict=True)
                painter.drawRects([QRectF(left + 1.5, top + 1.5, wide - 3, wide - 3) for left, top, wide in boxes])
            else:
                painter.drawRect(bounds(x, y, side).adjusted(1, 1, -1, -1))

    def _draw_lines(self, painter: QPainter, at: Places, moment: Moment) -> None:
        """Join source and target of each request: where motion is reduced nothing flies."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.read), 1.5))
        for mine in self._requests_at(moment):
            begin, end = at.ends.boxes(mine)
            painter.drawRect(begin)
            painter.drawLine(begin.center(), end.center())

    def _draw_ghosts(
        self, painter: QPainter, flights: Flights, at: Places, moment: Moment, ratio: float, covered: bool
    ) -> None:
        """Draw a band and the ghosts of each request, which all move together."""
        recording = self._playable.recording
        hue = self._theme.owner(*recording.block_index(moment.block)[:2])
        for one in self._standing(flights, at, moment, covered):
            painter.setOpacity(1.0 if one.moving else _WAITING)
            if moment.motion == "full" and one.moving:
                self._draw_band(painter, at.ends.boxes(one.mine)[0], one.bounds)
            if one.whole:
                painter.setBrush(QColor(*hue))
                painter.setPen(QPen(QColor(self._theme.read), 1.6))
                painter.drawRect(one.bounds)
            else:
                values = flights.value[one.mine] if self._are_valued(at, one) else None
                self._draw_cells(painter, one.boxes, values, hue, one.shadow, ratio)

    def _draw_band(self, painter: QPainter, begin: QRectF, end: QRectF) -> None:
        """Join the source and the ghosts by a pale band."""
        colour, clear = QColor(self._theme.read), QColor(self._theme.read)
        colour.setAlphaF(_BAND)
        clear.setAlphaF(_BAND / 4)
        gradient = QLinearGradient(begin.center(), end.center())
        gradient.setColorAt(0, clear)
        gradient.setColorAt(1, colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(gradient))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPolygon(hull(begin, end))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _draw_cells(
        self,
        painter: QPainter,
        boxes: Floats,
        values: npt.NDArray[np.float32] | None,
        hue: tuple[int, int, int],
        shadow: float,
        ratio: float,
    ) -> None:
        fill, edge = QColor(*hue), QColor(self._theme.read)
        rects = [QRectF(x + 1, y + 1, side - 2, side - 2) for x, y, side in boxes.tolist()]
        painter.setPen(Qt.PenStyle.NoPen)
        if shadow > 0:
            painter.setBrush(QColor(0, 0, 0, int(255 * _SHADOW)))
            painter.translate(1.5, 1.5 + shadow)
            painter.drawRects(rects)
            painter.translate(-1.5, -1.5 - shadow)
        painter.setBrush(fill)
        painter.setPen(QPen(edge, 1.6) if values is not None else Qt.PenStyle.NoPen)
        painter.drawRects(rects)
        if values is None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(edge, 1.6))
            painter.drawRect(bounds(boxes[:, 0], boxes[:, 1], boxes[:, 2]))
            return
        text_colour = ink(self._theme, rgb(fill.name()))
        half, known = float(boxes[0, 2]) / 2, {value: in_cell(value) for value in set(values.tolist())}
        places = zip(boxes.tolist(), values.tolist(), strict=True)
        written = [(known[value], x + half, y + half) for (x, y, _), value in places]
        self._text.write_values(painter, written, text_colour, 2 * half, ratio)
