"""Draws the stage with a QPainter: the same code paints the window, a PNG and any other Qt paint device.

Back to front: background and labels (cached until the view changes), cells (one image per array), lines between cells,
accesses of this step, copies in flight, selection, values.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QRegion

from gemmviz.catalogue.matrices import C
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens
from gemmviz.ui.look.style import larger
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage import labels, legend, regions
from gemmviz.ui.stage.accessed_cells import AccessedCells
from gemmviz.ui.stage.axis_formulas import AxisFormulas
from gemmviz.ui.stage.block_order import BlockOrder
from gemmviz.ui.stage.borders import Borders
from gemmviz.ui.stage.caption import about_cell
from gemmviz.ui.stage.cell_text import CellText
from gemmviz.ui.stage.cells import Cells
from gemmviz.ui.stage.changes import Changes
from gemmviz.ui.stage.colours import Colours
from gemmviz.ui.stage.gestures import Gestures
from gemmviz.ui.stage.ghosts import Ghosts
from gemmviz.ui.stage.in_flight import InFlight
from gemmviz.ui.stage.kept_picture import KeptPicture
from gemmviz.ui.stage.label_layer import LabelLayer
from gemmviz.ui.stage.marks import Marks
from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.stage.movers import Movers
from gemmviz.ui.stage.ownership import Ownership
from gemmviz.ui.stage.places import StagePlaces
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.quadrant import Quadrant, Titled
from gemmviz.ui.stage.related import NearCells
from gemmviz.ui.stage.scene import Panel
from gemmviz.ui.stage.sentences import Sentences
from gemmviz.ui.stage.sum_owners import Sums
from gemmviz.ui.stage.sums_heading import SumsHeading
from gemmviz.ui.stage.tips import cell_tip
from gemmviz.ui.stage.value_path import ValuePaths
from gemmviz.ui.stage.view import View

__all__ = ["Moment", "StagePainter", "View", "larger"]

Layer = Callable[[QPainter], object]


class StagePainter(StagePlaces):
    """Paints one recording in one theme.

    Parameters
    ----------
    playable
        The recording to paint.
    theme
        The colours.
    font
        The base font; its pixel size sets all labels.
    vector
        Draw cells as rectangles and texts as texts, for a device that keeps them so (SVG); slower.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont, vector: bool = False) -> None:
        super().__init__(playable, theme, font, vector)
        self.theme, self.vector = theme, vector
        self.title = ""
        """The kernel's title; empty: its name."""
        self.title_taken = 0.0
        """Width that something else takes at the right of the title, in pixels."""
        self.touched = AccessedCells(playable)
        self._colours = Colours(playable, theme, self.touched)
        self._cells = Cells(self._colours, vector)
        self._text = CellText(playable, theme, self.font, vector)
        self._marks = Marks(playable, theme, self.touched, self._colours)
        self._order, self._borders = BlockOrder(playable.recording), Borders(playable.recording, theme)
        self._in_flight = InFlight(playable, theme)
        self._changes = Changes(playable, self.touched, self._colours, self._in_flight)
        self._ghosts = Ghosts(playable, theme, self._text, self.font)
        self._gestures = Gestures(playable, theme, self._text)
        self._movers = Movers(self._ghosts, self._gestures)
        self._sums, self._ownership = Sums(playable, theme), Ownership(playable, theme)
        self._ways, self._heading = ValuePaths(playable, theme, self.font), SumsHeading(playable, theme, self.font)
        self._sentences, self._axes = Sentences(playable), AxisFormulas(playable, theme, self.font)
        self.quadrant = Quadrant(playable, theme, self.font, self._sentences)
        self.labels = LabelLayer(theme.background)
        self._near, self.still = NearCells(playable), KeptPicture()
        self._last: Moment | None = None
        self._legend: tuple[Any, list[legend.LegendEntry]] | None = None

    def about(self, rect: QRectF, moment: Moment, x: float, y: float) -> str:
        """Return the text for a point: a cell, or a barrier; empty elsewhere."""
        plan = self.plan(rect, moment.view)
        tip = cell_tip(self.playable, plan.panels, moment, (x, y), self._covered(plan))
        if tip is not None:
            return tip
        place, font = plan.aside, self._labels_font(rect, plan)
        return self._barriers.at(place, font, x, y, moment.step, moment.block) if place is not None else ""

    def on_chip(self, rect: QRectF, view: View, point: QPointF) -> bool:
        """Say whether a point is on the size or on a parameter."""
        plan = self.plan(rect, view)
        words = None if self.in_lines(plan, view) else plan.words
        return words is not None and any(box.contains(point) for _, box in self.quadrant.words.chips(words))

    def paint(
        self,
        painter: QPainter,
        rect: QRectF,
        moment: Moment,
        ratio: float = 1.0,
        late: Late | None = None,
        part: QRegion | None = None,
    ) -> None:
        """Paint the stage at a moment into `rect`.

        Parameters
        ----------
        painter, rect, moment
            Where to, and the moment.
        ratio
            Device pixels per pixel.
        late
            The moments of the slow parts; None: this moment.
        part
            The part of `rect` that has to be painted; None: all of it.
        """
        painter.setFont(self.font)
        plan = self.plan(rect, moment.view)
        in_lines, placed, painted = self.in_lines(plan, moment.view), plan.panels, part
        if late is None or in_lines or self.vector or moment.motion == "line":
            part = None  # all is painted
        on_ground = part is not None and self._is_bare(plan, moment)
        late_places = [self.late_place(rect, moment.view, name) for name in ("lens", "words")] if on_ground else []
        if part is not None and regions.covers(late_places, part):
            for one in regions.boxes(part):
                painter.fillRect(one, QColor(self.theme.background))
            self._draw_quadrant(painter, plan, moment, ratio, late, part)
            return
        seen = self.seen(rect, in_lines)
        cells = self._last = replace(moment, step=late.cells.step) if late is not None and late.cells else moment
        resting = self._still_key(rect, cells)
        keeps = self._keeps(moment) or (part is not None and self.lens is None and moment.cell is not None)
        key = resting if keeps or (late is not None and self.still.expects(rect, resting, ratio)) else None

        def paint_still(into: QPainter, changed: QRegion | None) -> None:
            # A picture that is kept is of all arrays.
            self._paint_still(into, rect, plan, cells, ratio, part if key is None else changed)

        self.still.draw(painter, rect, key, ratio, paint_still, lambda before: self._changed_still(plan, before, key))
        painter.save()
        painter.setClipRect(seen, Qt.ClipOperation.IntersectClip)
        areas = self._way_areas(plan, moment)
        if self.lens is None and (moment.frozen or any(regions.needs(part, area) for area in areas)):
            # A lens covers the shared tiles, where most ways begin.
            self._ways.draw(painter, placed, moment)
        self._movers.draw(painter, placed, moment, ratio, self._below_lens(plan), painted, late is not None)
        painter.restore()
        if not in_lines:
            self._draw_quadrant(painter, plan, moment, ratio, late, part)
            return
        if self.vector:
            # A vector file has no clip: lines beyond the arrays' part are covered.
            for strip in (QRectF(rect.topLeft(), seen.topRight()), QRectF(seen.bottomLeft(), rect.bottomRight())):
                painter.fillRect(strip, QColor(self.theme.background))
        self._lines.draw_title(painter, rect, moment, self.title_taken)
        sentence = self.sentence(moment) if self.captioned else None
        about = about_cell(self.playable, *moment.cell, moment.step, moment.block) if moment.cell is not None else None
        self._lines.draw_foot(painter, rect, sentence, about, self._entries(moment, plan))

    def _keeps(self, moment: Moment) -> bool:
        """Return whether the next frames are likely to show the same step, so that the resting layers are kept."""
        return moment.motion != "none" and not self.vector

    def _paint_still(
        self, painter: QPainter, rect: QRectF, plan: Plan, moment: Moment, ratio: float, part: QRegion | None
    ) -> None:
        """Paint the resting layers below the moving ones, as far as a part needs them."""
        labels_first, *layers = self._still_layers(rect, plan, moment, ratio, part)
        labels_first(painter)
        painter.save()
        painter.setClipRect(self.seen(rect, self.in_lines(plan, moment.view)), Qt.ClipOperation.IntersectClip)
        for layer in layers:
            layer(painter)
        painter.restore()

    def _still_layers(
        self, rect: QRectF, plan: Plan, moment: Moment, ratio: float, part: QRegion | None
    ) -> Iterator[Layer]:
        """Yield the painters of the resting layers, from back to front; all but the labels stay in the visible part."""
        placed, seen = plan.panels, self.seen(rect, self.in_lines(plan, moment.view))
        font, shown = self._labels_font(rect, plan), regions.shown(plan.uncovered(self.lens is not None), part)
        yield lambda painter: self._draw_labels(painter, rect, plan, moment, ratio, part)
        whole = [panel for panel in shown if panel.part is None]
        yield from self._array_layers(placed, whole, seen, moment, font, ratio)
        for panel in shown:
            if panel.part is not None:
                # On whole pixels, as the part that is seen.
                place = regions.box(panel.place).toAlignedRect()
                for layer in self._array_layers(placed, [panel], seen, moment, font, ratio):
                    yield partial(regions.draw_within, place, layer)

        def beside(painter: QPainter) -> None:
            if plan.aside is not None:
                self._barriers.draw(painter, plan.aside, font, moment.step, moment.block, ratio)
            self._ghosts.draw_pads(painter, shown, moment)
            self._heading.draw(painter, plan, moment)

        yield beside

    def _array_layers(
        self, placed: list[Panel], shown: list[Panel], seen: QRectF, moment: Moment, font: QFont, ratio: float
    ) -> Iterator[Layer]:
        """Yield functions that paint some of the arrays, as far as they are seen, from back to front."""
        near, images = self._near.at(moment), {}

        def cells(painter: QPainter, panel: Panel) -> None:
            images[panel.array] = self._cells.draw(painter, panel, seen, moment, near, ratio)

        for panel in shown:
            yield partial(cells, panel=panel)

        def marks(painter: QPainter) -> None:
            self._borders.draw(painter, placed, seen, None if self.vector else ratio, shown)
            self.lens_marks.draw(painter, placed, seen, moment, self.lens, ratio, shown)
            self._marks.draw(painter, placed, seen, moment, near, shown)

        def over_marks(painter: QPainter) -> None:
            self._in_flight.draw(painter, shown, seen, moment)
            if placed[C] in shown:
                plates = self._order.plates(placed[C], self._text, self.font)
                self._sums.draw(painter, placed, seen, moment, font, plates)
                self._ownership.draw(painter, placed[C], seen, moment)

        def text(painter: QPainter, panel: Panel) -> None:
            image = images[panel.array]
            if image is not None:
                self._text.draw(painter, panel, regions.box(panel.place).intersected(seen), moment, image, ratio)

        yield marks
        yield over_marks
        for panel in shown:
            yield partial(text, panel=panel)
        if placed[C] in shown:
            yield lambda painter: self._order.draw(painter, placed, self.theme, self._text, ratio)

    def look_ahead(self, rect: QRectF, moment: Moment, ratio: float, seconds: float) -> None:
        """Paint a part of the resting layers of the next step, as long as nothing else needs the time.

        Parameters
        ----------
        rect, ratio
            As for `paint`.
        moment
            The moment.
        seconds
            Processor time of this thread after which no further part is begun.
        """
        plan = self.plan(rect, moment.view)
        if self.vector or self.in_lines(plan, moment.view):
            return
        key = self._still_key(rect, moment)

        def layers(part: QRegion | None) -> Iterator[Layer]:
            yield from self._still_layers(rect, plan, moment, ratio, part)
            yield lambda painter: self._ghosts.prepare(moment)
            yield lambda painter: self._way_areas(plan, moment)

        self.still.go_on_with_next(
            rect, key, ratio, self.font, layers, lambda before: self._changed_still(plan, before, key), seconds
        )

    def _still_key(self, rect: QRectF, moment: Moment) -> Any:
        """Return all that the picture of the resting layers depends on."""
        return self._plan_key(rect), moment.at_rest()

    def _draw_labels(
        self, painter: QPainter, rect: QRectF, plan: Plan, moment: Moment, ratio: float, part: QRegion | None
    ) -> None:
        """Draw the background and all that changes with the view only."""
        font, seen = self._labels_font(rect, plan), self.seen(rect, self.in_lines(plan, moment.view))
        taken = []
        if plan.aside is not None:
            taken.append(QRectF(plan.aside.x, plan.aside.y, plan.aside.width, plan.aside.height))
        if plan.words is not None and moment.view == View():
            taken.append(QRectF(plan.words.left, plan.words.top, plan.words.width, plan.words.height))
        if (covered := self._covered(plan)) is not None:
            taken.append(covered)
        taken += self._heading.at(plan, moment, [C])

        def write(into: QPainter) -> None:
            labels.draw(into, plan.panels, moment.block, self.playable.recording, self.theme, font, plan.form, taken)

        if self.vector:
            painter.fillRect(rect, QColor(self.theme.background))
            painter.save()
            painter.setClipRect(seen, Qt.ClipOperation.IntersectClip)
            write(painter)
            painter.restore()
            return
        key = self._plan_key(rect), moment.view, moment.block
        self.labels.draw(painter, rect, seen, plan.panels, key, ratio, write, part)

    def _draw_quadrant(
        self, painter: QPainter, plan: Plan, moment: Moment, ratio: float, late: Late | None, part: QRegion | None
    ) -> None:
        """Write title and caption into the free quadrant, and the legend left of A, as far as a part needs them."""
        assert plan.words is not None
        on_ground = late is not None and self._is_bare(plan, moment)
        captioned = self.captioned and not self.words
        axes = self._axes.placed(plan, moment, captioned)
        titled = Titled(self.title, self.title_taken, captioned, plan.form == "of a block")
        if regions.needs(part, regions.grown(plan.words)):
            seen = late.words if late is not None else moment
            above_axes = replace(plan.words, bottom=axes.top)
            self.quadrant.draw_words(painter, above_axes, seen, titled, ratio, on_ground)
        if self.lens is not None and plan.free is not None and regions.needs(part, plan.free):
            keeps = self._keeps(moment) or (late is not None and not self.vector)
            shown = late.lens if late is not None else moment
            self.quadrant.draw_lens(painter, self.lens, plan.free, shown, ratio, keeps)
        if plan.legend is not None and regions.needs(part, regions.grown(plan.legend)):
            self.quadrant.draw_legend(painter, plan, self._entries(moment, plan), axes.beside_a, ratio, on_ground)
        self._axes.draw(painter, plan, axes, part)

    @property
    def has_gradual_lens(self) -> bool:
        """Whether the lens is drawn in pieces."""
        return isinstance(self.lens, GradualLens)

    def prepare_lens(self, rect: QRectF, moment: Moment, ratio: float) -> bool:
        """Draw a part of the lens at a moment for a later frame; return whether all of it is ready to be drawn."""
        plan, lens = self.plan(rect, moment.view), self.lens
        if not isinstance(lens, GradualLens) or plan.free is None or self.in_lines(plan, moment.view) or self.vector:
            return True
        return self.quadrant.prepare_lens(lens, plan.free, moment, ratio)

    def changing(self, rect: QRectF, moment: Moment) -> list[QRect] | None:
        """Return the places that changed since the last frame, without lens and words; None if anything may have.

        As in playback, the moment of the last frame must differ in the step alone.
        """
        plan, last = self.plan(rect, moment.view), self._last
        if last is None or moment.block != last.block or self.in_lines(plan, moment.view):
            return None
        if last.motion != moment.motion or self._flies(moment):
            return None
        arrays = self._changes.arrays(last, moment) + self.lens_marks.changed(self.lens, last, moment)
        ways = self._way_areas(plan, last) + self._way_areas(plan, moment) if last.step != moment.step else []
        ways += self._heading.changed(plan, last, moment, arrays)
        return regions.changing(plan, moment, self.lens is not None, arrays, ways)

    def moving(self, rect: QRectF, moment: Moment) -> list[QRect] | None:
        """Return the places that changed since the last frame if only its fraction did; None if anything may have."""
        plan = self.plan(rect, moment.view)
        if self.vector or self.in_lines(plan, moment.view) or moment.motion == "line":
            return None
        return self._movers.places(plan.panels, moment, self._below_lens(plan))

    def _changed_still(self, plan: Plan, before: Any, now: Any) -> QRegion | None:
        """Return the places where the resting layers look different after a step; None if it may be everywhere."""
        (last_plan, last), (this_plan, moment) = before, now
        if last_plan != this_plan or replace(last, step=moment.step) != moment:
            return None
        arrays = self._changes.arrays(last, moment) + self.lens_marks.changed(self.lens, last, moment)
        arrays += [array for at in (last, moment) for array in self._ghosts.padded(at)]
        heading = self._heading.changed(plan, last, moment, arrays)
        places = regions.changing(plan, moment, self.lens is not None, arrays, heading)
        return regions.joined(places) if places is not None else None

    def _flies(self, moment: Moment) -> bool:
        """Say whether something may be on its way anywhere on the stage; a vector file has no parts."""
        return moment.motion != "none" or self.vector

    def _way_areas(self, plan: Plan, moment: Moment) -> list[QRectF]:
        return self._ways.areas(plan.panels, moment) if self.lens is None else []

    def _is_bare(self, plan: Plan, moment: Moment) -> bool:
        """Say whether nothing but the background is below the words and the legend: nothing flies over it."""
        if self._flies(moment):
            return False
        places = regions.box(plan.words), regions.box(plan.legend)
        return not any(area.intersects(place) for area in self._way_areas(plan, moment) for place in places)

    def _entries(self, moment: Moment, plan: Plan) -> list[legend.LegendEntry]:
        barriers, ringed = plan.aside is not None and self.lens is None, moment.rings(plan.panels[C].cell)
        key = moment.warp, moment.block, bool(self._order.tiles), barriers, ringed
        if self._legend is None or self._legend[0] != key:
            self._legend = key, legend.entries(self.playable, self.theme, *key)
        return self._legend[1]

    def sentence(self, moment: Moment) -> str:
        """Return the sentence about a moment's step."""
        return moment.idea or self._sentences.caption(moment.step, moment.block)
