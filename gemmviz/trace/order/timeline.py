"""The timeline: a recording in lockstep order. Everything on the stage is a pure function of (timeline, step)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints, Requests, align, changes, earlier
from gemmviz.trace.parts import ROWS_AT_ONCE
from gemmviz.trace.recording.recording import WARP, Recording

Order = Literal["grid", "block"]


@dataclass(frozen=True)
class Timeline:
    """Accesses grouped into steps: in one step, threads execute the same occurrence of the same instruction.

    The order of steps is an order of events, never of time. Within a phase, threads do not wait for each other;
    lockstep is the order of a warp, which a reader of the source expects.

    Attributes
    ----------
    order_by
        ``"grid"``: all blocks move together; ``"block"``: one block after another.
    order
        int64, row numbers of the recording sorted by step.
    start
        int64, steps + 1 offsets into `order`: step s holds ``order[start[s]:start[s + 1]]``.
    site, array, write, phase
        Per step: the instruction, the array it accesses, whether it writes, and its phase.
    """

    order_by: Order
    order: Ints
    start: Ints
    site: Ints
    array: Ints
    write: npt.NDArray[np.bool_]
    phase: Ints

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.start) - 1

    def rows(self, step: int) -> Ints:
        """Return the recording's rows that belong to a step."""
        return self.order[self.start[step] : self.start[step + 1]]

    def window(self, step: int, length: int) -> tuple[Ints, Ints]:
        """Return the rows of the last `length` steps up to `step`, oldest first, and the age of each in steps."""
        first = max(0, step - length + 1)
        counts = np.diff(self.start[first : step + 2])
        ages = np.repeat(np.arange(step - first, -1, -1), counts)
        return self.order[self.start[first] : self.start[step + 1]], ages

    @cached_property
    def step_of_row(self) -> Ints:
        """The step of each row of the recording."""
        # Neither a running sum nor `np.repeat` lets other threads work meanwhile: the window would stop for all rows.
        steps = np.empty(len(self.order), np.int64)
        for begin in range(0, len(self.order), ROWS_AT_ONCE):
            rows = self.order[begin : begin + ROWS_AT_ONCE]
            end = begin + len(rows)
            first, last = np.searchsorted(self.start[:-1], (begin, end - 1), side="right") - 1
            bounds = np.clip(self.start[first : last + 2], begin, end)
            steps[rows] = np.repeat(np.arange(first, last + 1), np.diff(bounds))
        return steps

    def next_on_line(self, step: int, sites: Ints) -> int | None:
        """Return the next step (after the last step, from the first) that executes one of the sites, or None."""
        found = np.flatnonzero(np.isin(self.site, sites))
        if not len(found):
            return None
        later = found[found > step]
        return int(later[0] if len(later) else found[0])


def build(recording: Recording, order_by: Order = "grid") -> Timeline:
    """Sort a recording in lockstep order.

    A step contains at most one request of each warp (see `gemmviz.trace.order.requests`), and requests are not split.
    Requests of different warps are in the same step if they are the same occurrence of the same instruction since the
    lanes of the warp last synchronised (and in the same block, for ``order_by="block"``). Steps are ordered by phase,
    then by the progress of the warps, so that divergent warps wait for the longest path. The order of each thread's
    accesses is kept: if warps execute the same instructions in different orders, requests are combined by their number.
    Flags between blocks are not followed: with ``order_by="grid"``, a block that waits for a flag may come before the
    one that sets it.

    Parameters
    ----------
    recording
        The recording.
    order_by
        See `Timeline`.
    """
    log = recording.accesses
    requests = align(recording)
    row = requests.row
    if not len(row):
        empty = np.zeros(0, np.int64)
        return Timeline(order_by, empty, np.zeros(1, np.int64), empty, empty, empty.astype(bool), empty)
    block, phase, turn = (column[row].astype(np.int64) for column in (log.block, log.phase, log.turn))
    warp = log.thread[row] // WARP
    starts = changes(block, phase, turn, warp)  # beginnings of a warp's requests between two synchronisations
    sizes = np.diff(starts, append=len(row))
    meeting = np.repeat(np.arange(len(starts)), sizes)
    rank = np.arange(len(row)) - np.repeat(starts, sizes)
    moment = phase[starts] << 16 | turn[starts]
    if order_by == "block":
        moment |= block[starts] << 32
    step: Ints = np.arange(len(row))
    if (np.diff(moment) <= 0).any():  # else no two warps run at the same time
        step = _together(recording, requests, meeting, np.unique(moment, return_inverse=True)[1][meeting], rank)
    step_of_row = step[requests.of_row]
    order = _sorted_by(step_of_row)
    start = np.concatenate(([0], np.cumsum(np.bincount(step_of_row))))
    first = order[start[:-1]]
    return Timeline(
        order_by,
        order,
        start,
        log.site[first].astype(np.int64),
        log.array[first].astype(np.int64),
        log.write[first].astype(bool),
        log.phase[first].astype(np.int64),
    )


def _together(recording: Recording, requests: Requests, meeting: Ints, when: Ints, rank: Ints) -> Ints:
    """Return the step of each request, if several warps make requests at the same time."""
    log, row = recording.accesses, requests.row
    kind = log.array[row].astype(np.int64) * 2 + log.write[row]
    what = np.unique(log.site[row] * np.int64(2 * len(recording.arrays)) + kind, return_inverse=True)[1]
    number = earlier(meeting, what)
    step = _steps(when, what, number, rank)
    backwards = _backwards(recording, requests.of_row, step)
    if backwards.any():
        # Warps execute these instructions in different orders, so no order of the groups is right for all of them.
        tangled = np.isin(when, when[requests.of_row[backwards]])
        step = _steps(when, what, np.where(tangled, rank, number), rank)
    return step


def _steps(when: Ints, what: Ints, number: Ints, rank: Ints) -> Ints:
    """Return the step of each request: those of equal (when, what, number) are in one step.

    Steps are ordered by `when`, then by the largest rank of their requests.
    """
    key = (when * (int(what.max()) + 1) + what) * (int(number.max()) + 1) + number
    by_key = np.argsort(key, kind="stable")
    start = changes(key[by_key])
    example = by_key[start]
    reach = np.maximum.reduceat(rank[by_key], start)
    ranking = np.lexsort((what[example], reach, when[example]))
    place = np.empty(len(ranking), np.int64)
    place[ranking] = np.arange(len(ranking))
    step = np.empty(len(key), np.int64)
    step[by_key] = np.repeat(place, np.diff(start, append=len(key)))
    return step


def _backwards(recording: Recording, request: Ints, step: Ints) -> npt.NDArray[np.bool_]:
    """Return the rows that are not in a later step than the same thread's row before them."""
    log, step_of_row = recording.accesses, step[request]
    found = np.zeros(len(request), bool)
    found[1:] = step_of_row[1:] <= step_of_row[:-1]
    for column in (log.block, log.phase, log.thread, log.turn):
        found[1:] &= column[1:] == column[:-1]
    return found


def _sorted_by(key: Ints) -> Ints:
    """Return the stable order of rows by a key: the key with the row in its low bits sorts faster than an argsort."""
    bits = max(len(key) - 1, 1).bit_length()
    return np.sort(key << bits | np.arange(len(key))) & ((1 << bits) - 1)
