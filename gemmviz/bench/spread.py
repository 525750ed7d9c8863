"""The possible deviation of a row's time from its median, from its rounds and samples."""

from collections.abc import Iterable

from gemmviz.bench.row import Row, stats_of

_SHAKY = ("noisy", "contended", "rounds-disagree")


def shaky(rows: Iterable[Row]) -> list[str]:
    """Return the flags of some rows that make their medians doubtful, each flag once."""
    return list(dict.fromkeys(flag for row in rows for flag in row["flags"] if flag in _SHAKY))


def span(row: Row) -> tuple[float, float]:
    """Return the shortest and the longest time among a row's quartiles and its rounds' medians, in seconds.

    Parameters
    ----------
    row
        A row with figures.
    """
    stats = stats_of(row)
    times = [stats["q1"], stats["median"], stats["q3"], *(entry["median_s"] for entry in row["rounds"])]
    return min(times), max(times)
