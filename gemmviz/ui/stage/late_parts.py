"""Which moment the lens and the sentence of a stage show: while it plays, each is drawn anew in its turn."""

from dataclasses import replace
from typing import Literal

from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.quadrant import Late
from gemmviz.ui.turns import Turns

Part = Literal["lens", "words"]


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

    def at(self, moment: Moment, has_lens: bool) -> Late | None:
        """Return the moments to draw in this frame; None: all parts show the stage's moment.

        Parameters
        ----------
        moment
            The moment of the stage.
        has_lens
            Whether it shows a lens.
        """
        if self.turns is None or not self.turns.on:
            self.forget()
            return None
        now = self._now = replace(moment, fraction=0.0, hovered=None)
        shown = self._shown
        if shown is None or shown.lens.view != now.view or shown.lens.motion != now.motion:
            self._shown = Late(now, now)
            return self._shown
        # Without a lens there is nothing to draw.
        lens = now if not has_lens or self._may("lens", shown.lens, now) else shown.lens
        words = now if self._may("words", shown.words, now) else shown.words
        self._shown = Late(lens, words)
        return self._shown

    def _may(self, part: Part, shown: Moment, now: Moment) -> bool:
        return shown == now or self.turns is None or self.turns.may((self, part))

    @property
    def waits(self) -> Part | None:
        """A part that does not show the last moment of `at`; None: all do."""
        if self._shown is None or self._now is None:
            return None
        if self._shown.lens != self._now:
            return "lens"
        return "words" if self._shown.words != self._now else None

    def forget(self) -> None:
        """Let all parts show the stage's moment in the next frame."""
        self._shown = self._now = None
