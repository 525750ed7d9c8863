"""The progress of a recording at each step, so that two of them can be played in step (all of it *recorded*).

There are two measures. *Work* is the share of the reads for products: each read of A or B, or of their tiles in shared
memory, whose value goes to a register and not on to shared memory. A kernel makes these reads evenly along K, so that
equal shares mean equal progress along K. *Bytes* are the bytes moved to and from global memory, in whole sectors; on a
CPU, which has no sectors, the bytes that the loop asks for.

Some steps add nothing to a measure: a tile is loaded, a barrier is passed, C is stored. The increase at the next step
that adds something is distributed over them, so that a curve always rises and equal recordings are always at the same
step.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints, batches
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import WARP, Recording

Pace = Literal["work", "bytes"]
Curve = npt.NDArray[np.float64]
# Work at the last step of a recording, after the last read for a product.
_WORK_END = 2.0


@dataclass(frozen=True)
class Tally:
    """The totals of a recording up to a step.

    Attributes
    ----------
    bytes
        Bytes moved to and from global memory; on a CPU: bytes asked for.
    requests, sectors, wavefronts
        Warp requests to any memory, 32-byte sectors of global memory, wavefronts of shared memory; None on a CPU.
    done
        The share of C (0 to 1) that has its final value.
    """

    bytes: int
    requests: int | None
    sectors: int | None
    wavefronts: int | None
    done: float


@dataclass(frozen=True)
class RecordingProgress:
    """The progress of a recording at each of its steps.

    Attributes
    ----------
    work
        float64 (steps), rising: the share of the reads for products, 0 to 1, then up to 2 while C is stored.
    bytes
        float64 (steps), rising: bytes moved to and from global memory.
    fed
        int64 (steps), the number of reads for products up to each step.
    requests
        int64 (steps), the number of warp requests up to each step.
    done
        int64, sorted: per element of C that is written, the step of its last write.
    """

    timeline: Timeline
    traffic: Traffic
    on_gpu: bool
    elements: int
    work: Curve
    bytes: Curve
    fed: Ints
    requests: Ints
    done: Ints

    @property
    def last(self) -> int:
        """The last step; 0 if there is none."""
        return max(self.timeline.steps - 1, 0)

    def curve(self, pace: Pace) -> Curve:
        """Return one of the two measures, per step."""
        return self.work if pace == "work" else self.bytes

    def share(self, step: int) -> float:
        """Return the share of the reads for products (0 to 1) up to a step: counted, without interpolation."""
        return float(self.fed[step] / max(int(self.fed[-1]), 1)) if len(self.fed) else 0.0

    def at(self, step: int) -> Tally:
        """Return the totals after a step."""
        if not self.timeline.steps:
            return Tally(0, 0, 0, 0, 0.0) if self.on_gpu else Tally(0, None, None, None, 0.0)
        now = self.traffic.running[step].sum(axis=1)
        in_shared = np.array([a.space == "shared" for a in self.traffic.arrays])
        done = int(np.searchsorted(self.done, step, side="right")) / max(self.elements, 1)
        if not self.on_gpu:
            return Tally(int(now[:, 1].sum()), None, None, None, done)
        sectors = int(now[~in_shared, 2].sum())
        wavefronts = int(now[in_shared, 2].sum())
        return Tally(sectors * SECTOR_BYTES, int(self.requests[step]), sectors, wavefronts, done)


@dataclass(frozen=True)
class Match:
    """Two recordings that are played in step."""

    mine: RecordingProgress
    other: RecordingProgress
    pace: Pace

    def step(self, step: int) -> int:
        """Return the other recording's step for a step of this one: the last step with no more progress.

        If there is none, it is the first step of the other recording.
        """
        here, there = self.mine.curve(self.pace), self.other.curve(self.pace)
        if not len(here) or not len(there):
            return 0
        found = int(np.searchsorted(there, here[step], side="right")) - 1
        return min(max(found, 0), len(there) - 1)

    def back(self) -> "Match":
        """Return the reverse match, from the other recording to this one."""
        return Match(self.other, self.mine, self.pace)


def progress(recording: Recording, timeline: Timeline, traffic: Traffic, staged: Staged) -> RecordingProgress:
    """Return the progress of a recording at each of its steps.

    It reads every access: call it outside the window's thread.
    """
    fed = fed_products(recording, timeline, staged)
    if not fed.any():
        # If a kernel reads no operand (because it is broken, or incomplete), use all its accesses.
        fed = np.diff(timeline.start)
    on_gpu = recording.backend == "cuda"
    # A CPU's panels are ordinary memory.
    in_global = [a.space == "global" or not on_gpu for a in recording.arrays]
    column, unit = (2, SECTOR_BYTES) if on_gpu else (1, 1)
    moved = traffic.running[..., column][:, in_global].sum(axis=(1, 2)) * unit
    so_far = np.cumsum(fed)
    return RecordingProgress(
        timeline,
        traffic,
        on_gpu,
        recording.arrays[C].size,
        rising(so_far / max(int(so_far[-1]) if len(so_far) else 0, 1), _WORK_END),
        rising(moved.astype(np.float64), None),
        so_far,
        _requests(recording, timeline),
        _done(recording, timeline),
    )


def fed_products(recording: Recording, timeline: Timeline, staged: Staged) -> Ints:
    """Return, per step, the number of accesses that read an operand of products (see the module).

    Reads of shared memory count if it holds values from A or B; a tile of unknown origin counts, too.
    """
    log = recording.accesses
    counts = np.diff(timeline.start)
    is_shared = np.array([a.space == "shared" for a in recording.arrays])
    reads = ~timeline.write
    fed = np.where(reads & np.isin(timeline.array, (A, B)), counts, 0)
    copied = distinct(staged.read[(staged.read >= 0) & is_shared[log.array[staged.row]]])
    fed -= np.bincount(timeline.step_of_row[copied], minlength=timeline.steps) * (fed > 0)
    holds_tiles = is_shared & _filled(recording, staged)
    fed += np.where(reads & holds_tiles[timeline.array], counts, 0)
    result: Ints = np.maximum(fed, 0)
    return result


def _filled(recording: Recording, staged: Staged) -> npt.NDArray[np.bool_]:
    """Return the arrays that are written with values from global memory; if no origin is known, all written ones."""
    array = recording.accesses.array[staged.row]
    known = np.zeros(len(recording.arrays), bool)
    known[array[(staged.read >= 0) | staged.unknown]] = True
    is_shared = np.array([a.space == "shared" for a in recording.arrays])
    if not (known & is_shared).any():
        known[array] = True
    return known


def rising(amount: Curve, end: float | None) -> Curve:
    """Return a curve that always rises: the increase of a step is shared with the steps before it that add nothing.

    Parameters
    ----------
    amount
        float64 (steps), never falling, before the first step 0.
    end
        The value at the last step; None: unchanged. The curve rises to it after the last step that adds something.
    """
    steps = len(amount)
    knots = np.flatnonzero(np.diff(amount, prepend=0.0) > 0)
    at, value = np.concatenate(([-1], knots)), np.concatenate(([0.0], amount[knots]))
    if end is not None and steps:
        at, value = (np.append(at, steps - 1), np.append(value, end))
        if at[-2] == steps - 1:
            at, value = np.delete(at, -2), np.delete(value, -2)
    curve: Curve = np.interp(np.arange(steps), at, value)
    return curve


def _requests(recording: Recording, timeline: Timeline) -> Ints:
    """Return, per step, the number of warp requests up to it; on a CPU, which has no warps, that of accesses."""
    if recording.backend != "cuda":
        return timeline.start[1:]
    log = recording.accesses
    if len(log.boxes):  # a step of the copy engine counts as several requests
        made = [np.bincount(timeline.step_of_row[part.row], minlength=timeline.steps) for part in batches(recording)]
        return np.cumsum(np.sum(made, axis=0))
    # Within a step rows are ordered by block and thread, so that the lanes of a request are neighbours.
    warp = log.thread[timeline.order] // WARP
    block = log.block[timeline.order]
    new = np.ones(len(warp), bool)
    new[1:] = (warp[1:] != warp[:-1]) | (block[1:] != block[:-1])
    new[timeline.start[:-1]] = True
    return np.cumsum(np.add.reduceat(new, timeline.start[:-1], dtype=np.int64)) if len(new) else timeline.start[1:]


def _done(recording: Recording, timeline: Timeline) -> Ints:
    """Return the steps at which elements of C are written for the last time, sorted."""
    log = recording.accesses
    rows = np.flatnonzero((log.array == C) & log.write)
    position, element = recording.elements(rows)
    last = np.full(recording.arrays[C].size, -1, np.int64)
    np.maximum.at(last, element, timeline.step_of_row[rows[position]])
    return np.sort(last[last >= 0])
