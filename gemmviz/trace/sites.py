"""What each memory instruction of the source costs: its warp requests, and how far they are from the best possible."""

from dataclasses import dataclass

import numpy as np

from gemmviz.trace.recording import WARP, Recording
from gemmviz.trace.timeline import Ints, Timeline
from gemmviz.trace.traffic import BANK_BYTES, BANKS, SECTOR_BYTES, warp_units


@dataclass(frozen=True)
class SiteTraffic:
    """What the requests of one memory instruction cost.

    Attributes
    ----------
    line
        Of the source, from 1; 0 where unknown.
    array, space, write
        What it accesses, and whether it writes.
    requests, units
        Warp requests, and the sectors (global) or wavefronts (shared) that they take.
    asked_bytes
        What all threads together ask for; a sector that several lanes share counts once for each of them.
    least_units
        What the same requests would take if their threads asked for neighbouring places.
    """

    line: int
    array: str
    space: str
    write: bool
    requests: int
    units: int
    asked_bytes: int
    least_units: int

    @property
    def degree(self) -> float:
        """How many times the units that neighbouring places would take: 1 is coalesced, or free of conflicts."""
        return self.units / self.least_units if self.least_units else 1.0


def by_site(recording: Recording, timeline: Timeline) -> list[SiteTraffic]:
    """Count the traffic of each memory instruction, in the order of the source's lines."""
    log = recording.accesses
    _, step, units = warp_units(recording, timeline)
    sites = len(recording.sites)
    site = timeline.site[step]
    asked = np.bincount(timeline.step_of_row, log.bytes, minlength=timeline.steps) if len(log) else np.zeros(0)
    # Per request: the places that differ, in bytes, if they lay side by side.
    different = _different_bytes(recording, timeline)
    unit = np.array([BANKS * BANK_BYTES if a.space == "shared" else SECTOR_BYTES for a in recording.arrays], np.int64)
    least = -(-different // unit[timeline.array[step]])
    totals = [np.bincount(site, w, minlength=sites).astype(np.int64) for w in (np.ones(len(site)), units, least)]
    asked_of = np.bincount(timeline.site, asked, minlength=sites).astype(np.int64)
    array = np.zeros(sites, np.int64)
    write = np.zeros(sites, bool)
    array[timeline.site], write[timeline.site] = timeline.array, timeline.write
    found = [
        SiteTraffic(
            recording.sites[i].line,
            recording.arrays[array[i]].name,
            recording.arrays[array[i]].space,
            bool(write[i]),
            int(totals[0][i]),
            int(totals[1][i]),
            int(asked_of[i]),
            int(totals[2][i]),
        )
        for i in range(sites)
        if totals[0][i]
    ]
    return sorted(found, key=lambda s: (s.line, s.array, s.write))


def _different_bytes(recording: Recording, timeline: Timeline) -> Ints:
    """Return, per warp request in the order of `warp_units`, how many bytes at different places it touches."""
    log = recording.accesses
    if not len(log):
        return np.zeros(0, np.int64)
    warps = -(-recording.threads // WARP)
    warp = log.block.astype(np.int64) * warps + log.thread // WARP
    request = timeline.step_of_row * (recording.blocks * warps) + warp
    width = int(log.element.max()) + 1
    first = np.unique(request * width + log.element, return_index=True)[1]
    _, inverse = np.unique(request[first], return_inverse=True)
    different: Ints = np.bincount(inverse, log.bytes[first]).astype(np.int64)
    return different
