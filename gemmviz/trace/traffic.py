"""What the accesses of a recording cost: counts, warp requests, sectors and bank conflicts (all of it *recorded*).

A *request* is one instruction executed by one warp: the lanes that execute the same occurrence of the same instruction
in the same phase. A global request moves as many 32-byte *sectors* as its lanes touch; a shared request takes as many
*wavefronts* as the busiest of the 32 four-byte banks has different words to deliver.
Source of the rules: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory".
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import WARP, Recording
from gemmviz.trace.timeline import Ints, Timeline, build

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class ArrayTraffic:
    """Accesses to one array: counts of thread accesses, bytes asked for, and what warps made of them.

    ``units`` are sectors for global memory, wavefronts for shared memory.
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


@dataclass(frozen=True)
class Traffic:
    """The traffic of a recording.

    Attributes
    ----------
    arrays
        One entry per array of the recording.
    running
        int64 (steps, arrays, 2, 3): after each step of the timeline, how many accesses, bytes and units each array has
        seen; axis 2 is (read, write), axis 3 is (accesses, bytes, units).
    tile_steps
        Phases per block in which the block writes shared memory: how often it loads a tile. 0 where nothing is tiled.
    """

    arrays: tuple[ArrayTraffic, ...]
    running: npt.NDArray[np.int64]
    tile_steps: int

    def sectors(self, write: bool) -> int:
        """Return the global sectors read, or written, by the whole launch."""
        return sum(a.write_units if write else a.read_units for a in self.arrays if a.space == "global")

    def requests(self, write: bool) -> int:
        """Return the warp requests to global memory, reads or writes."""
        return sum(a.write_requests if write else a.read_requests for a in self.arrays if a.space == "global")

    def conflict_degree(self) -> float:
        """Return wavefronts per request of shared memory: 1 is conflict-free, 0 means no shared access."""
        shared = [a for a in self.arrays if a.space == "shared"]
        requests = sum(a.read_requests + a.write_requests for a in shared)
        return sum(a.read_units + a.write_units for a in shared) / requests if requests else 0.0

    def to_plain(self) -> dict[str, Any]:
        """Return the traffic as plain data."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Traffic":
        """Undo `to_plain`."""
        return cls(**{**plain, "arrays": tuple(ArrayTraffic(**a) for a in plain["arrays"])})


def measure(recording: Recording, timeline: Timeline) -> Traffic:
    """Count the traffic of a recording."""
    log = recording.accesses
    arrays = len(recording.arrays)
    kind = log.array.astype(np.int64) * 2 + log.write
    step = timeline.step_of_row
    rows_kind, rows_step, units = warp_units(recording, timeline)

    running = np.zeros((timeline.steps, arrays * 2, 3), np.int64)
    flat = step * (arrays * 2) + kind
    bins = timeline.steps * arrays * 2
    running[:, :, 0] = np.bincount(flat, minlength=bins).reshape(-1, arrays * 2)
    running[:, :, 1] = np.bincount(flat, log.bytes, minlength=bins).reshape(-1, arrays * 2)
    request_flat = rows_step * (arrays * 2) + rows_kind
    running[:, :, 2] = np.bincount(request_flat, units, minlength=bins).reshape(-1, arrays * 2)
    np.cumsum(running, axis=0, out=running)
    totals = running[-1] if timeline.steps else np.zeros((arrays * 2, 3), np.int64)
    requests = np.bincount(rows_kind, minlength=arrays * 2)

    entries = []
    for index, array in enumerate(recording.arrays):
        read, write = 2 * index, 2 * index + 1
        entries.append(
            ArrayTraffic(
                array.name,
                array.space,
                reads=int(totals[read, 0]),
                writes=int(totals[write, 0]),
                read_bytes=int(totals[read, 1]),
                write_bytes=int(totals[write, 1]),
                read_requests=int(requests[read]),
                write_requests=int(requests[write]),
                read_units=int(totals[read, 2]),
                write_units=int(totals[write, 2]),
            )
        )
    return Traffic(tuple(entries), running.reshape(timeline.steps, arrays, 2, 3), _tile_steps(recording))


def warp_units(recording: Recording, timeline: Timeline) -> tuple[Ints, Ints, Ints]:
    """Return, per warp request: array and direction (2 * array + write), step, and sectors or wavefronts."""
    log = recording.accesses
    if not len(log):
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    warps = -(-recording.threads // WARP)
    warp = log.block.astype(np.int64) * warps + log.thread // WARP
    request = timeline.step_of_row * (recording.blocks * warps) + warp
    itemsize = np.array([a.itemsize for a in recording.arrays], np.int64)[log.array]
    shared = np.array([a.space == "shared" for a in recording.arrays])[log.array]
    first = log.element * itemsize
    # An access that straddles two sectors or words counts in both: expand it by what it covers.
    unit = np.where(shared, BANK_BYTES, SECTOR_BYTES)
    spans = (first + log.bytes - 1) // unit - first // unit + 1
    rows = np.repeat(np.arange(len(log)), spans)
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(spans) - spans, spans)
    place = (first // unit)[rows] + offset

    # One row per request and different place: this is the number of sectors, and the words for the banks.
    width = int(place.max()) + 1
    unique = np.unique(request[rows] * width + place)
    owner, place = unique // width, unique % width
    ids, sectors = np.unique(owner, return_counts=True)
    bank_load = np.bincount(np.searchsorted(ids, owner) * BANKS + place % BANKS, minlength=len(ids) * BANKS)
    wavefronts = bank_load.reshape(-1, BANKS).max(axis=1)

    step = ids // (recording.blocks * warps)
    is_shared = np.array([a.space == "shared" for a in recording.arrays])[timeline.array[step]]
    kind = timeline.array[step] * 2 + timeline.write[step]
    return kind, step, np.where(is_shared, wavefronts, sectors)


def _tile_steps(recording: Recording) -> int:
    log = recording.accesses
    shared = np.array([a.space == "shared" for a in recording.arrays])
    rows = np.flatnonzero(log.write & shared[log.array])
    if not len(rows):
        return 0
    pairs = np.unique(log.block[rows].astype(np.int64) << 16 | log.phase[rows])
    return int(np.bincount(pairs >> 16).max())


def analyse(recording: Recording) -> Traffic:
    """Count the traffic of a recording for which no timeline is at hand."""
    return measure(recording, build(recording))
