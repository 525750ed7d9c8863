"""Choosing an element of C also chooses the thread that owns it: its warp and its lane."""

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.inspection import Inspection
from gemmviz.trace.recording.recording import WARP


class PickedThread:
    """Passes a pick to the inspector; it is connected after the models, so that all have taken the cell.

    Parameters
    ----------
    cursor
        The recording, and the chosen warp and cell.
    inspection
        The chosen lane.
    """

    def __init__(self, cursor: Cursor, inspection: Inspection) -> None:
        self._cursor, self._inspection = cursor, inspection
        self._cell: tuple[int, int] | None = None
        cursor.picked.connect(self._on_picked)
        cursor.recorded.connect(self._on_recorded)

    def _on_picked(self) -> None:
        cursor, cell = self._cursor, self._cursor.cell
        if cell == self._cell:
            return
        self._cell = cell
        lane: int | None = None
        if cell is not None and cell[0] == C and cursor.playable is not None:
            recording = cursor.playable.recording
            at = recording.arrays[C].cells(np.array([cell[1]]))
            thread = int(recording.owners[1][at][0])
            if thread >= 0:
                cursor.warp, lane = (thread // WARP, thread % WARP) if cursor.warps else (0, thread)
        self._inspection.take(lane)

    def _on_recorded(self) -> None:
        self._cell = None
        self._inspection.take(0)
