"""Threads whose access was out of bounds: they are counted per line (*recorded*), but their accesses have no rows.

Such a thread is absent from its step, like a thread that a condition excludes; the rows do not distinguish the two. The
threads are known if the number of a line's accesses out of bounds equals the number of threads that are absent from its
steps, and if all threads execute the line equally often. Otherwise there are two upper bounds: the number of absent
threads, and the number of accesses out of bounds on that line.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class OutOfBounds:
    """The threads that are absent from each step because their access was out of bounds.

    Attributes
    ----------
    most
        int64 (steps): the largest possible number of such threads; 0 if there can be none.
    certain
        bool (steps): whether this is the exact number: all threads that are absent from the step.
    """

    most: Ints
    certain: npt.NDArray[np.bool_]


def out_of_bounds(recording: Recording, timeline: Timeline) -> OutOfBounds:
    """Return the number of threads that are absent from each step because of an access out of bounds."""
    found = OutOfBounds(np.zeros(timeline.steps, np.int64), np.zeros(timeline.steps, bool))
    missed: dict[tuple[int, str], int] = {}
    for diagnostic in recording.diagnostics:
        if diagnostic.kind == "out of bounds":
            key = diagnostic.line, diagnostic.array
            missed[key] = missed.get(key, 0) + diagnostic.count
    if not missed or recording.backend != "cuda" or not timeline.steps:
        return found
    first, end = recording.scope or (0, recording.blocks)
    together = end - first if timeline.order_by == "grid" else 1
    rows = np.diff(timeline.start)
    absent = np.maximum(recording.threads * together - rows, 0)
    line = np.array([site.line for site in recording.sites], np.int64)[timeline.site]
    names = np.array([array.name for array in recording.arrays])[timeline.array]
    block = recording.accesses.block[timeline.order[timeline.start[:-1]]].astype(np.int64)
    for (at, name), count in missed.items():
        steps = np.flatnonzero((line == at) & (names == name))
        found.most[steps] = np.minimum(absent[steps], count)
        keys = np.stack([timeline.site[steps], timeline.phase[steps], block[steps] if together == 1 else 0 * steps])
        found.certain[steps] = int(absent[steps].sum()) == count and _even(keys, rows[steps])
    return found


def _even(keys: Ints, rows: Ints) -> bool:
    """Return whether the steps of each key (its columns) have equally many rows."""
    if not len(rows):
        return True
    group = np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)
    least, most = np.full(len(rows), np.iinfo(np.int64).max), np.zeros(len(rows), np.int64)
    np.minimum.at(least, group, rows)
    np.maximum.at(most, group, rows)
    return bool((least[group] == most[group]).all())
