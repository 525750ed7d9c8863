"""The GPU counters that a recording predicts, per line and array: as recorded, and as a compiler may change them."""

from collections import Counter
from dataclasses import dataclass, replace

from gemmviz.proving.movers import Unseen, added


@dataclass(frozen=True)
class PredictedCost:
    """Warp requests, their units (sectors, or wavefronts), and the smallest possible number of units.

    ``least`` is the cost of the same requests without bank conflicts, as the hardware counts them: one wavefront
    per part in which a request is served.
    """

    requests: int
    units: int
    least: int

    def __add__(self, other: "PredictedCost") -> "PredictedCost":
        return PredictedCost(self.requests + other.requests, self.units + other.units, self.least + other.least)


@dataclass(frozen=True)
class PredictedSite:
    """The accesses of one place in the source to one array.

    Attributes
    ----------
    line, column, array, space, write
        The place in the source, the array, and whether it is written.
    bytes
        Bytes per thread and access.
    cost
        As recorded: one request for each access in the source.
    once
        The cost by width in bytes, if each thread makes each of its accesses between two barriers once, with loads of
        that width. Only widths to which its accesses can be merged. A compiler may compile the accesses to these.
    copies
        Whether ``cp.async`` makes the accesses: compilers do not change these.
    parted
        The cost of stores if lanes that have just loaded, on the same line, store separately from the others; None if
        there is no such load.
    """

    line: int
    column: int
    array: str
    space: str
    write: bool
    bytes: int
    cost: PredictedCost
    once: dict[int, PredictedCost]
    copies: bool = False
    parted: PredictedCost | None = None

    def __add__(self, other: "PredictedSite") -> "PredictedSite":
        # A width must suit every part of the recording.
        once = {width: cost + other.once[width] for width, cost in self.once.items() if width in other.once}
        parted = self.parted + other.parted if self.parted and other.parted else None
        return replace(self, cost=self.cost + other.cost, once=once, parted=parted)


@dataclass(frozen=True)
class Prediction:
    """The prediction for a launch, from its recording.

    Attributes
    ----------
    accesses, wrong
        Accesses, and elements of C that are not A x B.
    spots
        By place in the source.
    finer
        By instruction of the recorded program, if one place has several: loads of one expression, or iterations of an
        unrolled loop.
    unseen
        Data that the counters do not include.
    own
        Names of memory that the kernel itself declares on the device: accesses to it are not recorded.
    """

    accesses: int
    wrong: int
    spots: tuple[PredictedSite, ...]
    finer: tuple[PredictedSite, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    own: tuple[str, ...] = ()

    def __add__(self, other: "Prediction") -> "Prediction":
        return Prediction(
            self.accesses + other.accesses,
            self.wrong + other.wrong,
            _added(self.spots, other.spots),
            _added(self.finer, other.finer),
            added((*self.unseen, *other.unseen)),
            self.own,
        )


def _added(mine: tuple[PredictedSite, ...], others: tuple[PredictedSite, ...]) -> tuple[PredictedSite, ...]:
    """Add the spots of another part of the same launch; spots of the same place are added in their order."""
    total: dict[tuple[object, ...], PredictedSite] = {}
    for spots in (mine, others):
        alike = Counter[tuple[object, ...]]()
        for spot in spots:
            what = spot.line, spot.column, spot.array, spot.write, spot.bytes
            key = *what, alike[what]
            alike[what] += 1
            total[key] = total[key] + spot if key in total else spot
    return tuple(total.values())
