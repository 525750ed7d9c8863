"""Requests that take more sectors than needed only because a block is narrow.

The threads of one row of a block (one threadIdx.y) access neighbouring elements, or all the same one; but a warp holds
several such rows, and each of them begins elsewhere. Wider blocks make the same access coalesced.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.order.requests import Ints, Requests, batches
from gemmviz.trace.recording.recording import WARP, Recording

# To look takes as long as to count the traffic: larger recordings are not looked at.
_MOST_ROWS = 2_000_000
Place = tuple[int, str, bool]


def with_narrow(sites: Iterable[SiteTraffic], recording: Recording) -> list[SiteTraffic]:
    """Return lines with `SiteTraffic.narrow`, where narrow blocks are all that makes them uncoalesced.

    Parameters
    ----------
    sites
        Lines (see `by_line`) that take more units than needed.
    recording
        Where they come from, of a CUDA kernel. One of more than two million accesses is not looked at.
    """
    sites = list(sites)
    across = recording.block[0]
    asked = {_place(site) for site in sites if site.space == "global"}
    # One thread in a row has no neighbours there; and a warp that is one row of its block meets no second one.
    if not asked or not 1 < across < WARP or len(recording.accesses) > _MOST_ROWS:
        return sites
    apart, same = _by_rows(recording, asked)
    # Rows that fill whole sectors waste none; but of one element each, two in a warp are one too many.
    too_short = {array.name for array in recording.arrays if across * array.itemsize < SECTOR_BYTES}
    narrow = {place for place in asked - apart if place in same or place[1] in too_short}
    return [replace(site, narrow=across) if _place(site) in narrow else site for site in sites]


def _place(site: SiteTraffic) -> Place:
    return site.line, site.array, site.write


def _by_rows(recording: Recording, asked: set[Place]) -> tuple[set[Place], set[Place]]:
    """Return the places at which threads of one row of a block are apart, and those at which all access the same."""
    apart: set[Place] = set()
    shared = set(asked)
    log = recording.accesses
    lines = [site.line for site in recording.sites]
    names = [array.name for array in recording.arrays]
    itemsize = np.array([array.itemsize for array in recording.arrays], np.int64)
    for requests in batches(recording):
        cut = slice(requests.first, requests.first + len(requests.of_row))
        kind = (log.site[cut].astype(np.int64) * len(names) + log.array[cut]) * 2 + log.write[cut]
        for number in np.unique(kind):
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
    """Return how many bytes lie from each access of a row of a block in one request to the next one."""
    order = np.lexsort((start, row_of_block, requests.of_row[rows]))
    request, row, start = requests.of_row[rows][order], row_of_block[order], start[order]
    together = (request[1:] == request[:-1]) & (row[1:] == row[:-1])
    gaps: Ints = np.diff(start)[together]
    return gaps
