"""Chooses cells on the stage: by keys from the chosen one on, or under the pointer."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF

from gemmviz.catalogue.matrices import C
from gemmviz.session.models.cursor import Cursor
from gemmviz.ui.known import known
from gemmviz.ui.stage.scene import Panel


class Picking:
    """Chooses cells of the recording that is shown; without one nothing happens.

    Parameters
    ----------
    cursor
        Holds the recording and the chosen cell.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def next_array(self) -> None:
        """Choose the first cell of the next array: C, then A, B and the shared ones."""
        if self._cursor.playable is not None:
            arrays = len(self._cursor.playable.recording.arrays)
            chosen = self._cursor.cell
            self._pick(C if chosen is None else (chosen[0] + 1) % arrays, 0, 0)

    def beside(self, down: int, right: int) -> None:
        """Choose the cell beside the chosen one; the first of C where none is chosen.

        Parameters
        ----------
        down, right
            How many rows and columns further.
        """
        playable, chosen = self._cursor.playable, self.chosen()
        if playable is None:
            return
        if chosen is None:
            self._pick(C, 0, 0)
            return
        array, row, column = chosen
        rows, columns = playable.recording.arrays[array].grid
        self._pick(array, min(max(row + down, 0), rows - 1), min(max(column + right, 0), columns - 1))

    def chosen(self) -> tuple[int, int, int] | None:
        """Return array, row and column of the chosen cell, or None."""
        playable, cell = self._cursor.playable, self._cursor.cell
        if playable is None or cell is None:
            return None
        row, column = playable.recording.arrays[cell[0]].cells(np.array([cell[1]]))
        return cell[0], int(row[0]), int(column[0])

    def let_go(self) -> None:
        """Choose no cell."""
        self._cursor.pick(None)

    def pick_at(self, panels: Sequence[Panel], point: QPointF) -> None:
        """Choose the cell at a point; none if there is no cell.

        Parameters
        ----------
        panels
            Where the arrays stand, in pixels.
        point
            In pixels.
        """
        if self._cursor.playable is None:
            return
        for panel in panels:
            cell = panel.at(point.x(), point.y())
            if cell is not None:
                self._pick(panel.array, *cell)
                return
        self._cursor.pick(None)

    @staticmethod
    def element_of_c(panels: Sequence[Panel], point: QPointF) -> int | None:
        """Return the element of C at a point, counted by rows; None if there is none.

        Parameters
        ----------
        panels, point
            As for `pick_at`.
        """
        cell = panels[C].at(point.x(), point.y()) if panels else None
        return cell[0] * panels[C].columns + cell[1] if cell is not None else None

    def _pick(self, array: int, row: int, column: int) -> None:
        recording = known(self._cursor.playable).recording
        element = recording.arrays[array].element(row, column)
        block = int(recording.owners[0][row, column]) if array == C else None
        self._cursor.pick((array, element), block)
