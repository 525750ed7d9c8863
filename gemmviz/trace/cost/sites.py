"""The cost of each memory instruction of the source: its warp requests, and the smallest possible cost."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SiteTraffic:
    """The cost of the requests of one memory instruction.

    Attributes
    ----------
    line
        The line of the source, from 1; 0 if unknown.
    array, space, write
        The accessed array, its memory space, and whether it is written.
    accesses
        The number of accesses of single threads.
    requests, units
        Warp requests, and the sectors (global) or wavefronts (shared) that they take.
    asked_bytes
        Bytes that all threads together ask for; a sector that several lanes share counts once for each of them.
    least_units
        The units of the same requests if their threads asked for as many neighbouring bytes (global), or met no bank
        conflict (shared).
    narrow
        The width of blocks in threads, if this alone is the reason for more units (see
        `gemmviz.trace.cost.narrow_blocks`); else 0.
    """

    line: int
    array: str
    space: str
    write: bool
    accesses: int
    requests: int
    units: int
    asked_bytes: int
    least_units: int
    narrow: int = 0

    @property
    def degree(self) -> float:
        """Units divided by the smallest possible number: 1 is coalesced, or free of conflicts."""
        return self.units / self.least_units if self.least_units else 1.0

    @property
    def units_per_request(self) -> float:
        """The average number of sectors or wavefronts per warp request."""
        return self.units / self.requests


def by_line(sites: Iterable[SiteTraffic]) -> list[SiteTraffic]:
    """Add up the instructions that the compiler made from one access in the source, in the order of the lines."""
    merged: dict[tuple[int, str, bool], SiteTraffic] = {}
    for site in sites:
        key = (site.line, site.array, site.write)
        known = merged.get(key)
        merged[key] = (
            site
            if known is None
            else replace(
                known,
                accesses=known.accesses + site.accesses,
                requests=known.requests + site.requests,
                units=known.units + site.units,
                asked_bytes=known.asked_bytes + site.asked_bytes,
                least_units=known.least_units + site.least_units,
            )
        )
    return [merged[key] for key in sorted(merged)]
