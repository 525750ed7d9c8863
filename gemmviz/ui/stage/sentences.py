"""The sentences about the present moment: they are made again only when the step or the choice changes."""

from dataclasses import replace

from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.caption import BETWEEN, about_cell, caption, tile_text
from gemmviz.ui.stage.likeness_text import likeness_text
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.words import Sentence, step_sentence


class Sentences:
    """The sentences about a recording.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._playable = playable
        self._alike = likeness_text(playable)
        self._caption: tuple[tuple[int, int], str] | None = None
        self._sentence: tuple[tuple[int, int, tuple[int, int] | None, str], Sentence] | None = None

    def caption(self, step: int, block: int) -> str:
        """Return the sentence about a step."""
        key = step, block
        if self._caption is None or self._caption[0] != key:
            self._caption = key, caption(self._playable, step, block)
        return self._caption[1]

    def at(self, moment: Moment) -> Sentence:
        """Return the sentence about a moment: about its chosen cell, else about its step; or the kernel's idea."""
        key = moment.step, moment.block, moment.cell, moment.idea
        if self._sentence is None or self._sentence[0] != key:
            self._sentence = key, self._about(moment)
        return self._sentence[1]

    def _about(self, moment: Moment) -> Sentence:
        if moment.cell is None:
            found = step_sentence(self.caption(moment.step, moment.block), tile_text(self._playable, moment.step))
        else:
            about = about_cell(self._playable, *moment.cell, moment.step, moment.block)
            name, _, rest = about.partition(BETWEEN)
            found = Sentence(name, "", rest, chosen=True)
        if moment.idea:
            if self._alike:  # the picture alone would be that of the other kernel
                found = Sentence(self._alike, "", "")
            return replace(found, text=moment.idea, chosen=False, idea=True)
        # First, as the last parts are left out where there is no room.
        return replace(found, text=BETWEEN.join(part for part in (self._alike, found.text) if part))
