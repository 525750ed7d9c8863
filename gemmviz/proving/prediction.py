"""The GPU counters that a recording predicts: per line and array, as recorded and as a compiler may make it."""

from collections import Counter
from dataclasses import dataclass, replace

from gemmviz.proving.movers import Unseen, added


@dataclass(frozen=True)
class PredictedCost:
    """Requests of warps, the units that they take (sectors, or wavefronts), and the least of the latter.

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
        Per thread and access.
    cost
        As recorded: one request for each access in the source.
    once
        By width in bytes: if each thread made each of its accesses between two barriers once, with loads of that width.
        Only widths that its accesses can be merged to. A compiler may make these of them.
    copies
        Whether ``cp.async`` makes the accesses: no compiler changes these.
    parted
        The cost of stores if lanes that have just loaded, on the same line, store apart from those that have not; None
        where no such load is.
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
        By instruction of the recorded program, where several have one place: loads that one expression makes, or the
        turns of an unrolled loop.
    unseen
        Data that is moved past the counters.
    own
        Names of memory that the kernel declares for itself on the device: its accesses there are not recorded.
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
    """Add the spots of another part of the same launch; where several are alike, they stand in the same order."""
    total: dict[tuple[object, ...], PredictedSite] = {}
    for spots in (mine, others):
        alike = Counter[tuple[object, ...]]()
        for spot in spots:
            what = spot.line, spot.column, spot.array, spot.write, spot.bytes
            key = *what, alike[what]
            alike[what] += 1
            total[key] = total[key] + spot if key in total else spot
    return tuple(total.values())
