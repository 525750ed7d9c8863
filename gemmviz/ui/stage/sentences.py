"""The sentences about the present moment: they are made again only when the step or the choice changes."""

from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.caption import BETWEEN, about_cell, caption, tile_text
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.words import Said, sentence


class Sentences:
    """The sentences about a recording.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._playable = playable
        self._caption: tuple[tuple[int, int], str] | None = None
        self._said: tuple[tuple[int, int, tuple[int, int] | None], Said] | None = None

    def caption(self, step: int, block: int) -> str:
        """Return the sentence about a step."""
        key = step, block
        if self._caption is None or self._caption[0] != key:
            self._caption = key, caption(self._playable, step, block)
        return self._caption[1]

    def at(self, moment: Moment) -> Said:
        """Return what is said about a moment: about its chosen cell, else about its step."""
        key = moment.step, moment.block, moment.cell
        if self._said is None or self._said[0] != key:
            self._said = key, self._about(moment)
        return self._said[1]

    def _about(self, moment: Moment) -> Said:
        if moment.cell is None:
            return sentence(self.caption(moment.step, moment.block), tile_text(self._playable, moment.step))
        about = about_cell(self._playable, *moment.cell, moment.step, moment.block)
        name, _, rest = about.partition(BETWEEN)
        return Said(name, "", rest, chosen=True)
