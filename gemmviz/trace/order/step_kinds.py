"""The kind of each step: by the array that it accesses, and by the origin and destination of values."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.order.position_along_k import UNKNOWN, fill, position_along_k, ranges
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.origin.array_state import History
from gemmviz.trace.origin.staging import Staged
from gemmviz.trace.recording.recording import Recording

KINDS = ("copy", "use", "direct", "reload", "store", "other")
"""Global to shared memory; a read of shared memory; a global read for a product without shared memory in between; a
read of C, to which something is added; a write of C; anything else, such as the exchange of sums."""
COPY, USE, DIRECT, RELOAD, STORE, OTHER = range(len(KINDS))

_SAMPLES = 4  # rows of a step whose origin is searched: the first one may be an edge, filled with zero


class Followed(Protocol):
    """The part of a `gemmviz.trace.playable.Playable` that is used here; the last two are computed when needed."""

    @property
    def recording(self) -> Recording:
        """The accesses."""

    @property
    def timeline(self) -> Timeline:
        """Their order."""

    @property
    def staged(self) -> Staged:
        """The reads from which written values come."""

    @property
    def history(self) -> History:
        """The contents of each array at each step."""


def kinds_by_array(recording: Recording, timeline: Timeline) -> npt.NDArray[np.uint8]:
    """Return the kind of each step from its array alone: every global read counts as direct."""
    table = np.full((len(recording.arrays), 2), OTHER, np.uint8)
    for index, array in enumerate(recording.arrays):
        if array.space == "shared":
            table[index, 0] = USE
        elif index in (A, B):
            table[index, 0] = DIRECT
        elif index == C:
            table[index] = RELOAD, STORE
    return table[timeline.array, timeline.write.astype(np.int64)]


def follow_copies(playable: Followed, kinds: npt.NDArray[np.uint8], place: Ints) -> Ints:
    """Mark copies and uses in `kinds`, and their positions along K in `place`.

    Returns
    -------
    Ints
        int64, the lengths along K of a block's copies in each of its phases.
    """
    recording, timeline, staged = playable.recording, playable.timeline, playable.staged
    log, step_of_row = recording.accesses, timeline.step_of_row
    shared = np.array([a.space == "shared" for a in recording.arrays])
    in_shared = shared[log.array[staged.row]]
    brings = staged.row[in_shared & ((staged.read >= 0) | staged.unknown)]
    # The kernel fills the edges of tiles with zeros.
    tiles = _among(len(recording.arrays), log.array[brings])
    of_tiles = staged.row[in_shared & tiles[log.array[staged.row]]]
    copies = _among(len(recording.sites), log.site[brings]) | _all_zero_sites(recording, of_tiles)
    kinds[copies[timeline.site] & shared[timeline.array] & timeline.write] = COPY
    kinds[_copying_reads(playable) & (kinds == DIRECT)] = COPY
    linked = np.flatnonzero(in_shared & (staged.read >= 0))
    k = position_along_k(recording, staged.read[linked], staged.read_element[linked])
    steps = step_of_row[staged.row[linked]]
    place[steps[::-1]] = k[::-1]
    _places_of_uses(playable, kinds, place)
    for write in (True, False):  # a step without a known source gets the position of its neighbours
        for kind in (COPY, USE):
            fill(timeline, np.flatnonzero((kinds == kind) & (timeline.write == write)), place)
    if not len(linked):
        return np.zeros(0, np.int64)
    mine = log.block[staged.row[linked]] == log.block[staged.row[linked[0]]]
    return ranges(log.phase[staged.row[linked[mine]]].astype(np.int64), k[mine])


def _among(count: int, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return, for each number below `count`, whether it is among the given ones: faster than to sort these."""
    found = np.zeros(count, bool)
    found[numbers] = True
    return found


def _all_zero_sites(recording: Recording, rows: Ints) -> npt.NDArray[np.bool_]:
    """Return, for each instruction, whether it writes something, but only zeros, in the given accesses."""
    position, _, value = recording.covered(rows)
    site, count = recording.accesses.site[rows], len(recording.sites)
    return _among(count, site) & ~_among(count, site[position[value != 0]])


def _copying_reads(playable: Followed) -> npt.NDArray[np.bool_]:
    """Return the steps whose values go on to shared memory: by a link, or because most reads of their instruction do.

    (A value that is read ahead and never stored has no link.)
    """
    timeline, staged, log = playable.timeline, playable.staged, playable.recording.accesses
    goes_on = np.zeros(len(log), bool)
    goes_on[staged.read[staged.read >= 0]] = True
    found = np.zeros(timeline.steps, bool)
    found[timeline.step_of_row[goes_on]] = True
    goes_on[staged.doubtful] = True
    sites = len(playable.recording.sites)
    made = np.bincount(timeline.site[~timeline.write], np.diff(timeline.start)[~timeline.write], sites)
    mostly = 2 * np.bincount(log.site[goes_on], minlength=sites) > made
    copying: npt.NDArray[np.bool_] = found | (mostly[timeline.site] & ~timeline.write)
    return copying


def _places_of_uses(playable: Followed, kinds: npt.NDArray[np.uint8], place: Ints) -> None:
    """Set, in `place`, the position along K of values read from shared memory; reads of results are not uses."""
    recording, timeline, history = playable.recording, playable.timeline, playable.history
    log, steps = recording.accesses, np.flatnonzero(kinds == USE)
    size = np.array([a.size for a in recording.arrays], np.int64)
    copied = np.zeros(len(steps), bool)
    known = np.zeros(len(steps), bool)
    found = np.full(len(steps), UNKNOWN, np.int64)
    for part in range(_SAMPLES):
        count = timeline.start[steps + 1] - timeline.start[steps]
        rows = timeline.order[timeline.start[steps] + count * part // _SAMPLES]
        array = log.array[rows]
        slot = np.array(history.base, np.int64)[array] + size[array] * log.block[rows] + log.element[rows]
        at = np.searchsorted(history.key, slot * timeline.steps + steps) - 1
        written = (at >= 0) & (history.key[np.maximum(at, 0)] // timeline.steps == slot)
        at = at[written]
        read, element = (column[history.item[at]] for column in (playable.staged.read, playable.staged.read_element))
        k = np.where(read >= 0, position_along_k(recording, np.maximum(read, 0), np.maximum(element, 0)), UNKNOWN)
        known |= written
        copied[written] |= kinds[timeline.step_of_row[history.row[at]]] == COPY
        found[written] = np.where(found[written] >= 0, found[written], k)
    place[steps] = found
    kinds[steps[known & ~copied]] = OTHER
