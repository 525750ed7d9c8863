"""The subject of the inspector: one thread, and one path of a value to an element of C."""

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.matrices import C
from gemmviz.session.cursor import Cursor
from gemmviz.trace.origin.value_path import Hop
from gemmviz.trace.recording.recording import WARP


class Inspection:
    """The chosen lane of the chosen warp, and the chosen hop.

    Choosing an element of C also chooses its owner: warp and lane.

    Parameters
    ----------
    cursor
        The recording, and the chosen warp and cell.
    """

    changed = Signal()
    panel_wanted = Signal(str)
    """Emitted when the inspector should show a tab."""
    clicked = Signal()
    """Emitted after a cell was chosen with the mouse."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._cell: tuple[int, int] | None = None
        self.lane = 0
        self.hop: Hop | None = None
        """The path that is drawn on the stage; None: the paths of the step."""

    @property
    def thread(self) -> int:
        """The chosen thread of the chosen block; on a CPU the lane counts its threads."""
        playable = self._cursor.playable
        threads = playable.recording.threads if playable else 1
        return min(self._cursor.warp * WARP + self.lane, threads - 1)

    @property
    def lanes(self) -> int:
        """The number of lanes of the chosen warp; on a CPU that of threads; 0 without a recording."""
        playable = self._cursor.playable
        if playable is None:
            return 0
        threads = playable.recording.threads
        return min(threads - self._cursor.warp * WARP, WARP) if self._cursor.warps else threads

    def choose_lane(self, lane: int) -> None:
        """Choose a lane of the chosen warp; if it does not exist, the nearest one."""
        self.lane = int(np.clip(lane, 0, max(self.lanes - 1, 0)))
        self.changed.emit()

    def choose_hop(self, hop: Hop | None) -> None:
        """Choose the path to draw on the stage."""
        if hop != self.hop:
            self.hop = hop
            self.changed.emit()

    def turn_to(self, panel: str) -> None:
        """Show a tab of the inspector: ``"counters"``, ``"warp"``, ``"thread"`` or ``"origin"``."""
        self.panel_wanted.emit(panel)

    def take_pick(self) -> None:
        """Show the owner of the chosen cell, after a pick."""
        if self._cursor.cell == self._cell:
            return
        self._cell, self.hop = self._cursor.cell, None
        if self._cursor.cell is not None and self._cursor.cell[0] == C and self._cursor.playable is not None:
            recording = self._cursor.playable.recording
            at = recording.arrays[C].cells(np.array([self._cursor.cell[1]]))
            thread = int(recording.owners[1][at][0])
            if thread >= 0:
                self._cursor.warp, self.lane = (thread // WARP, thread % WARP) if self._cursor.warps else (0, thread)
        self.changed.emit()

    def begin_anew(self) -> None:
        """Clear the selection, because another recording is on the stage."""
        self._cell, self.lane, self.hop = None, 0, None
        self.changed.emit()
