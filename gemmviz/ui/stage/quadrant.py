"""The parts around the arrays: title, sentence, lens and legend, each kept as a picture until it changes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QRegion

from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.gradual import GradualLens, Unfinished
from gemmviz.ui.lenses.lens import Lasting, Lens, LensMoment
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.caption import provenance
from gemmviz.ui.stage.kept_picture import KeptPicture
from gemmviz.ui.stage.legend import LegendColumn, LegendEntry
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.scene import Bounds
from gemmviz.ui.stage.sentences import Sentences
from gemmviz.ui.stage.words import TITLE_LINES, Words

_BESIDE = 2.0  # pixels left of the legend, that the edges of its signs may reach
PIECES_S = 0.0015
"""Processor time of pieces of a lens in one frame, unless a single one takes longer."""


@dataclass(frozen=True)
class Titled:
    """The words above the sentence: see `gemmviz.ui.stage.painter.StagePainter`.

    Attributes
    ----------
    title
        The kernel's title; empty: its label.
    taken
        Width of something else at the right of the title, in pixels.
    says
        Whether the sentence stands below it.
    of_block
        Whether the picture is of one block: its column is narrow, so the verdict has a line of its own.
    """

    title: str
    taken: float
    says: bool
    of_block: bool


class Quadrant:
    """Draws the words, the lens and the legend of one recording in one theme.

    Parameters
    ----------
    playable, theme, font
        The recording, the colours, and the base font.
    sentences
        The sentences about the recording.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont, sentences: Sentences) -> None:
        self._playable, self._theme, self._font, self._sentences = playable, theme, font, sentences
        self._high = QFontMetricsF(font).height()
        self._column = LegendColumn(theme, font)
        self.words = Words(playable, theme, font)
        self._origin: dict[tuple[bool, bool], list[str]] = {}
        self.lens_picture, self.words_picture, self.legend_picture = KeptPicture(), KeptPicture(), KeptPicture()
        self.lens_seconds = 0.0
        """Processor time of this thread in which the lens was last painted."""

    def draw_words(
        self, painter: QPainter, place: Bounds, moment: Moment, titled: Titled, ratio: float, on_ground: bool
    ) -> None:
        """Write the title and the sentence.

        Parameters
        ----------
        painter, place, ratio
            Where to, and device pixels per pixel.
        moment
            The moment of the sentence.
        titled
            The words above it.
        on_ground
            Whether nothing but the background is below the words: then they are kept as a picture.
        """

        def paint(into: QPainter) -> None:
            self._write(into, place, moment, titled)

        if not on_ground:
            paint(painter)
            return
        origin = moment.outdated, moment.in_doubt
        key = place, titled, moment.step, moment.block, moment.cell, origin, moment.idea
        self._draw_kept(self.words_picture, painter, _rect(place), key, ratio, paint)

    def _write(self, painter: QPainter, place: Bounds, moment: Moment, titled: Titled) -> None:
        known = moment.outdated, moment.in_doubt
        if known not in self._origin:
            self._origin[known] = provenance(self._playable, *known)
        # The name alone: the parameters have chips of their own.
        title = titled.title or self._playable.recording.kernel
        origin = self._origin[known]
        self.words.draw_title(painter, place, title, origin, moment.judged, titled.taken, titled.of_block)
        if titled.says:
            below = replace(place, top=place.top + (TITLE_LINES + 0.3) * self._high)
            self.words.draw_sentence(painter, below, self._sentences.at(moment))

    def draw_legend(
        self, painter: QPainter, plan: Plan, entries: list[LegendEntry], taken: QRectF, ratio: float, on_ground: bool
    ) -> None:
        """Draw the legend in its place but not at `taken`, if the plan has one; else as `draw_words`."""
        place = plan.legend
        if place is None:
            return
        if not on_ground:
            self._column.draw(painter, place, entries, taken)
            return

        def paint(into: QPainter) -> None:
            self._column.draw(into, place, entries, taken)

        whole = _rect(place).adjusted(-_BESIDE, 0, 0, 0)
        self._draw_kept(self.legend_picture, painter, whole, (place, entries, taken.getRect()), ratio, paint)

    def draw_lens(
        self, painter: QPainter, lens: Lens, place: Bounds, moment: Moment, ratio: float, keeps: bool
    ) -> None:
        """Draw a lens in the place of the shared tiles; `keeps`: whether the next frames may show the same."""
        rect, shown = _rect(place), self._of_lens(moment)

        def paint(into: QPainter, part: QRegion | None) -> None:
            into.fillRect(rect, QColor(self._theme.background))
            into.save()
            into.setClipRect(rect.toAlignedRect())
            begin = thread_time()
            lens.paint(into, rect, shown, self._theme, self._font)
            self.lens_seconds = thread_time() - begin
            into.restore()

        self.lens_picture.draw(painter, rect, _state(lens, shown) if keeps else None, ratio, paint)

    def prepare_lens(self, lens: GradualLens, place: Bounds, moment: Moment, ratio: float) -> bool:
        """Draw a few pieces of a lens for a later frame; return whether `draw_lens` has them all."""
        rect, shown = _rect(place), self._of_lens(moment)

        def begin() -> Callable[[QPainter], bool]:
            picture = Unfinished(lens, rect, shown, self._theme, self._font)

            def go_on(into: QPainter) -> bool:
                if not picture.begun:
                    into.fillRect(rect, QColor(self._theme.background))
                into.setClipRect(rect.toAlignedRect())
                return picture.go_on(into)

            return go_on

        return self.lens_picture.prepare(rect, _state(lens, shown), ratio, self._font, begin, PIECES_S)

    def _of_lens(self, moment: Moment) -> LensMoment:
        return LensMoment(self._playable, moment.step, moment.block, moment.warp, moment.lane, moment.cell)

    def _draw_kept(
        self,
        picture: KeptPicture,
        painter: QPainter,
        place: QRectF,
        key: Any,
        ratio: float,
        paint: Callable[[QPainter], None],
    ) -> None:
        """Draw something on the background from a picture."""
        whole = QRectF(place.toAlignedRect())

        def on_ground(into: QPainter, part: QRegion | None) -> None:
            into.fillRect(whole, QColor(self._theme.background))
            into.save()
            paint(into)
            into.restore()

        picture.draw(painter, whole, key, ratio, on_ground)


def _state(lens: Lens | GradualLens, shown: LensMoment) -> Any:
    """Return all that the picture of a lens depends on."""
    return lens, lens.state(shown) if isinstance(lens, Lasting) else shown


def _rect(place: Bounds) -> QRectF:
    return QRectF(place.left, place.top, place.width, place.height)
