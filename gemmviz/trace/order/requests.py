"""Warp requests: which accesses the lanes of a warp make together. The one place where this is decided.

A *request* is one instruction executed by one warp. The recorder runs threads one after another, so that the lanes have
to be put side by side again: between two points at which all of them meet (a barrier, a ``__syncwarp``), the lanes
that execute the same occurrence of the same instruction do so together. This is how a warp reconverges after a branch
or a loop that some of its lanes leave earlier (CUDA C++ Programming Guide, "SIMT Architecture"; that it does so at the
first chance holds for the plain loops of a GEMM on GPUs, and is no promise of CUDA). Where lanes leave out different
turns of a loop, occurrences are counted anew in each turn, which ends with code of all lanes. Where that suits no
order of theirs either, lanes are together when they have made equally many accesses since they met.
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

# Rows that are worked on at once: enough to keep NumPy busy, few enough for the processor's cache (measured: twice as
# fast as a million).
_CHUNK_ROWS = 1 << 17


@dataclass(frozen=True)
class Requests:
    """The warp requests of some rows of a recording: warp by warp, each in its own order.

    Attributes
    ----------
    first
        The row at which `of_row` begins.
    of_row
        int64 (rows), the request of each row.
    row
        int64 (requests), a row of each request: of its first lane. All rows of a request have the same instruction,
        array, direction and width.
    """

    first: int
    of_row: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.row)

    @property
    def lanes(self) -> Ints:
        """Accesses of each request."""
        return np.bincount(self.of_row, minlength=len(self))


def batches(recording: Recording) -> Iterator[Requests]:
    """Yield the requests of a recording in pieces that need little memory, in the order of its rows.

    There are no warps on a CPU: there, each access is a request of its own.
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
    """Return where the rows end that the same warp makes in the same phase as a row."""
    begin, end = (int(np.searchsorted(log.block, log.block[row], side)) for side in ("left", "right"))
    left, right = (int(np.searchsorted(log.phase[begin:end], log.phase[row], side)) for side in ("left", "right"))
    next_warp = (int(log.thread[row]) // WARP + 1) * WARP
    return begin + left + int(np.searchsorted(log.thread[begin + left : begin + right], next_warp))


def align(recording: Recording, begin: int = 0, end: int | None = None, *, whole_boxes: bool = True) -> Requests:
    """Put the lanes of warps side by side.

    Parameters
    ----------
    recording
        Any.
    begin, end
        The rows to take, which hold each warp's accesses of a phase whole or not at all; by default all rows.
    whole_boxes
        Whether all that the copy engine reads, or writes, of a box is one request: else it is cut into as many pieces
        at a time as a warp has lanes, and each counts as one (`lane_of`).
    """
    log = recording.accesses
    cut = slice(begin, len(log) if end is None else end)
    if len(log.boxes):
        return _with_boxes(recording, cut, whole_boxes)
    found = _align(recording, cut)
    return Requests(begin, found.of_row, begin + found.row)


def lane_of(recording: Recording, cut: slice) -> Ints:
    """Return the lane of each of some rows, as `align` takes them; of a box, pieces count as lanes."""
    log = recording.accesses
    found = log.thread[cut].astype(np.int64) % WARP
    if len(log.boxes):
        inside = continues(log.boxes, cut.start, cut.stop)
        rank = _rank(inside)
        in_box = inside | np.append(inside[1:], False)
        found[in_box] = rank[in_box] % WARP
    return found


def _rank(inside: npt.NDArray[np.bool_]) -> Ints:
    """Return the place of each row among those that it continues."""
    at = np.arange(len(inside))
    rank: Ints = at - np.maximum.accumulate(np.where(inside, 0, at))
    return rank


def _with_boxes(recording: Recording, cut: slice, whole: bool) -> Requests:
    """Align requests as `align` does, where there are boxes."""
    log = recording.accesses
    inside = continues(log.boxes, cut.start, cut.stop)
    if not whole:
        inside &= _rank(inside) % WARP > 0
    of_head, heads = np.cumsum(~inside) - 1, np.flatnonzero(~inside)
    width = log.bytes[cut].astype(np.int64)
    if (width != width[heads][of_head]).any():
        # Pieces at an edge of the matrix may have another width: in each row of the box, the last one.
        _, first, kind = np.unique(of_head << 16 | width, return_index=True, return_inverse=True)
        heads = np.sort(first)
        place: Ints = np.asarray(np.searchsorted(heads, first))
        of_head = place[kind]
    found = _align(recording, cut.start + heads)
    return Requests(cut.start, found.of_row[of_head], cut.start + heads[found.row])


def _align(recording: Recording, cut: slice | Ints) -> Requests:
    """Put the lanes of warps side by side, of some rows only, which are numbered from 0."""
    log = recording.accesses
    site = log.site[cut]
    if not len(site):
        return Requests(0, np.zeros(0, np.int64), np.zeros(0, np.int64))
    meets = [log.block[cut], log.phase[cut], log.thread[cut] // WARP, log.turn[cut]]
    start = changes(*meets, log.thread[cut])  # of one thread's accesses from one meeting to the next
    length = np.diff(start, append=len(site))
    run = np.repeat(np.arange(len(start)), length)
    position = np.arange(len(site)) - start[run]

    # The lanes of a warp between two meetings. Theirs are neighbouring runs, but where they meet within a phase.
    keys = [column[start] for column in meets]
    by_meeting = np.lexsort(keys[::-1])
    heads = changes(*(key[by_meeting] for key in keys))
    meeting = np.empty(len(start), np.int64)
    meeting[by_meeting] = np.repeat(np.arange(len(heads)), np.diff(heads, append=len(start)))
    lead = by_meeting[heads]

    # Nearly always all lanes execute the same: then accesses at the same position belong together.
    same_length = length == length[lead][meeting]
    reference = np.minimum((start[lead][meeting] - start)[run] + np.arange(len(site)), len(site) - 1)
    alike = np.logical_and.reduceat(site[reference] == site, start) & same_length
    diverged = np.bincount(meeting[~alike], minlength=len(lead)) > 0
    number = position  # of a row's request among those of its meeting
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
        Per row, the number of its request among those of its meeting; and one row of each request.
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
    """Count the occurrences of an instruction anew in each turn of a loop.

    A turn ends with an instruction that all lanes of a meeting execute equally often, and none of these more often.

    Returns
    -------
    tuple
        Per row, a number that the same occurrences have in all lanes, and one that puts the rows of a lane in order.
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
    """Take lanes together that have made equally many accesses, whatever they are."""
    return position, position


def _number(meeting: Ints, site: npt.NDArray[Any], which: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Give a number, within each meeting, to the groups of rows of equal (site, which), by the furthest position."""
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
    """Return where stretches of rows begin over which no column changes."""
    change = np.zeros(len(columns[0]), bool)
    change[:1] = True
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(change)


def earlier(run: Ints, site: npt.NDArray[Any]) -> Ints:
    """Count, for each row, the earlier rows of the same run with the same site."""
    key = run * (int(site.max()) + 1) + site
    by_key = np.argsort(key, kind="stable")
    start = changes(key[by_key])
    earlier = np.empty(len(key), np.int64)
    earlier[by_key] = np.arange(len(key)) - np.repeat(start, np.diff(start, append=len(key)))
    return earlier
