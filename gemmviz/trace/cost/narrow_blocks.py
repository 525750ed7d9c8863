"""Requests that take more sectors than needed only because a block is narrow.

The threads of one row of a block (one threadIdx.y) access neighbouring elements, or all the same element; but a warp
has several such rows, and each row starts at another address. In wider blocks the same access is coalesced.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints, Requests, batches
from gemmviz.trace.recording.recording import WARP, Recording

# This test takes as long as counting the traffic: larger recordings are not tested.
_MOST_ROWS = 2_000_000
Place = tuple[int, str, bool]


def with_narrow(sites: Iterable[SiteTraffic], recording: Recording) -> list[SiteTraffic]:
    """Return lines with `SiteTraffic.narrow` set if narrow blocks alone make them uncoalesced.

    Parameters
    ----------
    sites
        Lines (see `by_line`) that take more units than needed.
    recording
        The recording of a CUDA kernel. A recording of more than two million accesses is not tested.
    """
    sites = list(sites)
    across = recording.block[0]
    asked = {_place(site) for site in sites if site.space == "global"}
    # A row of one thread has no neighbours; and a warp that is one row of its block has no second row.
    if not asked or not 1 < across < WARP or len(recording.accesses) > _MOST_ROWS:
        return sites
    apart, same = _by_rows(recording, asked)
    # Rows that fill whole sectors waste none; but if each row accesses one element, two rows in a warp waste a sector.
    too_short = {array.name for array in recording.arrays if across * array.itemsize < SECTOR_BYTES}
    narrow = {place for place in asked - apart if place in same or place[1] in too_short}
    return [replace(site, narrow=across) if _place(site) in narrow else site for site in sites]


def _place(site: SiteTraffic) -> Place:
    return site.line, site.array, site.write


def _by_rows(recording: Recording, asked: set[Place]) -> tuple[set[Place], set[Place]]:
    """Return the places where threads of one row of a block have gaps, and those where all access the same element."""
    apart: set[Place] = set()
    shared = set(asked)
    log = recording.accesses
    lines = [site.line for site in recording.sites]
    names = [array.name for array in recording.arrays]
    itemsize = np.array([array.itemsize for array in recording.arrays], np.int64)
    for requests in batches(recording):
        cut = slice(requests.first, requests.first + len(requests.of_row))
        kind = (log.site[cut].astype(np.int64) * len(names) + log.array[cut]) * 2 + log.write[cut]
        for number in distinct(kind):
            site, rest = divmod(int(number), 2 * len(names))
            place = lines[site], names[rest // 2], bool(rest % 2)
            if place not in asked or place in apart:
                continue
            rows = np.flatnonzero(kind == number)
            start = log.element[cut][rows].astype(np.int64) * itemsize[rest // 2]
            gaps, width = (
                _gaps(requests, rows, log.thread[cut][rows] // recording.block[0], start),
                log.bytes[cut][rows],
            )
            if ((gaps != 0) & (gaps != width[: len(gaps)])).any():
                apart.add(place)
            if gaps.any():
                shared.discard(place)
    return apart, shared


def _gaps(requests: Requests, rows: Ints, row_of_block: Ints, start: Ints) -> Ints:
    """Return the distance in bytes from each access of a row of a block to the next one in the same request."""
    order = np.lexsort((start, row_of_block, requests.of_row[rows]))
    request, row, start = requests.of_row[rows][order], row_of_block[order], start[order]
    together = (request[1:] == request[:-1]) & (row[1:] == row[:-1])
    gaps: Ints = np.diff(start)[together]
    return gaps
