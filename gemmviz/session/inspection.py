"""What is looked at closely: one thread, and one way that a value took to an element of C."""

from typing import TYPE_CHECKING

import numpy as np
from psygnal import Signal

from gemmviz.catalogue.matrices import C
from gemmviz.trace.origin.value_path import Hop
from gemmviz.trace.recording.recording import WARP

if TYPE_CHECKING:
    from gemmviz.session.state import Session


class Inspection:
    """The chosen lane of the chosen warp, and the chosen hop.

    Who chooses an element of C chooses its owner: its warp and lane.

    Parameters
    ----------
    session
        Whose.
    """

    changed = Signal()

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._cell: tuple[int, int] | None = None
        self.lane = 0
        self.hop: Hop | None = None
        """The way that is drawn on the stage; None: those that are taken at the step."""
        session.picked.connect(self._on_picked)
        session.recorded.connect(self._on_recorded)

    @property
    def thread(self) -> int:
        """The chosen thread of the chosen block; on a CPU the lane counts its threads."""
        playable = self._session.playable
        threads = playable.recording.threads if playable else 1
        return min(self._session.warp * WARP + self.lane, threads - 1)

    @property
    def lanes(self) -> int:
        """Lanes that the chosen warp has; threads on a CPU; 0 without a recording."""
        playable = self._session.playable
        if playable is None:
            return 0
        threads = playable.recording.threads
        return min(threads - self._session.warp * WARP, WARP) if self._session.warps else threads

    def choose_lane(self, lane: int) -> None:
        """Choose a lane of the chosen warp; one that does not exist means the nearest."""
        self.lane = int(np.clip(lane, 0, max(self.lanes - 1, 0)))
        self.changed.emit()

    def choose_hop(self, hop: Hop | None) -> None:
        """Choose the way to draw on the stage."""
        if hop != self.hop:
            self.hop = hop
            self.changed.emit()

    def _on_picked(self) -> None:
        session = self._session
        if session.cell == self._cell:
            return
        self._cell, self.hop = session.cell, None
        if session.cell is not None and session.cell[0] == C and session.playable is not None:
            recording = session.playable.recording
            at = recording.arrays[C].cells(np.array([session.cell[1]]))
            thread = int(recording.owners[1][at][0])
            if thread >= 0:
                session.warp, self.lane = (thread // WARP, thread % WARP) if session.warps else (0, thread)
        self.changed.emit()

    def _on_recorded(self) -> None:
        self._cell, self.lane, self.hop = None, 0, None
        self.changed.emit()
