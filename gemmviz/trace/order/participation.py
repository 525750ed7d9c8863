"""The number of blocks and warps that are active in each step of a timeline."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.parts import ROWS_AT_ONCE
from gemmviz.trace.recording.recording import WARP, Recording


@dataclass(frozen=True)
class Participation:
    """Participants: int64 per step, the different blocks, and the different warps (each makes one request)."""

    blocks: Ints
    warps: Ints


def participation(recording: Recording, timeline: Timeline) -> Participation:
    """Count the blocks and warps of each step."""
    log = recording.accesses
    blocks, warps = np.zeros((2, timeline.steps), np.int64)
    first = 0
    while first < timeline.steps:
        begin = int(timeline.start[first])
        last = max(int(np.searchsorted(timeline.start, begin + ROWS_AT_ONCE, side="right")) - 1, first + 1)
        rows = timeline.order[begin : timeline.start[last]]
        step = np.repeat(np.arange(last - first), np.diff(timeline.start[first : last + 1]))
        # The rows of a step are in the order of the recording: block after block, and in a block warp after warp.
        of_block = log.block[rows].astype(np.int64)
        new_block = _changes(step, of_block)
        new_warp = new_block | _changes(step, log.thread[rows].astype(np.int64) // WARP)
        blocks[first:last] = np.bincount(step[new_block], minlength=last - first)
        warps[first:last] = np.bincount(step[new_warp], minlength=last - first)
        first = last
    return Participation(blocks, warps)


def _changes(step: Ints, value: Ints) -> npt.NDArray[np.bool_]:
    new = np.ones(len(step), bool)
    new[1:] = (step[1:] != step[:-1]) | (value[1:] != value[:-1])
    return new
