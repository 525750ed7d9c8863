"""Which moment the lens and the sentence of a stage show: while it plays, each is drawn anew in its turn.

A slow lens has a frame of its own: the arrays then follow in the next one.
"""

from collections.abc import Callable
from dataclasses import replace
from time import thread_time
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QRect, QRectF

from gemmviz.ui.stage.moment import Late, Moment
from gemmviz.ui.turns import Turns

if TYPE_CHECKING:
    from gemmviz.ui.stage.painter import StagePainter

Part = Literal["lens", "words", "cells"]
Prepare = Callable[[Moment], bool]
_SLOW_S = 0.004  # of a lens: a quarter of a frame
AHEAD_S = 0.002
"""Processor time in one frame between two steps for the next one, unless a single layer takes longer."""
_LAST_S = 0.006
"""Processor time of a frame after which nothing is painted ahead in it: half of what a frame may take."""


class LateParts:
    """The slow parts of one stage.

    Attributes
    ----------
    turns
        Distributes the frames; None: every part is drawn in every frame.
    """

    def __init__(self) -> None:
        self.turns: Turns | None = None
        self._shown: Late | None = None
        self._now: Moment | None = None
        self._coming: Moment | None = None
        """The moment of the lens that is being prepared."""
        self._lens_drawn = False

    def follow(
        self, moment: Moment, has_lens: bool, lens_seconds: float = 0.0, prepare: Prepare | None = None
    ) -> list[Part] | None:
        """Let the parts whose turn it is show a moment; return these, or None if all of the stage has to be painted.

        Parameters
        ----------
        moment
            The moment of the stage.
        has_lens, lens_seconds
            Whether it shows a lens, and the time in which that was last painted.
        prepare
            Draws a part of the lens at a moment, and returns whether all of it is ready; None: it is drawn at once.
        """
        shown, before, now = self._shown, self._now, replace(moment, fraction=0.0, hovered=None)
        self._lens_drawn = False
        if self.turns is None or not self.turns.on or shown is None or not _alike(shown.lens, now):
            return None
        behind = shown.cells != before  # the cells left the last frame to the lens
        begin, lens = thread_time(), now  # without a lens there is nothing to draw
        if has_lens:
            # Moving values are painted with the cells, which take all of the frame at a new step.
            waits = behind or (prepare is not None and now.motion != "none" and now != before)
            lens = shown.lens if waits else self._lens(shown.lens, now, prepare)
        self._lens_drawn = lens != shown.lens or self._coming is not None
        seconds = thread_time() - begin if prepare is not None else lens_seconds * (lens != shown.lens)
        words = now if self._may("words", shown.words, now) else shown.words
        alone = has_lens and moment.motion == "none" and seconds > _SLOW_S
        cells = shown.cells if alone else now
        self._shown, self._now = Late(lens, words, cells), now
        found: list[Part] = ["lens"] if has_lens and lens != shown.lens else []
        found += ["words"] if words != shown.words else []
        return [*found, "cells"] if cells != shown.cells else found

    def _lens(self, shown: Moment, now: Moment, prepare: Prepare | None) -> Moment:
        """Return the moment that the lens can show in this frame."""
        if shown == now or not self._may("lens", shown, now):
            return shown
        coming, self._coming = self._coming or now, None
        if prepare is None or prepare(coming):
            return coming
        self._coming = coming
        return shown

    def _may(self, part: Part, shown: Moment, now: Moment) -> bool:
        return shown == now or self.turns is None or self.turns.may((self, part))

    def at(self, moment: Moment) -> Late | None:
        """Return the moments to paint: of the last call of `follow`; None: all parts show the stage's moment."""
        if self.turns is None or not self.turns.on:
            self.forget()
            return None
        if self._shown is None or not _alike(self._shown.lens, moment):
            self._now = replace(moment, fraction=0.0, hovered=None)
            self._shown, self._coming = Late(self._now, self._now, self._now), None
        return self._shown

    @property
    def waits(self) -> bool:
        """Whether a part does not show the last moment yet."""
        shown = self._shown
        return shown is not None and any(part != self._now for part in (shown.lens, shown.words, shown.cells))

    @property
    def spare_seconds(self) -> float:
        """How long this frame may paint the next step: 0 if it shows a new step or a new lens, or was slow so far."""
        if self.turns is None or not self.turns.between or self._lens_drawn:
            return 0.0
        return max(min(AHEAD_S, _LAST_S - self.turns.spent), 0.0)

    def forget(self) -> None:
        """Let all parts show the stage's moment in the next frame."""
        self._shown = self._now = self._coming = None


def _alike(one: Moment, other: Moment) -> bool:
    """Say whether two moments differ in the step alone, as in the frames of playback."""
    same = replace(one, step=other.step, fraction=other.fraction, hovered=other.hovered, idea=other.idea)
    return same == other


def changed_places(
    late: LateParts, painter: "StagePainter | None", rect: QRectF, moment: Moment, ratio: float
) -> list[QRect] | None:
    """Let the slow parts follow to a moment, and return the places that have to be painted for it, in pixels.

    Parameters
    ----------
    late
        The slow parts.
    painter, rect
        Paints the stage into `rect`; None: there is no recording.
    moment, ratio
        The moment, and device pixels per pixel.

    Returns
    -------
    list or None
        None: all of the stage.
    """
    if painter is None:
        return None

    def prepare(lens_at: Moment) -> bool:
        return painter.prepare_lens(rect, lens_at, ratio)

    seconds = painter.quadrant.lens_seconds
    parts = late.follow(moment, painter.lens is not None, seconds, prepare if painter.has_gradual_lens else None)
    if parts is None:
        return None
    flies = moment.motion not in ("none", "line")
    if flies and "cells" in parts:
        return None
    arrays: list[QRect] | None = []
    if flies:
        arrays = painter.moving(rect, moment)
    elif "cells" in parts:
        arrays = painter.changing(rect, moment)
    if arrays is None:
        return None
    others = (painter.late_place(rect, moment.view, part) for part in parts if part != "cells")
    return [*arrays, *(place.toAlignedRect() for place in others)]


def look_ahead(late: LateParts, painter: "StagePainter | None", rect: QRectF, ahead: Moment, ratio: float) -> None:
    """Between two steps, paint some of the next one, so that its frame has less to do; after the frame's own places.

    Parameters
    ----------
    late
        The slow parts.
    painter, rect, ratio
        Paints the stage into `rect`; device pixels per pixel.
    ahead
        The moment of the next step.
    """
    seconds = late.spare_seconds
    if painter is not None and ahead.step < painter.playable.timeline.steps and seconds > 0:
        painter.look_ahead(rect, ahead, ratio, seconds)
