"""Where ghosts stand: the ends of their ways, which are the same during a step, and the places between them."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF

from gemmviz.trace.distinct import distinct
from gemmviz.trace.motion.flights import Flights
from gemmviz.trace.motion.gestures import place
from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.accessed_cells import as_drawn
from gemmviz.ui.stage.ghost_shapes import Floats, bounds
from gemmviz.ui.stage.scene import Panel

Corners = tuple[Floats, Floats, Floats]
"""The left and the top corner and the width of cells, in pixels."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ends:
    """The cells that were read and those that will be written.

    Attributes
    ----------
    begin, end
        Their corners.
    """

    begin: Corners
    end: Corners
    _boxes: dict[int, tuple[QRectF, QRectF]] = field(default_factory=dict, repr=False, compare=False)

    def boxes(self, mine: Ints) -> tuple[QRectF, QRectF]:
        """Return the rectangles round the sources and round the targets of copies that move together."""
        first = int(mine[0])  # no other copies that move together have it
        if first not in self._boxes:
            begin, end = (bounds(*(column[mine] for column in corners)) for corners in (self.begin, self.end))
            self._boxes[first] = begin, end
        return self._boxes[first]


@dataclass(frozen=True)
class Places:
    """Where the ghosts of some copies stand, in pixels: float64 columns of one length.

    Attributes
    ----------
    x, y, side
        The left top corner and the width of each ghost.
    ends
        The ends of their ways.
    gesture, along
        How much of each gesture and of each way is over, from 0 to 1.
    """

    x: Floats
    y: Floats
    side: Floats
    ends: Ends
    gesture: Floats
    along: Floats


def ends(playable: Playable, panels: list[Panel], flights: Flights) -> Ends:
    """Return where copies begin and end."""
    by_array = dict(enumerate(panels))
    return Ends(
        corners(playable, by_array, flights.source, flights.source_element),
        corners(playable, by_array, flights.target, flights.target_element),
    )


def places(flights: Flights, between: Ends, position: float) -> Places:
    """Return where ghosts stand at a position (step and fraction), without their arc and their rise."""
    gesture = flights.gesture(position)
    along = place(gesture)
    x, y, side = (a + (b - a) * along for a, b in zip(between.begin, between.end, strict=True))
    return Places(x, y, side, between, gesture, along)


def corners(playable: Playable, panels: dict[int, Panel], arrays: Ints, elements: Ints) -> Corners:
    """Return where elements of arrays stand."""
    x, y, side = (np.zeros(len(arrays)) for _ in range(3))
    for array in distinct(arrays).tolist():
        mine, panel = arrays == array, panels[array]
        row, column = np.divmod(as_drawn(playable.recording.arrays[array], elements[mine]), panel.columns)
        x[mine], y[mine], side[mine] = panel.x + column * panel.cell, panel.y + row * panel.cell, panel.cell
    return x, y, side
