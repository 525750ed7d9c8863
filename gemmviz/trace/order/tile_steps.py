"""The number of tile loads of a block: the phases in which values of A or B are written to shared memory.

Sums are written to shared memory, too, before they go to C or to the thread that adds them up. They are distinguished
by their values, as in `gemmviz.trace.origin.staging`: an instruction that loads tiles writes values of A and B, and
zeros beyond their edges.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints, Requests
from gemmviz.trace.recording.recording import Recording

_SITE_BITS, _PHASE_BITS = 16, 16  # of the columns
_SAMPLE = 1 << 16  # so many elements of a matrix contain nearly every value of it
_MOSTLY = 0.9  # required share of values: a sum may equal an element by chance, a defect may disturb a tile


class TileSteps:
    """Counts the tile steps of a recording, whose requests are added piece by piece."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._shared = np.array([a.space == "shared" for a in recording.arrays])
        held = np.concatenate([matrix.flat[:_SAMPLE] for matrix in (recording.a, recording.b)])
        self._inputs = distinct(held).astype(np.float32)
        # Per instruction: the number of values written to shared memory that are not 0, and how many of them are in A
        # or B.
        self._written, self._of_inputs = np.zeros((2, len(recording.sites)), np.int64)
        self._steps: list[npt.NDArray[np.uint64]] = [np.zeros(0, np.uint64)]

    def add(self, requests: Requests) -> None:
        """Count the next requests."""
        if not self._shared.any():
            return
        log = self._recording.accesses
        row = requests.row[log.write[requests.row] & self._shared[log.array[requests.row]]]
        block, phase, site = (column[row].astype(np.uint64) for column in (log.block, log.phase, log.site))
        self._steps.append(distinct(block << _PHASE_BITS + _SITE_BITS | phase << _SITE_BITS | site))
        cut = slice(requests.first, requests.first + len(requests.of_row))
        value = log.value[cut]
        stores = log.write[cut] & self._shared[log.array[cut]] & (value != 0)
        sites, known = log.site[cut][stores], np.isin(value[stores], self._inputs)
        self._written += _times(sites, len(self._written))
        self._of_inputs += _times(sites[known], len(self._written))

    def most(self) -> int:
        """Return the largest number of tile steps of a block."""
        loads = (self._written > 0) & (self._of_inputs >= _MOSTLY * self._written)
        steps = np.concatenate(self._steps)
        steps = distinct(steps[loads[steps & ((1 << _SITE_BITS) - 1)]] >> _SITE_BITS)
        return int(np.unique(steps >> _PHASE_BITS, return_counts=True)[1].max(initial=0))


def _times(sites: npt.NDArray[np.uint16], count: int) -> Ints:
    """Return the number of occurrences of each of `count` instructions."""
    return np.bincount(sites, minlength=count)
