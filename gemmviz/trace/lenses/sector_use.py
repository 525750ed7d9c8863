"""The part of each sector of global memory that the lanes of one warp request ask for (*recorded*)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints

_MOST = 0.6  # the share of pairs of neighbouring lanes that must have the same distance


@dataclass(frozen=True)
class SectorUse:
    """The sectors of a request.

    Attributes
    ----------
    request
        A request to global memory.
    sectors
        int64, the different sectors that it accesses, ascending, counted from the array's first byte.
    asked
        bool (sectors, 32), per byte of each sector: whether any lane asks for it.
    start
        int64, per active lane, the first byte that it asks for, counted from the array's first byte.
    """

    request: WarpRequest
    sectors: Ints
    asked: npt.NDArray[np.bool_]
    start: Ints

    @property
    def used_bytes(self) -> int:
        """The number of different bytes that lanes ask for."""
        return int(self.asked.sum())

    @property
    def moved_bytes(self) -> int:
        """The bytes of the sectors."""
        return len(self.sectors) * SECTOR_BYTES

    @property
    def middle(self) -> npt.NDArray[np.float64]:
        """Per lane, the middle of its bytes, as a position in `sectors`, in units of a sector."""
        first = np.searchsorted(self.sectors, self.start // SECTOR_BYTES)
        inside: npt.NDArray[np.float64] = (self.start % SECTOR_BYTES + self.request.width / 2) / SECTOR_BYTES
        return first + inside


def sector_use(request: WarpRequest, itemsize: int) -> SectorUse:
    """Return the sectors of a request to global memory.

    Parameters
    ----------
    request
        The request.
    itemsize
        Bytes per element of its array.
    """
    start = request.element * itemsize
    byte = distinct(start[:, None] + np.arange(request.width))
    sectors = distinct(byte // SECTOR_BYTES)
    asked = np.zeros((len(sectors), SECTOR_BYTES), bool)
    asked[np.searchsorted(sectors, byte // SECTOR_BYTES), byte % SECTOR_BYTES] = True
    return SectorUse(request, sectors, asked, start)


def lane_distance(lane: Ints, place: Ints) -> int | None:
    """Return the distance at which neighbouring lanes access memory, if most pairs have the same; else None.

    Parameters
    ----------
    lane, place
        Per lane, ascending, its number and its address, in any unit; the distance has the same unit.
    """
    side_by_side = np.flatnonzero(np.diff(lane) == 1)
    if not len(side_by_side):
        return None
    distances, count = np.unique(np.diff(place)[side_by_side], return_counts=True)
    usual = int(count.argmax())
    return int(distances[usual]) if count[usual] >= _MOST * len(side_by_side) else None
