"""The subject of the inspector: one thread, and one path of a value to an element of C."""

from collections.abc import Callable

import numpy as np
from psygnal import Signal

from gemmviz.trace.origin.value_path import Hop


class Inspection:
    """The chosen lane of the chosen warp, and the chosen hop.

    Parameters
    ----------
    threads
        Returns the threads of the chosen warp; on a CPU all threads; none without a recording.
    """

    changed = Signal()
    panel_wanted = Signal(str)
    """Emitted when the inspector should show a tab."""
    clicked = Signal()
    """Emitted after a cell was chosen with the mouse."""

    def __init__(self, threads: Callable[[], range]) -> None:
        self._threads = threads
        self.lane = 0
        self.hop: Hop | None = None
        """The path that is drawn on the stage; None: the paths of the step."""

    @property
    def thread(self) -> int:
        """The chosen thread of the chosen block; on a CPU the lane counts its threads."""
        threads = self._threads()
        return threads[min(self.lane, len(threads) - 1)] if threads else 0

    @property
    def lanes(self) -> int:
        """The number of lanes of the chosen warp; on a CPU that of threads; 0 without a recording."""
        return len(self._threads())

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

    def take(self, lane: int | None) -> None:
        """Choose a lane, or None to keep it, and no hop."""
        self.lane, self.hop = self.lane if lane is None else lane, None
        self.changed.emit()
