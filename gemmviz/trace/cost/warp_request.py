"""One warp request in detail: its 32 lanes, their addresses, sectors and wavefronts (all *recorded*).

`gemmviz.trace.cost.wavefronts` computes the cost of a request; this file gives its lanes, sectors and wavefronts.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.cost.wavefronts import (
    BANK_BYTES,
    BANKS,
    SECTOR_BYTES,
    WAVEFRONT_BYTES,
    schedule,
    sectors,
    wavefronts,
)
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP


@dataclass(frozen=True)
class WarpRequest:
    """The request of one warp at one step.

    Attributes
    ----------
    step, block, warp, line
        Its step, its warp, and its line of the source (from 1; 0: unknown).
    array, space, write, width
        The array's index, ``"global"`` or ``"shared"``, whether it stores, and the bytes that each lane accesses.
    missing
        The number of lanes that do not exist: the last warp of a block may have fewer threads.
    lane, row, element
        int64, per active lane, ascending: its number, the row of its access in the recording, and the first element
        that it accesses.
    access, place, served
        int64, per piece of a lane's access: the index of the lane in `lane`; the sector (global) or the word of four
        bytes (shared), counted from the array's beginning; and the wavefront that serves it, from 0 (global: always 0).
    units, least
        Its sectors or wavefronts, and the smallest number for as many neighbouring bytes (global), or for the same
        bytes without bank conflicts (shared).
    outside, certain
        The largest possible number of its absent lanes that accessed memory out of bounds, without a row in the
        recording; and whether this number is certain. See `gemmviz.trace.hazards.out_of_bounds`.
    """

    step: int
    block: int
    warp: int
    line: int
    array: int
    space: str
    write: bool
    width: int
    missing: int
    lane: Ints
    row: Ints
    element: Ints
    access: Ints
    place: Ints
    served: Ints
    units: int
    least: int
    outside: int = 0
    certain: bool = True

    @property
    def is_shared(self) -> bool:
        """Whether it accesses shared memory."""
        return self.space == "shared"

    @property
    def absent(self) -> int:
        """The number of existing lanes without a recorded access."""
        return WARP - self.missing - len(self.lane)

    @property
    def inactive(self) -> int:
        """The number of existing lanes that certainly are inactive."""
        return 0 if self.outside else self.absent

    @property
    def asked_bytes(self) -> int:
        """The sum of the bytes that its lanes ask for; bytes for several lanes count for each lane."""
        return len(self.lane) * self.width

    @property
    def moved_bytes(self) -> int:
        """The bytes that are moved for it: whole sectors, or the capacity of all banks in its wavefronts."""
        return self.units * (WAVEFRONT_BYTES if self.is_shared else SECTOR_BYTES)

    @property
    def bank(self) -> Ints:
        """The bank of each piece (shared memory)."""
        return self.place % BANKS

    def last_served(self) -> Ints:
        """Return, per active lane, the wavefront after which it is served."""
        last = np.zeros(len(self.lane), np.int64)
        np.maximum.at(last, self.access, self.served)
        return last


def warp_request(playable: Playable, step: int, block: int, warp: int) -> WarpRequest | None:
    """Return the request of a warp of a block at a step; None if it makes none, and on a CPU without warps."""
    recording, timeline = playable.recording, playable.timeline
    if recording.backend != "cuda" or not 0 <= step < timeline.steps:
        return None
    row = playable.warp_rows(step, block, warp)
    if not len(row) or len(row) > WARP:  # more than 32 rows: a box that the copy engine moves
        return None
    log = recording.accesses
    row = row[np.argsort(log.thread[row], kind="stable")]
    array, write, width = int(timeline.array[step]), bool(timeline.write[step]), int(log.bytes[row[0]])
    info = recording.arrays[array]
    lane, element = log.thread[row].astype(np.int64) % WARP, log.element[row].astype(np.int64)
    start, same = element * info.itemsize, np.zeros(len(row), np.int64)
    if info.space == "shared":
        access, place, served = schedule(lane, start, width, write)
        units, least = wavefronts(same, lane, start, same + width, same + write > 0, 1)
    else:
        access, place = _sectors(start, width)
        served = np.zeros(len(access), np.int64)
        units, least = sectors(same, lane, start, same + width, 1)
    missing = max((warp + 1) * WARP - recording.threads, 0)
    return WarpRequest(
        step,
        block,
        warp,
        playable.line(step),
        array,
        info.space,
        write,
        width,
        missing,
        lane,
        row,
        element,
        access,
        place,
        served,
        int(units[0]),
        int(least[0]),
        min(int(playable.out_of_bounds.most[step]), WARP - missing - len(row)),
        bool(playable.out_of_bounds.certain[step]),
    )


def _sectors(start: Ints, width: int) -> tuple[Ints, Ints]:
    """Return each sector of an access: the access's index, and the sector."""
    first, last = start // SECTOR_BYTES, (start + width - 1) // SECTOR_BYTES
    spans = last - first + 1
    access = np.repeat(np.arange(len(start)), spans)
    return access, np.repeat(first - np.cumsum(spans) + spans, spans) + np.arange(len(access))


def touched_words(request: WarpRequest, itemsize: int, sector: int) -> npt.NDArray[np.bool_]:
    """Return which of a sector's words of four bytes any lane asks for (8 flags)."""
    flags = np.zeros(SECTOR_BYTES // BANK_BYTES, bool)
    start = request.element * itemsize - sector * SECTOR_BYTES
    for begin in distinct(start[(start > -request.width) & (start < SECTOR_BYTES)]).tolist():
        flags[max(begin, 0) // BANK_BYTES : (begin + request.width - 1) // BANK_BYTES + 1] = True
    return flags
