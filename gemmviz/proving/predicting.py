"""Makes predictions: records a launch, some blocks at a time, and counts what its accesses cost."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.proving.jobs import Job
from gemmviz.proving.prediction import Cost, Prediction, Spot
from gemmviz.trace.cost import most_blocks
from gemmviz.trace.record import record
from gemmviz.trace.recording import WARP, Recording
from gemmviz.trace.requests import batches, changes
from gemmviz.trace.wavefronts import sectors, wavefronts

Ints = npt.NDArray[np.int64]
# What one load of a GPU can move per thread.
_WIDEST_BYTES = 16
# Accesses to record at a time: several predictions are made side by side.
_AT_ONCE = 8_000_000


def predict(job: Job, deadline_s: float = 120.0) -> Prediction:
    """Record a job in this process, some blocks at a time, and count.

    Raises
    ------
    GemmvizError
        As `gemmviz.trace.record.record` does.
    """
    launch = job.launch()
    step = max(1, most_blocks(launch, _AT_ONCE))
    total: Prediction | None = None
    for first in range(0, launch.blocks, step):
        part = of(record(launch, deadline_s=deadline_s, blocks=(first, min(first + step, launch.blocks))))
        total = part if total is None else total + part
    assert total is not None  # a launch has blocks
    return total


def of(recording: Recording) -> Prediction:
    """Count what a recording predicts."""
    places = [(site.line, site.column) for site in recording.sites]
    first = np.array([places.index(place) for place in places] or [0], np.int64)
    own = np.arange(len(first))
    finer = _spots(recording, own) if (first != own).any() else ()
    return Prediction(len(recording.accesses), recording.wrong, _spots(recording, first), finer)


def _spots(recording: Recording, group: Ints) -> tuple[Spot, ...]:
    """Count by groups of instructions; `group` gives each instruction the number of one of its group."""
    log = recording.accesses
    found: dict[tuple[int, int, bool, int], Spot] = {}
    for rows, request, count in _batches(recording):
        kind = (group[log.site[rows]] << 8 | log.array[rows]) << 8 | log.write[rows] * 128 | log.bytes[rows]
        by_kind = np.argsort(kind, kind="stable")
        for mine in np.split(by_kind, changes(kind[by_kind])[1:]):
            row = rows[mine[0]]
            number, array = int(group[log.site[row]]), int(log.array[row])
            write, width = bool(log.write[row]), int(log.bytes[row])
            site, info = recording.sites[number], recording.arrays[array]
            cost = _cost(recording, array, request[mine], rows[mine], None, count, width, write)
            once = _once(recording, array, rows[mine], width, write)
            spot = Spot(site.line, site.column, info.name, info.space, write, width, cost, once)
            key = number, array, write, width
            found[key] = spot if key not in found else found[key] + spot
    return tuple(spot for _, spot in sorted(found.items()))


def _batches(recording: Recording) -> Iterator[tuple[Ints, Ints, int]]:
    for batch in batches(recording):
        yield batch.first + np.arange(len(batch.of_row)), batch.of_row, len(batch)


def _cost(
    recording: Recording,
    array: int,
    request: Ints,
    rows: Ints,
    element: Ints | None,
    count: int,
    width: int,
    write: bool,
) -> Cost:
    """Count what some accesses to an array cost, whose requests are numbered below `count`."""
    log, info = recording.accesses, recording.arrays[array]
    start = (log.element[rows].astype(np.int64) if element is None else element) * info.itemsize
    lane = log.thread[rows].astype(np.int64) % WARP
    widths = np.full(len(rows), width, np.int64)
    requests = len(np.unique(request))
    if info.space == "global":
        moved = int(sectors(request, lane, start, widths, count)[0].sum())
        return Cost(requests, moved, moved)
    writes = np.full(len(rows), write)
    units, least = wavefronts(request, lane, start, widths, writes, count)
    return Cost(requests, int(units.sum()), int(least.sum()))


def _once(recording: Recording, array: int, rows: Ints, width: int, write: bool) -> dict[int, Cost]:
    """Count what accesses would cost if each thread made each of them once per phase, reads in wider and wider ones.

    Lanes that branch apart in the recording come together in this: a compiler may select instead of branch.
    """
    log, itemsize = recording.accesses, recording.arrays[array].itemsize
    element = log.element[rows].astype(np.int64)
    thread = _stretch(log.block[rows], log.phase[rows], log.thread[rows])
    narrowest, needed = width, 0
    found: dict[int, Cost] = {}
    while width <= _WIDEST_BYTES:
        each = width // itemsize
        chunk = element // each
        first = np.sort(np.unique(thread * (int(chunk.max()) + 1) + chunk, return_index=True)[1])
        needed = needed or len(first)
        if len(first) * (width // narrowest) != needed:
            break  # a wider load would bring what nobody asks for
        heads = changes(thread[first])
        place = np.arange(len(first)) - np.repeat(heads, np.diff(heads, append=len(first)))
        mine = rows[first]
        warp = _stretch(log.block[mine], log.phase[mine], log.thread[mine] // WARP)
        request = np.unique(warp * (int(place.max()) + 1) + place, return_inverse=True)[1]
        count = int(request.max()) + 1
        found[width] = _cost(recording, array, request, mine, chunk[first] * each, count, width, write)
        if write:
            break
        width *= 2
    return found


def _stretch(*columns: npt.NDArray[Any]) -> Ints:
    """Give a number to each stretch of rows over which no column changes."""
    begins = np.zeros(len(columns[0]), np.int64)
    begins[changes(*columns)] = 1
    return np.cumsum(begins)
