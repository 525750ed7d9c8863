"""Reads of another value than the cell on the stage has: the effect of a race on a thread.

The stage shows cells in lockstep order. The recorder runs a block's threads one after the other, each up to its next
barrier. If a barrier is missing, a thread may have read a cell earlier or later, relative to a write, than in lockstep.
The value that it read is recorded, and C is computed from this value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.array_state import History
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class StaleReads:
    """Reads of shared memory whose value differs from that of the cell at the step.

    Attributes
    ----------
    row, element
        int64, the access and the element that it read.
    got, held
        float32, the thread's value, and the cell's value in lockstep order.
    written
        bool, whether the cell was written before; if not, `held` is NaN.
    """

    row: Ints
    element: Ints
    got: npt.NDArray[np.float32]
    held: npt.NDArray[np.float32]
    written: npt.NDArray[np.bool_]


def stale_reads(recording: Recording, history: History, step: int, rows: Ints) -> StaleReads:
    """Find the accesses of one block at one step that read another value than their cells have.

    Parameters
    ----------
    recording, history
        The recording, and its history.
    step
        The step.
    rows
        Rows of the recording.
    """
    log = recording.accesses
    array = int(log.array[rows[0]]) if len(rows) else 0
    # An atomic operation reads the result of earlier lanes, which no cell shows.
    if (
        recording.arrays[array].space != "shared"
        or log.write[rows[0]]
        or recording.sites[int(log.site[rows[0]])].atomic
    ):
        none, nothing = np.zeros(0, np.int64), np.zeros(0, np.float32)
        return StaleReads(none, none, nothing, nothing, none.astype(bool))
    position, element, got = recording.covered(rows)
    block = int(log.block[rows[0]])
    held = history.values(array, step, block)[element]
    wrong = np.flatnonzero(~same(got, held))
    row, element = rows[position[wrong]], element[wrong]
    written = history.last_write(array, step, block)[element] >= 0 if len(wrong) else np.zeros(0, bool)
    return StaleReads(row, element, got[wrong], held[wrong], written)


def same(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """Return, for each value, whether two are equal; NaN equals NaN."""
    equal: npt.NDArray[np.bool_] = np.asarray((one == other) | ((one != one) & (other != other)))
    return equal
