"""The cost of a recording's accesses: counts, warp requests, sectors and bank conflicts (all of it *recorded*).

Totals need no timeline: they are added up warp by warp, in little memory (see `gemmviz.trace.order.requests`). With a
timeline, each step has the total up to that step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.cost.wavefronts import sectors, wavefronts
from gemmviz.trace.order.requests import Ints, Requests, batches, lane_of
from gemmviz.trace.order.tile_steps import TileSteps
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class ArrayTraffic:
    """Accesses to one array: counts of thread accesses, bytes asked for, and the requests of warps.

    ``units`` are sectors for global memory, wavefronts for shared memory. ``loaded_bytes`` is the smallest number of
    bytes to load: for global memory the different elements that are accessed, for shared memory the bytes written to
    it.
    """

    name: str
    space: str
    reads: int
    writes: int
    read_bytes: int
    write_bytes: int
    read_requests: int
    write_requests: int
    read_units: int
    write_units: int
    loaded_bytes: int


@dataclass(frozen=True)
class Traffic:
    """The traffic of a recording.

    Attributes
    ----------
    arrays
        One entry per array of the recording.
    sites
        One entry per memory instruction (and per array and direction, if it has several), in the order of the lines.
    running
        int64 (steps, arrays, 2, 3): the number of accesses, bytes and units of each array up to each step of the
        timeline; axis 2 is (read, write), axis 3 is (accesses, bytes, units). Without a timeline it has no steps.
    tile_steps
        Phases per block in which elements of A or B are written to the block's shared memory: the number of tiles that
        it loads. Sums in shared memory do not count (see `gemmviz.trace.order.tile_steps`). 0 without tiles.
    """

    arrays: tuple[ArrayTraffic, ...]
    sites: tuple[SiteTraffic, ...]
    running: npt.NDArray[np.int64]
    tile_steps: int

    @property
    def accesses(self) -> int:
        """The number of accesses of all threads."""
        return sum(a.reads + a.writes for a in self.arrays)

    def sectors(self, write: bool) -> int:
        """Return the global sectors read, or written, by the whole launch."""
        return sum(a.write_units if write else a.read_units for a in self.arrays if a.space == "global")

    def requests(self, write: bool) -> int:
        """Return the warp requests to global memory, reads or writes."""
        return sum(a.write_requests if write else a.read_requests for a in self.arrays if a.space == "global")

    def conflict_degree(self) -> float:
        """Return wavefronts per request of shared memory; 0 if there is no such request.

        Without bank conflicts it is 1 for accesses of up to 4 bytes, and up to 4 for wider ones.
        """
        shared = [a for a in self.arrays if a.space == "shared"]
        requests = sum(a.read_requests + a.write_requests for a in shared)
        return sum(a.read_units + a.write_units for a in shared) / requests if requests else 0.0

    def bank_conflicts(self) -> int:
        """Return the wavefronts of shared memory beyond those that the same requests need without bank conflicts."""
        return sum(s.units - s.least_units for s in self.sites if s.space == "shared")


def measure(recording: Recording, timeline: Timeline | None = None) -> Traffic:
    """Count the traffic of a recording, step by step if a timeline is given."""
    log = recording.accesses
    kinds = 2 * len(recording.arrays)
    steps = timeline.steps if timeline is not None else 0
    # Per instruction, array and direction: accesses, bytes, requests, units, and the smallest possible number of units.
    totals = np.zeros((len(recording.sites) * kinds, 5), np.int64)
    running = np.zeros((steps * kinds, 3), np.int64)
    touched = [np.zeros(a.size if a.space == "global" else 0, bool) for a in recording.arrays]
    tiles = TileSteps(recording)
    for requests in batches(recording):
        row, lanes = requests.row, requests.lanes
        units, least = costs(recording, requests) if recording.backend == "cuda" else (lanes, lanes)
        moved = lanes * log.bytes[row]
        kind = 2 * log.array[row].astype(np.int64) + log.write[row]
        _add(totals, log.site[row] * kinds + kind, (lanes, moved, np.ones(len(row)), units, least))
        if timeline is not None:
            _add(running, timeline.step_of_row[row] * kinds + kind, (lanes, moved, units))
        _touch(recording, requests, touched)
        tiles.add(requests)
    by_site = totals.reshape(-1, len(recording.arrays), 2, 5)
    different = [int(flags.sum()) * a.itemsize for flags, a in zip(touched, recording.arrays, strict=True)]
    return Traffic(
        _by_array(recording, by_site.sum(axis=0), different),
        _by_site(recording, by_site),
        np.cumsum(running.reshape(steps, len(recording.arrays), 2, 3), axis=0),
        tiles.most(),
    )


def _add(totals: Ints, place: Ints, figures: Sequence[npt.NDArray[Any]]) -> None:
    """Add figures to the totals of their places, each in its column."""
    first, last = (int(place.min()), int(place.max()) + 1) if len(place) else (0, 0)
    for column, figure in enumerate(figures):
        totals[first:last, column] += np.bincount(place - first, figure, last - first).astype(np.int64)


def costs(recording: Recording, requests: Requests) -> tuple[Ints, Ints]:
    """Return, per request, its sectors or wavefronts, and the smallest possible number of these."""
    log = recording.accesses
    cut = slice(requests.first, requests.first + len(requests.of_row))
    itemsize = np.array([a.itemsize for a in recording.arrays], np.int64)
    is_shared = np.array([a.space == "shared" for a in recording.arrays])[log.array[cut]]
    start, width = log.element[cut] * itemsize[log.array[cut]], log.bytes[cut].astype(np.int64)
    lane = lane_of(recording, cut)
    units = least = np.zeros(len(requests), np.int64)
    for space, rows in (("global", np.flatnonzero(~is_shared)), ("shared", np.flatnonzero(is_shared))):
        if not len(rows):
            continue
        what = requests.of_row[rows], lane[rows], start[rows], width[rows]
        if space == "global":
            found = sectors(*what, len(requests))
        else:
            found = wavefronts(*what, log.write[cut][rows] > 0, len(requests))
        units, least = units + found[0], least + found[1]
    return units, least


def _touch(recording: Recording, requests: Requests, touched: Sequence[npt.NDArray[np.bool_]]) -> None:
    """Mark the elements of global memory that requests access."""
    log = recording.accesses
    cut = slice(requests.first, requests.first + len(requests.of_row))
    for index, array in enumerate(recording.arrays):
        if array.space != "global":
            continue
        rows = np.flatnonzero(log.array[cut] == index)
        element, covers = log.element[cut][rows].astype(np.int64), log.bytes[cut][rows] // array.itemsize
        touched[index][element] = True
        for further in range(1, int(covers.max(initial=1))):
            touched[index][element[covers > further] + further] = True


def _by_array(recording: Recording, totals: Ints, different: Sequence[int]) -> tuple[ArrayTraffic, ...]:
    """Return the totals (arrays, 2, 5) as an entry per array."""
    return tuple(
        ArrayTraffic(
            array.name,
            array.space,
            reads=read[0],
            writes=write[0],
            read_bytes=read[1],
            write_bytes=write[1],
            read_requests=read[2],
            write_requests=write[2],
            read_units=read[3],
            write_units=write[3],
            loaded_bytes=unique if array.space == "global" else write[1],
        )
        for array, (read, write), unique in zip(recording.arrays, totals.tolist(), different, strict=True)
    )


def _by_site(recording: Recording, totals: Ints) -> tuple[SiteTraffic, ...]:
    """Return the totals (sites, arrays, 2, 5) as an entry per instruction."""
    found = []
    for site, array, write in zip(*np.nonzero(totals[..., 0]), strict=True):
        accesses, asked, requests, units, least = totals[site, array, write].tolist()
        place = recording.arrays[array]
        line = recording.sites[site].line
        found.append(SiteTraffic(line, place.name, place.space, bool(write), accesses, requests, units, asked, least))
    return tuple(sorted(found, key=lambda s: (s.line, s.array, s.write)))
