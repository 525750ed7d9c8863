"""The sentences about the present moment: they are made again only when the step or the choice changes."""

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr
from gemmviz.trace.origin.index_formulas import index_formulas
from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.caption import BETWEEN, about_cell, caption, formula_text, tile_text
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.words import Said, sentence

Formulas = tuple[tuple[str, ...], ...]


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
        self._formula: tuple[int, Formulas] | None = None

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
        return Said(name, "", rest, chosen=True, formulas=self._formulas(moment.cell))

    def _formulas(self, cell: tuple[int, int]) -> Formulas:
        """Say how the thread of a chosen element of C finds it; nothing if the source does not say it."""
        if cell[0] != C:
            return ()
        if self._formula is None or self._formula[0] != cell[1]:
            recording = self._playable.recording
            row, column = (int(v[0]) for v in recording.arrays[C].cells(np.array([cell[1]])))
            found = zip((tr("row"), tr("column")), index_formulas(recording, row, column), strict=True)
            self._formula = cell[1], tuple(formula_text(side, formula) for side, formula in found if formula)
        return self._formula[1]
