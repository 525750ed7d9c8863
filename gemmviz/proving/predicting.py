"""Makes predictions: records a launch, some blocks at a time, and counts the cost of its accesses."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import KernelTimeout
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.proving.jobs import Job
from gemmviz.proving.movers import COPY_READ, THREAD, movers, unseen
from gemmviz.proving.prediction import PredictedCost, PredictedSite, Prediction
from gemmviz.trace.cost.wavefronts import WAVEFRONT_BYTES, sectors, wavefronts
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import batches, changes
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.trace.recording.recording_cost import most_blocks

Ints = npt.NDArray[np.int64]
# The widths of a GPU's loads, in bytes per thread.
_WIDEST_BYTES = 16
# Accesses to record at a time: several predictions run in parallel.
_AT_ONCE = 8_000_000
# A device variable: unlike the declaration of a function, it has no parenthesis before its end.
_OWN = re.compile(r"\b__device__\b[^(){};=]*?(\w+)\s*(?:\[[^;{}=]*)?[;=]")


def predict(job: Job, deadline_s: float = 120.0) -> Prediction:
    """Record a job in this process, some blocks at a time, and count.

    Raises
    ------
    GemmvizError
        As `gemmviz.trace.recording.record.record` does.
    """
    launch = job.launch()
    try:
        step = most_blocks(launch, _AT_ONCE)
    except KernelTimeout:  # blocks may wait for each other: record all of them together
        step = launch.blocks
    together = launch.cluster[0]
    step = max(step // together, 1) * together
    total: Prediction | None = None
    for first in range(0, launch.blocks, step):
        part = of(record(launch, deadline_s=deadline_s, blocks=(first, min(first + step, launch.blocks))))
        total = part if total is None else total + part
    assert total is not None  # a launch has at least one block
    return total


def of(recording: Recording) -> Prediction:
    """Return the prediction of a recording."""
    places = [(site.line, site.column) for site in recording.sites]
    first = np.array([places.index(place) for place in places] or [0], np.int64)
    own = np.arange(len(first))
    who = movers(recording)
    return Prediction(
        len(recording.accesses),
        recording.wrong,
        _spots(recording, who, first),
        _spots(recording, who, own) if (first != own).any() else (),
        unseen(recording, who),
        tuple(dict.fromkeys(_OWN.findall(plain_code(recording.text)))),
    )


def _spots(recording: Recording, who: npt.NDArray[np.uint8], group: Ints) -> tuple[PredictedSite, ...]:
    """Count by groups of instructions; `group` maps each instruction to one instruction of its group."""
    log = recording.accesses
    found: dict[tuple[int, int, bool, int, bool], PredictedSite] = {}
    for rows, request, count in _batches(recording):
        counted = np.isin(who[rows], (THREAD, COPY_READ))
        rows, request = rows[counted], request[counted]
        kind = (group[log.site[rows]] << 8 | log.array[rows]) << 9 | log.write[rows] * 256 | log.bytes[rows]
        kind = kind << 1 | (who[rows] == COPY_READ)
        by_kind = np.argsort(kind, kind="stable")
        for mine in np.split(by_kind, changes(kind[by_kind])[1:]) if len(rows) else ():
            row = rows[mine[0]]
            number, array = int(group[log.site[row]]), int(log.array[row])
            write, width, copies = bool(log.write[row]), int(log.bytes[row]), bool(who[row] == COPY_READ)
            site, info = recording.sites[number], recording.arrays[array]
            cost = _cost(recording, array, request[mine], rows[mine], None, count, width, write, copies)
            once = {} if copies else _once(recording, array, rows[mine], width, write)
            parted = _parted(recording, array, request[mine], rows[mine], count, width, cost) if write else None
            spot = PredictedSite(
                site.line, site.column, info.name, info.space, write, width, cost, once, copies, parted
            )
            key = number, array, write, width, copies
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
    copies: bool = False,
) -> PredictedCost:
    """Count the cost of some accesses to an array; their request numbers are less than `count`."""
    log, info = recording.accesses, recording.arrays[array]
    start = (log.element[rows].astype(np.int64) if element is None else element) * info.itemsize
    lane = log.thread[rows].astype(np.int64) % WARP
    widths = np.full(len(rows), width, np.int64)
    requests = len(distinct(request))
    if info.space == "global":
        if copies:
            # cp.async processes as many lanes at a time as move 128 bytes, and a sector in two such parts counts twice:
            # an H200 counted so for rows of tiles that begin in the middle of a sector.
            parts = -(-WARP * width // WAVEFRONT_BYTES)
            request, count = request * parts + lane * parts // WARP, count * parts
        moved = int(sectors(request, lane, start, widths, count)[0].sum())
        return PredictedCost(requests, moved, moved)
    writes = np.full(len(rows), write)
    units, least = wavefronts(request, lane, start, widths, writes, count)
    return PredictedCost(requests, int(units.sum()), int(least.sum()))


def _parted(
    recording: Recording, array: int, request: Ints, rows: Ints, count: int, width: int, cost: PredictedCost
) -> PredictedCost | None:
    """Count the cost of stores if the lanes that have just loaded, on the same line, store separately from the others.

    A compiler does so if it branches instead of selecting between the loaded value and zeros. Both stores are executed.
    """
    log = recording.accesses
    if recording.arrays[array].space != "shared":
        return None
    line = np.array([site.line for site in recording.sites])
    before = np.maximum(rows - 1, 0)
    loaded = (log.write[before] == 0) & (line[log.site[before]] == line[log.site[rows]])
    for column in (log.block, log.phase, log.thread):
        loaded &= column[before] == column[rows]
    if not loaded.any():
        return None
    parted = _cost(recording, array, 2 * request + loaded, rows, None, 2 * count, width, True)
    return PredictedCost(2 * cost.requests, parted.units, parted.least)


def _once(recording: Recording, array: int, rows: Ints, width: int, write: bool) -> dict[int, PredictedCost]:
    """Count the cost of accesses if each thread makes each of them once per phase, with reads of increasing width.

    Lanes that diverge in the recording are combined: a compiler may select instead of branching.
    """
    log, itemsize = recording.accesses, recording.arrays[array].itemsize
    element = log.element[rows].astype(np.int64)
    thread = _stretch(log.block[rows], log.phase[rows], log.thread[rows])
    narrowest, needed = width, 0
    found: dict[int, PredictedCost] = {}
    while width <= _WIDEST_BYTES:
        each = width // itemsize
        chunk = element // each
        first = np.sort(np.unique(thread * (int(chunk.max()) + 1) + chunk, return_index=True)[1])
        needed = needed or len(first)
        if len(first) * (width // narrowest) != needed:
            break  # a wider load would include unused elements
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
