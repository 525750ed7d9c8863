"""The accesses to arrays that are written, sorted by element and then by thread."""

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, C
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.memories import memory_of_a
from gemmviz.trace.recording.recording import WARP, Recording

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AccessIndex:
    """Accesses to arrays that are written, one row per element covered, sorted by element and then by thread.

    ``slot`` numbers the elements; a shared array has a copy per block, and A one per GPU. Further sort keys are block,
    phase, warp, turn, thread and row.
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

    def only(self, picked: Flags) -> "AccessIndex":
        """Return some of the accesses."""
        columns = {f.name: getattr(self, f.name)[picked] for f in fields(self) if f.name != "base"}
        return replace(self, **columns)


def access_index(recording: Recording) -> AccessIndex:
    """Return the accesses to shared memory, to C, and to other arrays that the kernel writes or has to write."""
    log = recording.accesses
    written = np.zeros(len(recording.arrays), bool)
    written[distinct(log.array[log.write])] = True
    written |= [a.space == "shared" or i == C for i, a in enumerate(recording.arrays)]
    written &= [a.space != "flags" for a in recording.arrays]
    written[A] |= recording.sharing is not None and recording.sharing.crossing == "inside"
    picked = np.flatnonzero(written[log.array])
    # Rows are sorted by block, phase and thread; if lanes waited for each other, by the turn before the lane.
    if log.turn.any():
        keys = (log.turn[picked], log.thread[picked] // WARP, log.phase[picked], log.block[picked])
        picked = picked[np.lexsort(keys)]
    position, element = recording.elements(picked)
    row = picked[position]

    base = [0]
    for number, array in enumerate(recording.arrays):
        gpus = recording.sharing.devices if recording.sharing is not None and number == A else 1
        base.append(base[-1] + array.size * (recording.blocks if array.space == "shared" else gpus))
    starts = np.array(base, np.int64)
    per_block = np.array([a.size if a.space == "shared" else 0 for a in recording.arrays], np.int64)
    which = log.array[row]
    slot = starts[which] + per_block[which] * log.block[row] + element
    if recording.sharing is not None:
        of_a = which == A
        slot[of_a] += recording.arrays[A].size * memory_of_a(recording, row[of_a], element[of_a])
    # NumPy sorts numbers of 16 bits by their digits, which is several times as fast.
    order = np.argsort(slot.astype(np.uint16) if base[-1] <= 1 << 16 else slot, kind="stable")
    slot, row = slot[order], row[order]
    block, phase, turn, thread = (c[row].astype(np.int64) for c in (log.block, log.phase, log.turn, log.thread))
    atomic = np.array([s.atomic for s in recording.sites] or [False])
    write = log.write[row]
    return AccessIndex(slot, row, block, phase, thread // WARP, turn, thread, write, atomic[log.site[row]], starts)


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


def by_lines(keys: Ints, slot: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct rows of keys, such as pairs of lines, and how many elements belong to each.

    Many threads may be in conflict at one element: it counts once.

    Parameters
    ----------
    keys
        A row for each conflict.
    slot
        Its element, see `AccessIndex`.

    Returns
    -------
    example, number, count
        The first conflict with each distinct row; for each conflict the number of its row; the elements of each row.
    """
    _, example, number = np.unique(keys.astype(np.int64), axis=0, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    span = int(slot.max(initial=0)) + 1
    return example, number, np.bincount(distinct(number * span + slot) // span, minlength=len(example))
