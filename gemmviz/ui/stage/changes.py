"""Which arrays of the stage look different after a step: while it plays without gestures, only these are painted."""

from collections import OrderedDict
from typing import Any

from gemmviz.catalogue.matrices import C
from gemmviz.trace.playable import Playable
from gemmviz.ui.stage.accessed_cells import AccessedCells
from gemmviz.ui.stage.colours import Colours
from gemmviz.ui.stage.in_flight import InFlight
from gemmviz.ui.stage.moment import Moment

_KEPT = 4


class Changes:
    """The changes of one recording.

    Parameters
    ----------
    playable
        The recording.
    touched, colours, in_flight
        Its accesses, the colours of its cells, and its asynchronous copies.
    """

    def __init__(self, playable: Playable, touched: AccessedCells, colours: Colours, in_flight: InFlight) -> None:
        self._playable, self._touched, self._colours, self._in_flight = playable, touched, colours, in_flight
        self._kept: OrderedDict[tuple[int, int], list[Any]] = OrderedDict()

    def arrays(self, before: Moment, now: Moment) -> list[int]:
        """Return the arrays that look different at two moments of one block, which differ in the step alone."""
        if before.step == now.step:
            return []
        one, other = (self._states(moment.step, moment.block) for moment in (before, now))
        return [
            array
            for array in range(len(self._playable.recording.arrays))
            if one[array] != other[array]
            or any(self._touched.lately(array, moment.step, moment.trail) for moment in (before, now))
        ]

    def _states(self, step: int, block: int) -> list[Any]:
        """Return, for each array, all that its cells depend on besides the accesses of the last steps."""
        key = step, block
        found = self._kept.get(key)
        if found is None:
            playable, flying = self._playable, self._in_flight.state(step, block)
            found = [(self._colours.state(a, step, block), flying) for a in range(len(playable.recording.arrays))]
            groups, live = playable.warpgroups, playable.live_sums
            tiles = tuple(groups.tile(step, block, group) for group in range(groups.count))
            found[C] = (*found[C], tiles, live.place(step) if live is not None else -1)
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found
