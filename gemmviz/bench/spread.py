"""How far the time of a row could be from its median, as its own rounds and samples show."""

from collections.abc import Iterable

from gemmviz.bench.results import Row

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
    times = [*(row["stats"][name] for name in ("q1", "median", "q3")), *(entry["median_s"] for entry in row["rounds"])]
    return min(times), max(times)
