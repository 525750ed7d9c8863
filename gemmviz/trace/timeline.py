"""The timeline: a recording in lockstep order. Everything on the stage is a pure function of (timeline, step)."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import Recording

Order = Literal["grid", "block"]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """Accesses grouped into steps: in one step, threads execute the same occurrence of the same instruction.

    The order of steps is an order of events, never of time. Within a phase, threads do not wait for each other; the
    lockstep is the order that a warp would take and that a reader of the source expects.

    Attributes
    ----------
    order_by
        ``"grid"``: all blocks move together; ``"block"``: one block after another.
    order
        int64, row numbers of the recording sorted by step.
    start
        int64, steps + 1 offsets into `order`: step s holds ``order[start[s]:start[s + 1]]``.
    site, array, write, phase
        Per step: the instruction, the array it accesses, whether it writes, the phase it stands in.
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
        """Return the rows of the last `length` steps up to `step`, oldest first, and the age of each (0: now)."""
        first = max(0, step - length + 1)
        counts = np.diff(self.start[first : step + 2])
        ages = np.repeat(np.arange(step - first, -1, -1), counts)
        return self.order[self.start[first] : self.start[step + 1]], ages

    @cached_property
    def step_of_row(self) -> Ints:
        """The step of each row of the recording."""
        steps = np.empty(len(self.order), np.int64)
        steps[self.order] = np.repeat(np.arange(self.steps), np.diff(self.start))
        return steps

    def next_phase(self, step: int, direction: int) -> int:
        """Return the first step of the next phase (direction 1), or the start of this or the previous phase (-1)."""
        starts = np.flatnonzero(np.diff(self.phase, prepend=-1) != 0)
        if direction > 0:
            later = starts[starts > step]
            return int(later[0]) if len(later) else self.steps - 1
        earlier = starts[starts < step]
        return int(earlier[-1]) if len(earlier) else 0

    def next_on_line(self, step: int, sites: Ints) -> int | None:
        """Return the next step (wrapping around) that executes one of the given sites, or None if none ever does."""
        found = np.flatnonzero(np.isin(self.site, sites))
        if not len(found):
            return None
        later = found[found > step]
        return int(later[0] if len(later) else found[0])

    def to_plain(self) -> dict[str, Any]:
        """Return the timeline as plain data."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def build(recording: Recording, order_by: Order = "grid") -> Timeline:
    """Put a recording in lockstep order.

    Rows of different threads belong to the same step when they are the same occurrence of the same instruction in the
    same phase (and in the same block, for ``order_by="block"``). Steps are ordered by phase, then by how far the
    threads had come, so that divergent threads wait for the longest path. No thread ever goes back: where threads take
    the same instructions in different orders, those that have made equally many accesses in the phase belong together.

    Parameters
    ----------
    recording
        What to order.
    order_by
        See `Timeline`.
    """
    log = recording.accesses
    count = len(log)
    if count == 0:
        empty = np.zeros(0, np.int64)
        return Timeline(order_by, empty, np.zeros(1, np.int64), empty, empty, empty.astype(bool), empty)
    run, position = _runs(log.block, log.phase, log.thread)
    occurrence = _occurrence(run, log.site)
    phase = log.phase.astype(np.int64)
    if order_by == "block":
        phase += log.block.astype(np.int64) * (int(phase.max()) + 1)

    order, start = _steps(phase, log.site, occurrence, position)
    backwards = _backwards(order, start, run)
    if backwards.any():
        # Threads take these instructions in different orders, so no order of the groups suits all of them. In such a
        # phase, threads belong together when they have made equally many accesses before.
        tangled = np.isin(phase, np.unique(phase[backwards]))
        order, start = _steps(phase, log.site, np.where(tangled, position, occurrence), position)
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


def _steps(phase: Ints, site: npt.NDArray[Any], occurrence: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Group rows of the same phase, site and occurrence; return them sorted by group, and where each group starts.

    Groups are ordered by phase, then by the furthest position at which a thread is in them.
    """
    sites, occurrences = int(site.max()) + 1, int(occurrence.max()) + 1
    key = (phase * sites + site) * occurrences + occurrence
    by_key = np.argsort(key, kind="stable")
    group_start = np.flatnonzero(np.diff(key[by_key], prepend=-1))
    first = by_key[group_start]
    reach = np.maximum.reduceat(position[by_key], group_start)
    ranking = np.lexsort((site[first], reach, phase[first]))

    sizes = np.diff(group_start, append=len(key))[ranking]
    start = np.concatenate(([0], np.cumsum(sizes)))
    # Gather the groups in their new order: each row's place is its group's start plus its offset in the group.
    source = np.repeat(group_start[ranking] - start[:-1], sizes) + np.arange(len(key))
    return by_key[source], start


def _backwards(order: Ints, start: Ints, run: Ints) -> npt.NDArray[np.bool_]:
    """Return the rows that do not stand in a later step than the same thread's row before them."""
    step = np.empty(len(order), np.int64)
    step[order] = np.repeat(np.arange(len(start) - 1), np.diff(start))
    found = np.zeros(len(order), bool)
    found[1:] = (step[1:] <= step[:-1]) & (run[1:] == run[:-1])
    return found


def _runs(*columns: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Return a number per stretch of rows over which all columns stay the same, and each row's place in its stretch."""
    change = np.zeros(len(columns[0]), bool)
    change[0] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    run = np.cumsum(change) - 1
    starts = np.flatnonzero(change)
    return run, np.arange(len(run)) - starts[run]


def _occurrence(run: Ints, site: npt.NDArray[Any]) -> Ints:
    """Count, for each row, the earlier rows of the same run with the same site."""
    key = run * (int(site.max()) + 1) + site
    by_key = np.argsort(key, kind="stable")
    _, position = _runs(key[by_key])
    occurrence = np.empty(len(key), np.int64)
    occurrence[by_key] = position
    return occurrence
