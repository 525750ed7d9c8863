"""The progress of a recording at each step, so that two of them can be played in step (all of it *recorded*).

Two measures. *Work* is the share of the reads that fed products: each read of A or B, or of a tile of them in shared
memory, whose value went to a register and not on to shared memory. A kernel makes them evenly along K, so that equal
shares mean equal progress along K. *Bytes* are those that crossed to and from global memory, sectors counted whole;
on a CPU, which has no sectors, those that the loop asked for.

Some steps add nothing to a measure: a tile is being loaded, a barrier passed, C stored. They share the way to the next
step that does, so that a curve always rises and equal recordings go exactly alike.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.order.requests import Ints, batches
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import WARP, Recording

Pace = Literal["work", "bytes"]
Curve = npt.NDArray[np.float64]
# Work at the last step of a recording, behind the last read that fed a product.
_WORK_END = 2.0


@dataclass(frozen=True)
class Tally:
    """The totals of a recording up to a step.

    Attributes
    ----------
    bytes
        Moved to and from global memory; on a CPU: asked for.
    requests, sectors, wavefronts
        Warp requests to any memory, 32-byte sectors of global memory, wavefronts of shared memory; None on a CPU.
    done
        Share of C (0 to 1) that has its last value.
    """

    bytes: int
    requests: int | None
    sectors: int | None
    wavefronts: int | None
    done: float


@dataclass(frozen=True)
class RecordingProgress:
    """How far a recording is at each of its steps.

    Attributes
    ----------
    work
        float64 (steps), rising: the share of the reads that fed products, 0 to 1, then up to 2 while C is stored.
    bytes
        float64 (steps), rising: bytes moved to and from global memory.
    fed
        int64 (steps), how many reads fed products so far.
    requests
        int64 (steps), warp requests so far.
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
        """Return the share of the products' work (0 to 1) that is done after a step: counted, nothing in between."""
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
        """Return the other recording's step for a step of this one: the last one with no more progress.

        If there is none, it is the other's first step.
        """
        here, there = self.mine.curve(self.pace), self.other.curve(self.pace)
        if not len(here) or not len(there):
            return 0
        found = int(np.searchsorted(there, here[step], side="right")) - 1
        return min(max(found, 0), len(there) - 1)

    def back(self) -> "Match":
        """Return the same match seen from the other recording."""
        return Match(self.other, self.mine, self.pace)


def progress(recording: Recording, timeline: Timeline, traffic: Traffic, staged: Staged) -> RecordingProgress:
    """Work out how far a recording is at each of its steps.

    It looks at every access: call it outside the window's thread.
    """
    fed = fed_products(recording, timeline, staged)
    if not fed.any():
        # A kernel that reads no operand (broken, or cut short): its accesses are all there is to go by.
        fed = np.diff(timeline.start)
    on_gpu = recording.backend == "cuda"
    # A CPU's panels are memory like any other.
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
    """Return, per step, how many accesses read an operand of products (see the module).

    Reads of shared memory count where it holds values from A or B; a tile of unknown origin counts.
    """
    log = recording.accesses
    counts = np.diff(timeline.start)
    is_shared = np.array([a.space == "shared" for a in recording.arrays])
    reads = ~timeline.write
    fed = np.where(reads & np.isin(timeline.array, (A, B)), counts, 0)
    copied = np.unique(staged.read[(staged.read >= 0) & is_shared[log.array[staged.row]]])
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
    """Return a curve that always rises: steps which add nothing share the way to the next one that adds something.

    Parameters
    ----------
    amount
        float64 (steps), never falling, before the first step 0.
    end
        The value at the last step; None: its own. Steps after the last one that adds something lead up to it.
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
    """Return, per step, the warp requests so far; on a CPU, which has no warps, its accesses."""
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
