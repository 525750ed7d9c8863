"""Asynchronous copies in flight: from the step at which they are issued to the step at which they arrive."""

from dataclasses import dataclass

import numpy as np

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class AsyncCopies:
    """Every asynchronous copy (``cp.async``) of a recording that arrived, sorted by block.

    Attributes
    ----------
    block
        int64, the block that copies.
    issued, arrived
        int64, steps: the copy is in flight from the first up to the second. It is issued at its read; a copy that reads
        nothing (zeros beyond an edge) at the first step of the phase in which it was issued.
    read, write
        int64, rows of the recording: its read (-1: none), and its write, when its thread has waited for it.
    """

    block: Ints
    issued: Ints
    arrived: Ints
    read: Ints
    write: Ints

    def at(self, step: int, block: int | None = None) -> Ints:
        """Return the copies in flight after a step, of one block or of all blocks: indices into the columns."""
        first, last = (0, len(self.block)) if block is None else np.searchsorted(self.block, (block, block + 1))
        mine = slice(int(first), int(last))
        under_way: Ints = first + np.flatnonzero((self.issued[mine] <= step) & (step < self.arrived[mine]))
        return under_way


def async_copies(recording: Recording, timeline: Timeline) -> AsyncCopies:
    """Find the steps between which each asynchronous copy of a recording is in flight."""
    log = recording.accesses
    write, read, phase = log.copies.T
    step = timeline.step_of_row
    if not len(write):
        none = np.zeros(0, np.int64)
        return AsyncCopies(none, none, none, none, none)
    block = log.block[write].astype(np.int64)
    in_grid = timeline.order_by == "grid"
    began = np.where(read >= 0, step[np.maximum(read, 0)], phase_starts(recording, timeline, block, phase, in_grid))
    order = np.argsort(block, kind="stable")
    return AsyncCopies(block[order], began[order], step[write[order]], read[order], write[order])


def phase_starts(recording: Recording, timeline: Timeline, block: Ints, phase: Ints, in_grid: bool) -> Ints:
    """Return the first step of each requested phase, of all blocks together or of the block.

    For a phase without accesses it is the first later step; after the last phase it is the number of steps.
    """
    if in_grid:
        return np.searchsorted(timeline.phase, phase)
    first = timeline.order[timeline.start[:-1]]
    key = recording.accesses.block[first].astype(np.int64) << 16 | timeline.phase
    return np.searchsorted(key, block << 16 | phase)
