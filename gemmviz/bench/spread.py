"""The possible distance of a row's time from its median, as its own rounds and samples show."""

from collections.abc import Iterable

from gemmviz.bench.row import Row, stats_of

_SHAKY = ("noisy", "contended", "rounds-disagree")


def shaky(rows: Iterable[Row]) -> list[str]:
    """Return the flags of some rows that put their medians in doubt, each flag once."""
    return list(dict.fromkeys(flag for row in rows for flag in row["flags"] if flag in _SHAKY))


def span(row: Row) -> tuple[float, float]:
    """Return the shortest and the longest of a row's quartiles and of the medians of its rounds, in seconds.

    Parameters
    ----------
    row
        A row with figures.
    """
    stats = stats_of(row)
    times = [stats["q1"], stats["median"], stats["q3"], *(entry["median_s"] for entry in row["rounds"])]
    return min(times), max(times)
