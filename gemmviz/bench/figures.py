"""Result rows in order of arrival, kept by kernel, size and parameters, with the lookups that views need."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log

import numpy as np

from gemmviz.bench.row import Launched, Row, Sized, dtype_out

Size = tuple[int, int, int]
Key = tuple[str, int, int, int, tuple[tuple[str, int], ...]]
ON_GPU = ("cuda", "cublas")
"""The backends whose kernels run on a GPU."""
TRANSFER = "transfer"
"""The backend of rows that measure copies instead of a kernel: they are kept, and never ranked."""


def size_of(row: Sized) -> Size:
    """Return (M, N, K) of a row."""
    return row["M"], row["N"], row["K"]


def by_volume(size: Size) -> tuple[int, Size]:
    """Return the key that sorts sizes from small to large."""
    return size[0] * size[1] * size[2], size


def has_params(row: Row, params: Mapping[str, int]) -> bool:
    """Return whether a row was measured with these parameters."""
    found = row.get("params") or {}
    return all(found.get(name, value) == value for name, value in params.items())


def key_of(row: Launched) -> Key:
    """Return the key of a row's figure: kernel, size and parameters."""
    return row["kernel"], *size_of(row), tuple(sorted((row.get("params") or {}).items()))


def usable(row: Row | None) -> bool:
    """Return whether a row has a figure that may be shown and compared."""
    return bool(row and row["status"] == "ok" and row.get("gflops") and row.get("backend") != TRANSFER)


class Figures:
    """Rows of kernels and of transfers; a newer row of the same kernel, size and parameters replaces the older one.

    Parameters
    ----------
    rows
        The first rows, the oldest first.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: dict[str, dict[Key, Row]] = {}
        self.newest: Row | None = None
        """The last usable row."""
        self.changes = 0
        """The number of changes: added or dropped rows."""
        for row in rows:
            self.add(row)

    def __iter__(self) -> Iterator[Row]:
        """Yield all rows, kernel by kernel, the newest of each kernel last."""
        for rows in self._rows.values():
            yield from rows.values()

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))

    def of(self, kernel: str) -> list[Row]:
        """Return the rows of a kernel, the newest last."""
        return list(self._rows.get(kernel, {}).values())

    def add(self, row: Row) -> bool:
        """Add a row; return False for a cancelled row if the kernel already has a figure, which stays."""
        rows = self._rows.setdefault(row["kernel"], {})
        if row["status"] == "cancelled" and any(map(usable, rows.values())):
            return False
        key = key_of(row)
        rows.pop(key, None)
        rows[key] = row
        self.changes += 1
        if usable(row):
            self.newest = row
        return True

    def forget(self, kernel: str) -> None:
        """Drop all rows of a kernel."""
        self._rows.pop(kernel, None)
        self.changes += 1

    def latest(self, kernel: str) -> Row | None:
        """Return the newest row of a kernel, whatever its status."""
        return next(reversed(self.of(kernel)), None)

    def at(self, kernel: str, size: Size, params: Mapping[str, int] | None = None) -> Row | None:
        """Return the newest usable row of a kernel at a size, preferably with these parameters."""
        rows = [r for r in reversed(self.of(kernel)) if size_of(r) == size and usable(r)]
        wanted = (r for r in rows if params and has_params(r, params))
        return next(wanted, rows[0] if rows else None)

    def near(self, kernel: str, size: Size, params: Mapping[str, int] | None = None) -> Row | None:
        """Return the result of `at` at the size nearest to a size, in work, at which the kernel has a usable row."""
        sizes = {size_of(r) for r in self.of(kernel) if usable(r)}

        def distance(other: Size) -> tuple[bool, float, Size]:
            return other != size, abs(log(by_volume(other)[0] / by_volume(size)[0])), other

        return self.at(kernel, min(sizes, key=distance), params) if sizes else None

    def transfer(self, size: Size, dtype: str, c_type: str) -> Row | None:
        """Return the newest row that times the copies of a problem of that size and types of A and B, and of C."""
        wanted = (r for r in self if r.get("backend") == TRANSFER and r["status"] == "ok")
        return next((r for r in wanted if (size_of(r), r["dtype_in"], dtype_out(r)) == (size, dtype, c_type)), None)

    def sizes(self) -> list[Size]:
        """Return the sizes at which there are usable rows, from small to large."""
        return sorted({size_of(row) for row in self if usable(row)}, key=by_volume)

    def over_n(self, kernel: str) -> dict[tuple[tuple[str, int], ...], list[Row]]:
        """Return the usable rows of a kernel at M = N = K, from small to large, grouped by their parameters."""
        curves: dict[tuple[tuple[str, int], ...], list[Row]] = {}
        for row in sorted(filter(usable, self.of(kernel)), key=lambda r: r["N"]):
            if row["M"] == row["N"] == row["K"]:
                curves.setdefault(key_of(row)[-1], []).append(row)
        return curves


def fullest_size(rows: Iterable[Row]) -> Size | None:
    """Return the size at which most rungs have a figure, the largest of several; None without figures.

    If there are rungs of the GPU, only these count: CPU loops are measured at small sizes, because they are slow.
    """
    found = [row for row in rows if usable(row)]
    kernels: dict[Size, set[str]] = {}
    for row in [row for row in found if row["backend"] in ON_GPU] or found:
        kernels.setdefault(size_of(row), set()).add(row["kernel"])
    return max(kernels, key=lambda s: (len(kernels[s]), by_volume(s)), default=None)


@dataclass(frozen=True)
class Shown:
    """A row to show, with its origin: ``origin`` is empty if it was measured here, else it names the reference."""

    row: Row
    origin: str = ""


@dataclass(frozen=True)
class Turn:
    """The kernel and the round of new samples: ``round`` (from 1) of ``rounds``.

    ``verified``: C was right before the timing began.
    """

    kernel: str
    size: Size
    round: int
    rounds: int
    verified: bool


Sampled = tuple[str, str]
"""The owner of samples: the label of a row, and the size as text."""


@dataclass
class SampleSeries:
    """The samples of one kernel at one size in the current or last run: GFLOPS of each launch.

    ``starts`` has, for each round, the index of its first sample; ``turn`` is the newest one, None if unknown.
    """

    label: str
    size: str
    gflops: list[float] = field(default_factory=list)
    median: float = 0.0
    turn: Turn | None = None
    starts: list[int] = field(default_factory=list)

    def add(self, gflops: Iterable[float], median: float, turn: Turn | None = None) -> None:
        """Take samples of a round, and the median of all samples up to now."""
        while len(self.starts) < (turn.round if turn else 1):
            self.starts.append(len(self.gflops))
        self.gflops.extend(gflops)
        self.median, self.turn = median, turn

    def by_round(self) -> list[list[float]]:
        """Return the samples, round by round."""
        ends = [*self.starts[1:], len(self.gflops)]
        return [self.gflops[start:end] for start, end in zip(self.starts, ends, strict=True)]

    @property
    def spread(self) -> float:
        """The interquartile range over the median; 0 with fewer than two samples."""
        if len(self.gflops) < 2 or not self.median:
            return 0.0
        low, high = np.percentile(self.gflops, (25, 75))
        return float(high - low) / self.median


Pick = Callable[[str], Shown | None]
"""Returns the figure to show of the kernel with that name, or None."""
