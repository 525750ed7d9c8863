"""The accesses to arrays that are written, sorted by element and then by thread."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import C
from gemmviz.trace.recording.recording import WARP, Recording

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AccessIndex:
    """Accesses to arrays that are written, one row per element covered, sorted by element and then by thread.

    ``slot`` numbers the elements; a shared array has a copy per block. Further sort keys are block, phase, warp, turn,
    thread and row.
    """

    slot: Ints
    row: Ints
    block: Ints
    phase: Ints
    warp: Ints
    turn: Ints
    thread: Ints
    write: Flags
    atomic: Flags
    base: Ints


def access_index(recording: Recording) -> AccessIndex:
    """Return the accesses to shared memory, to C, and to other arrays that the kernel writes."""
    log = recording.accesses
    written = np.zeros(len(recording.arrays), bool)
    written[np.unique(log.array[log.write])] = True
    written |= [a.space == "shared" or i == C for i, a in enumerate(recording.arrays)]
    picked = np.flatnonzero(written[log.array])
    position, element = recording.elements(picked)
    row = picked[position]

    base = [0]
    for array in recording.arrays:
        base.append(base[-1] + array.size * (recording.blocks if array.space == "shared" else 1))
    starts = np.array(base, np.int64)
    per_block = np.array([a.size if a.space == "shared" else 0 for a in recording.arrays], np.int64)
    block = log.block[row].astype(np.int64)
    slot = starts[log.array[row]] + per_block[log.array[row]] * block + element
    thread = log.thread[row].astype(np.int64)
    columns = (slot, block, log.phase[row].astype(np.int64), thread // WARP, log.turn[row].astype(np.int64), thread)
    # Rows are sorted by block, phase and thread; if lanes waited for each other, by the turn before the lane.
    order = np.lexsort((row, *columns[::-1])) if log.turn.any() else np.argsort(slot, kind="stable")
    atomic = np.array([s.atomic for s in recording.sites] or [False])
    slot, block, phase, warp, turn, thread = (c[order] for c in columns)
    row = row[order]
    return AccessIndex(slot, row, block, phase, warp, turn, thread, log.write[row], atomic[log.site[row]], starts)


def groups(columns: tuple[Ints, ...]) -> tuple[Ints, Ints]:
    """Return the beginning and the end (inclusive) of each run of equal rows."""
    count = len(columns[0])
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    change = np.zeros(count, bool)
    change[0] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(change)
    return first, np.append(first[1:], count) - 1
