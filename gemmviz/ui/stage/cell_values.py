"""The values of the stage's cells as texts: of those that a step changes, only these are written anew."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.caption import number
from gemmviz.ui.stage.colours import values, written

PLAIN, LIVE, STORED = range(3)
"""Styles: an input or a tile; a running sum of C; a stored element of C."""
Part = tuple[slice, slice]


def in_cell(value: float) -> str:
    """Write a value for a cell: its minus is a dash as wide as a digit, as a true minus would touch the next cell."""
    return number(value).replace("\N{MINUS SIGN}", "\N{EN DASH}")


@dataclass
class CellTexts:
    """The texts of some cells of an array.

    Attributes
    ----------
    key
        Equal as long as the texts are.
    texts
        By row and column; empty: nothing was written yet.
    styles
        By row and column, `PLAIN`, `LIVE` and `STORED`; None: all are plain.
    """

    key: Any
    texts: list[list[str]]
    styles: list[list[int]] | None
    values: npt.NDArray[Any]
    empty: npt.NDArray[np.bool_]


class CellValues:
    """The values of one recording's cells, as texts.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._playable = playable
        timeline = playable.timeline
        self._writes = [
            np.flatnonzero((timeline.array == i) & timeline.write) for i in range(len(playable.recording.arrays))
        ]
        self._kept: dict[int, CellTexts] = {}

    def at(self, array: int, step: int, block: int, part: Part, summed: bool = False) -> CellTexts:
        """Return the texts of some cells at a step; the next call may change them.

        Parameters
        ----------
        array, step, block
            The array, the step, and the block whose shared memory is shown.
        part
            The rows and columns of the cells.
        summed
            Whether C has its running sums, too.
        """
        live = self._playable.live_sums if summed else None
        place = live.place(step) if live is not None else -1
        # They change with the writes to the array, and running sums with each product.
        key = int(np.searchsorted(self._writes[array], step, side="right")), place, block, part
        kept = self._kept.get(array)
        if kept is not None and kept.key == key:
            return kept
        found, styles = values(self._playable, array, step, block)[part], None
        holds = written(self._playable, array, step, block)
        empty = np.isnan(found) & ~holds[part]
        if live is not None and live.known.any():
            running = live.shown(step, holds)[part]
            found, empty = np.where(running, live.at(step)[part], found), empty & ~running
            styles = np.where(running, LIVE, STORED).tolist()
        texts = self._texts(kept if kept is not None and kept.key[-1] == part else None, found, empty)
        self._kept[array] = made = CellTexts(key, texts, styles, found, empty)
        return made

    def _texts(self, kept: CellTexts | None, found: npt.NDArray[Any], empty: npt.NDArray[np.bool_]) -> list[list[str]]:
        """Return the texts of values; those of cells that did not change are taken from the texts before."""
        if kept is None:
            rows = zip(found.tolist(), empty.tolist(), strict=True)
            return [["" if no else in_cell(value) for value, no in zip(*row, strict=True)] for row in rows]
        same = (kept.values == found) & (kept.empty == empty)
        for row, column in np.argwhere(~same).tolist():
            kept.texts[row][column] = "" if empty[row, column] else in_cell(float(found[row, column]))
        return kept.texts
