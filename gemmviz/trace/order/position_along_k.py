"""The positions of accesses along K, and the depth of a tile: from the elements alone, not from parameters."""

import numpy as np

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.order.requests import Ints, changes
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import WARP, Recording

UNKNOWN = -1
_LOOKED_AT = 4096  # the steps that show whether lanes read K together


def position_along_k(recording: Recording, rows: Ints, element: Ints) -> Ints:
    """Return the position along K of elements of A or B; -1 for other arrays.

    Parameters
    ----------
    rows, element
        int64, as many as each other: accesses of the recording, and for each the element in memory order.
    """
    k = np.full(len(rows), UNKNOWN, np.int64)
    which = recording.accesses.array[rows]
    for matrix in (A, B):
        mine = which == matrix
        k[mine] = recording.arrays[matrix].cells(element[mine])[1 if matrix == A else 0]
    return k


def places_of_reads(recording: Recording, timeline: Timeline, steps: Ints, place: Ints) -> None:
    """Set, in `place` (int64, per step), the position along K of the first access of steps that read A or B."""
    steps = steps[~timeline.write[steps]]
    rows = timeline.order[timeline.start[steps]]
    place[steps] = position_along_k(recording, rows, recording.accesses.element[rows].astype(np.int64))


def fill(timeline: Timeline, steps: Ints, place: Ints) -> None:
    """Set unknown positions to that of the last step before in the same phase, else of the first one after.

    Parameters
    ----------
    timeline
        Has the phases.
    steps
        int64, ascending: only these are set, and only by these.
    place
        int64, per step of the timeline; -1: unknown. It is changed.
    """
    for towards in (steps, steps[::-1]):
        known = np.flatnonzero(place[towards] >= 0)
        if not len(known):
            return
        last = np.searchsorted(known, np.arange(len(towards)), side="right") - 1
        source = towards[known[np.maximum(last, 0)]]
        fits = (place[towards] < 0) & (last >= 0) & (timeline.phase[source] == timeline.phase[towards])
        place[towards[fits]] = place[source[fits]]


def ranges(group: Ints, k: Ints) -> Ints:
    """Return the extent along K of the known positions of each group that has some.

    Parameters
    ----------
    group, k
        int64, as many as each other: the number of a group, and a position or -1.
    """
    group, k = group[k >= 0], k[k >= 0]
    if not len(k):
        return np.zeros(0, np.int64)
    order = np.lexsort((k, group))
    start = changes(group[order])
    last = np.append(start[1:], len(order)) - 1
    lengths: Ints = k[order][last] - k[order][start] + 1
    return lengths


def usual(lengths: Ints) -> int:
    """Return the most frequent length, of several the largest, as the last tile may be shorter; 0 without any."""
    if not len(lengths):
        return 0
    length, count = np.unique(lengths, return_counts=True)
    return int(length[count == count.max()][-1])


def read_together(recording: Recording, timeline: Timeline, steps: Ints) -> int:
    """Return the extent along K that the lanes of a warp read together, as for a tensor-core fragment; 0 if none.

    If each thread goes along K by itself, the lanes of a step have the same position: then there are no tiles.
    """
    steps = steps[:_LOOKED_AT]
    if recording.backend != "cuda" or not len(steps):
        return 0
    log = recording.accesses
    # A step's rows are sorted by thread: the first warp comes first.
    count = np.minimum(np.diff(timeline.start)[steps], WARP)
    number = np.repeat(np.arange(len(steps)), count)
    begin = np.cumsum(count) - count
    rows = timeline.order[(timeline.start[steps] - begin)[number] + np.arange(len(number))]
    first = rows[begin][number]
    mine = (log.block[rows] == log.block[first]) & (log.thread[rows] // WARP == log.thread[first] // WARP)
    rows, number = rows[mine], number[mine]
    k = position_along_k(recording, rows, log.element[rows].astype(np.int64))
    if not (ranges(number, k) > 1).any():
        return 0
    run = np.zeros(len(steps), np.int64)
    run[1:] = np.cumsum((timeline.array[steps[1:]] != timeline.array[steps[:-1]]) | (np.diff(steps) != 1))
    # A wide access covers more than its first element; all loads together cover a tile evenly.
    reach = log.bytes[rows] // np.array([a.itemsize for a in recording.arrays])[log.array[rows]] - 1
    on_row = (log.array[rows] == A) != np.array([a.column_major for a in recording.arrays])[log.array[rows]]
    return usual(ranges(np.tile(run[number], 2), np.concatenate([k, k + np.where(on_row, reach, 0)])))
