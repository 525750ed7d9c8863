"""Warp requests: which accesses the lanes of a warp make together. All other code takes requests from here.

A *request* is one instruction executed by one warp. The recorder runs threads one after another, so the lanes have to
be aligned again: between two points at which all lanes synchronise (a barrier, a ``__syncwarp``), lanes that execute
the same occurrence of the same instruction do so together. So does a warp that reconverges after a branch, or after a
loop that some of its lanes leave earlier (CUDA C++ Programming Guide, "SIMT Architecture". That a warp reconverges as
early as possible is true for the plain loops of a GEMM on GPUs; CUDA does not guarantee it). If lanes skip different
iterations of a loop, occurrences are counted separately in each iteration, which ends with code of all lanes. If this
agrees with no order of the lanes' accesses either, lanes are together if they have made equally many accesses since
they synchronised.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording.accesses import Accesses
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.trace.recording.tma_boxes import continues

Ints = npt.NDArray[np.int64]

# Rows that are processed at once: enough for NumPy, few enough for the processor's cache (measured: twice as fast as a
# million rows).
_CHUNK_ROWS = 1 << 17


@dataclass(frozen=True)
class Requests:
    """The warp requests of some rows of a recording, sorted by warp and then by order.

    Attributes
    ----------
    first
        The first row of `of_row`.
    of_row
        int64 (rows), the request of each row.
    row
        int64 (requests), the row of each request's first lane. All rows of a request have the same instruction, array,
        direction and width.
    """

    first: int
    of_row: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.row)

    @property
    def lanes(self) -> Ints:
        """The number of accesses of each request."""
        return np.bincount(self.of_row, minlength=len(self))


def batches(recording: Recording) -> Iterator[Requests]:
    """Yield the requests of a recording in pieces that need little memory, in the order of its rows.

    There are no warps on a CPU: there, each access is a separate request.
    """
    log = recording.accesses
    begin = 0
    while begin < len(log):
        end = min(begin + _CHUNK_ROWS, len(log))
        if recording.backend == "cuda":
            end = _end_of_warp(log, end - 1)
            yield align(recording, begin, end, whole_boxes=False)
        else:
            rows = np.arange(end - begin)
            yield Requests(begin, rows, begin + rows)
        begin = end


def _end_of_warp(log: Accesses, row: int) -> int:
    """Return the end of the rows of the same warp and phase as a row."""
    begin, end = (int(np.searchsorted(log.block, log.block[row], side)) for side in ("left", "right"))
    left, right = (int(np.searchsorted(log.phase[begin:end], log.phase[row], side)) for side in ("left", "right"))
    next_warp = (int(log.thread[row]) // WARP + 1) * WARP
    return begin + left + int(np.searchsorted(log.thread[begin + left : begin + right], next_warp))


def align(recording: Recording, begin: int = 0, end: int | None = None, *, whole_boxes: bool = True) -> Requests:
    """Return the requests of some rows, with the lanes of each warp aligned.

    Parameters
    ----------
    recording
        Any.
    begin, end
        The rows; they contain all or none of a warp's accesses in a phase. By default all rows.
    whole_boxes
        Whether all reads, or all writes, of a box are one request. Otherwise they are divided into requests of as many
        pieces as a warp has lanes (`lane_of`).
    """
    log = recording.accesses
    cut = slice(begin, len(log) if end is None else end)
    if len(log.boxes):
        return _with_boxes(recording, cut, whole_boxes)
    found = _align(recording, cut)
    return Requests(begin, found.of_row, begin + found.row)


def lane_of(recording: Recording, cut: slice) -> Ints:
    """Return the lane of each row for `align`; the pieces of a box count as lanes."""
    log = recording.accesses
    found = log.thread[cut].astype(np.int64) % WARP
    if len(log.boxes):
        inside = continues(log.boxes, cut.start, cut.stop)
        rank = _rank(inside)
        in_box = inside | np.append(inside[1:], False)
        found[in_box] = rank[in_box] % WARP
    return found


def _rank(inside: npt.NDArray[np.bool_]) -> Ints:
    """Return the index of each row within its run of continued rows."""
    at = np.arange(len(inside))
    rank: Ints = at - np.maximum.accumulate(np.where(inside, 0, at))
    return rank


def _with_boxes(recording: Recording, cut: slice, whole: bool) -> Requests:
    """Align requests like `align`, for rows with boxes."""
    log = recording.accesses
    inside = continues(log.boxes, cut.start, cut.stop)
    if not whole:
        inside &= _rank(inside) % WARP > 0
    of_head, heads = np.cumsum(~inside) - 1, np.flatnonzero(~inside)
    width = log.bytes[cut].astype(np.int64)
    if (width != width[heads][of_head]).any():
        # At an edge of the matrix, the last piece in each row of the box may have another width.
        _, first, kind = np.unique(of_head << 16 | width, return_index=True, return_inverse=True)
        heads = np.sort(first)
        place: Ints = np.asarray(np.searchsorted(heads, first))
        of_head = place[kind]
    found = _align(recording, cut.start + heads)
    return Requests(cut.start, found.of_row[of_head], cut.start + heads[found.row])


def _align(recording: Recording, cut: slice | Ints) -> Requests:
    """Align the lanes of warps for some rows, which are numbered from 0."""
    log = recording.accesses
    site = log.site[cut]
    if not len(site):
        return Requests(0, np.zeros(0, np.int64), np.zeros(0, np.int64))
    meets = [log.block[cut], log.phase[cut], log.thread[cut] // WARP, log.turn[cut]]
    start = changes(*meets, log.thread[cut])  # the beginning of one thread's accesses between two synchronisations
    length = np.diff(start, append=len(site))
    run = np.repeat(np.arange(len(start)), length)
    position = np.arange(len(site)) - start[run]

    # The lanes of a warp between two synchronisations: adjacent runs, unless they synchronise within a phase.
    keys = [column[start] for column in meets]
    by_meeting = np.lexsort(keys[::-1])
    heads = changes(*(key[by_meeting] for key in keys))
    meeting = np.empty(len(start), np.int64)
    meeting[by_meeting] = np.repeat(np.arange(len(heads)), np.diff(heads, append=len(start)))
    lead = by_meeting[heads]

    # Usually all lanes execute the same instructions: then accesses at the same position belong together.
    same_length = length == length[lead][meeting]
    reference = np.minimum((start[lead][meeting] - start)[run] + np.arange(len(site)), len(site) - 1)
    alike = np.logical_and.reduceat(site[reference] == site, start) & same_length
    diverged = np.bincount(meeting[~alike], minlength=len(lead)) > 0
    number = position  # the number of a row's request since the last synchronisation
    count = length[lead]
    if diverged.any():
        rows = np.flatnonzero(diverged[meeting][run])
        number[rows], counted = _diverged(meeting[run[rows]], run[rows], position[rows], site[rows])
        count = np.where(diverged, np.bincount(meeting[run[rows]][counted], minlength=len(lead)), count)
    of_row = (np.cumsum(count) - count)[meeting][run] + number
    kind = log.array[cut].astype(np.uint32) << 9 | log.write[cut].astype(np.uint32) << 8 | log.bytes[cut]
    return _split(of_row, kind, int(count.sum()))


def _diverged(meeting: Ints, run: Ints, position: Ints, site: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Align the lanes of divergent warps.

    Returns
    -------
    tuple
        Per row, the number of its request since the last synchronisation; and one row of each request.
    """
    which, order = earlier(run, site), position.copy()
    number, example = _number(meeting, site, which, order)
    for otherwise in (_by_turn, _by_position):
        back = np.zeros(len(run), bool)
        back[1:] = (number[1:] <= number[:-1]) & (run[1:] == run[:-1])
        if not back.any():
            break
        tangled = np.flatnonzero(np.isin(meeting, meeting[back]))
        columns = (column[tangled] for column in (meeting, run, position, site))
        which[tangled], order[tangled] = otherwise(*columns)
        number, example = _number(meeting, site, which, order)
    return number, example


