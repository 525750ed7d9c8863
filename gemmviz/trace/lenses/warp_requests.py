"""The request of a warp that is shown at a step: its request at the step, else its last one, else its next one."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.trace.cost.warp_request import WarpRequest, warp_request
from gemmviz.trace.distinct import distinct
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

Space = Literal["global", "shared"]
_KEPT_WARPS = 32


class WarpRequests:
    """The steps at which the lanes of each warp make a request together.

    Boxes of the copy engine and operands of ``wgmma`` are not requests of lanes: their steps do not count. On a CPU
    there are no requests.

    Parameters
    ----------
    playable
        The recording.
    """

    def __init__(self, playable: Playable) -> None:
        self._recording, self._timeline = playable.recording, playable.timeline
        recording, timeline = self._recording, self._timeline
        is_shared = np.array([a.space == "shared" for a in recording.arrays])
        by_warps = np.full(timeline.steps, recording.backend == "cuda")
        by_warps &= ~np.isin(timeline.site, _of_copy_engine(playable))
        by_warps &= ~np.array([site.product for site in recording.sites], bool)[timeline.site]
        shared = is_shared[timeline.array] if timeline.steps else by_warps
        self._of_space: dict[Space, npt.NDArray[np.bool_]] = {"global": by_warps & ~shared, "shared": by_warps & shared}
        self._steps: dict[tuple[int, int], Ints] = {}
        self._last: tuple[tuple[int, int, int], WarpRequest | None] | None = None

    def any(self, space: Space) -> bool:
        """Return whether any warp makes a request to a memory space."""
        return bool(self._of_space[space].any())

    def shown(
        self, playable: Playable, step: int, block: int, warp: int, space: Space, array: int | None = None
    ) -> WarpRequest | None:
        """Return a warp's request to a memory at a step, else its last one before, else its next one; None: none.

        Parameters
        ----------
        playable
            The recording of this object.
        step, block, warp
            The step, the block and the warp.
        space
            ``"global"`` or ``"shared"``.
        array
            Only requests to this array; None: to any array of the memory space.
        """
        steps = self._steps_of(block, warp)
        wanted = self._of_space[space][steps]
        if array is not None:
            wanted = wanted & (self._timeline.array[steps] == array)
        steps = steps[wanted]
        if not len(steps):
            return None
        at = max(int(np.searchsorted(steps, step, side="right")) - 1, 0)
        key = int(steps[at]), block, warp
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, warp_request(playable, *key)
        return last[1]

    def _steps_of(self, block: int, warp: int) -> Ints:
        """Return the steps at which a warp of a block accesses memory, ascending."""
        found = self._steps.get((block, warp))
        if found is None:
            log = self._recording.accesses
            first, last = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
            mine = first + np.flatnonzero(log.thread[first:last] // WARP == warp)
            made = np.zeros(self._timeline.steps, bool)
            made[self._timeline.step_of_row[mine]] = True
            found = np.flatnonzero(made)
            if len(self._steps) >= _KEPT_WARPS:
                self._steps.pop(next(iter(self._steps)))
            self._steps[block, warp] = found
        return found


@per_recording
def warp_requests(playable: Playable) -> WarpRequests:
    """Return the requests of a recording's warps."""
    return WarpRequests(playable)


def _of_copy_engine(playable: Playable) -> npt.NDArray[np.int64]:
    """Return the sites whose accesses the copy engine makes."""
    boxes, sites = playable.recording.boxes, playable.recording.accesses.site
    rows = np.concatenate((boxes.read[boxes.reads > 0], boxes.write[boxes.writes > 0], boxes.old[boxes.old >= 0]))
    return distinct(sites[rows]).astype(np.int64)