def _by_turn(meeting: Ints, run: Ints, position: Ints, site: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Count the occurrences of an instruction separately in each iteration of a loop.

    An iteration ends with an instruction that all lanes execute equally often between two synchronisations; of these it
    is the one that is executed most often.

    Returns
    -------
    tuple
        Per row, a number that is equal for the same occurrence in all lanes, and a number that sorts the rows of a
        lane.
    """
    sites = int(site.max()) + 1
    _, row, of_row, count = np.unique(run * sites + site, return_index=True, return_inverse=True, return_counts=True)
    pairs, pair = np.unique(meeting[row] * sites + site[row], return_inverse=True)
    least, most = np.full(len(pairs), len(run)), np.zeros(len(pairs), np.int64)
    np.minimum.at(least, pair, count)
    np.maximum.at(most, pair, count)
    meetings, lanes = np.unique(meeting[changes(run)], return_counts=True)
    of_pair = np.searchsorted(meetings, pairs // sites)
    all_lanes = np.bincount(pair) == lanes[of_pair]
    alike = np.where((least == most) & all_lanes, most, 0)
    best = np.zeros(len(meetings), np.int64)
    np.maximum.at(best, of_pair, alike)
    ends = ((alike > 0) & (alike == best[of_pair]))[pair][of_row.ravel()]

    start = changes(run)
    before = np.cumsum(ends) - ends
    turn = before - np.repeat(before[start], np.diff(start, append=len(run)))
    first = changes(run, turn)
    length = np.diff(first, append=len(run))
    of_turn = np.repeat(np.arange(len(first)), length)
    nth = earlier(of_turn, site)
    place = np.arange(len(run)) - first[of_turn]
    return turn * (int(nth.max()) + 1) + nth, turn * int(length.max()) + place


def _by_position(meeting: Ints, run: Ints, position: Ints, site: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Align lanes that have made equally many accesses, whatever their instructions are."""
    return position, position


def _number(meeting: Ints, site: npt.NDArray[Any], which: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return numbers of the groups of equal (site, which) between two synchronisations, by their last position."""
    key = (meeting * (int(site.max()) + 1) + site) * (int(which.max()) + 1) + which
    by_key = np.argsort(key, kind="stable")
    start = changes(key[by_key])
    example = by_key[start]
    reach = np.maximum.reduceat(position[by_key], start)
    ranking = np.lexsort((site[example], reach, meeting[example]))
    heads = changes(meeting[example][ranking])
    place = np.empty(len(ranking), np.int64)
    sizes = np.diff(heads, append=len(ranking))
    place[ranking] = np.arange(len(ranking)) - np.repeat(heads, sizes)
    number = np.empty(len(key), np.int64)
    number[by_key] = np.repeat(place, np.diff(start, append=len(key)))
    return number, example


def _split(of_row: Ints, kind: npt.NDArray[Any], count: int) -> Requests:
    """Split the accesses of one instruction to different arrays (through a pointer that differs between lanes)."""
    row = np.empty(count, np.int64)
    row[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)
    if (kind != kind[row][of_row]).any():
        kinds = np.unique(kind, return_inverse=True)[1]
        _, row, of_row = np.unique(of_row * (int(kinds.max()) + 1) + kinds, return_index=True, return_inverse=True)
    return Requests(0, of_row, row)


def changes(*columns: npt.NDArray[Any]) -> Ints:
    """Return the first row of each run of rows in which no column (all of one length) changes, ascending."""
    change = np.zeros(len(columns[0]), bool)
    change[:1] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(change)


def earlier(run: Ints, site: npt.NDArray[Any]) -> Ints:
    """Return, for each row, the number of earlier rows of the same run with the same site."""
    key = run * (int(site.max()) + 1) + site
    by_key = np.argsort(key, kind="stable")
    start = changes(key[by_key])
    earlier = np.empty(len(key), np.int64)
    earlier[by_key] = np.arange(len(key)) - np.repeat(start, np.diff(start, append=len(key)))
    return earlier
