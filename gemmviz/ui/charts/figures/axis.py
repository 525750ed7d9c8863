"""Ticks of an axis: round numbers, as many as fit."""

from math import ceil, floor, log10

_STEPS = (1, 2, 5)
_MOST = 1e300
"""The largest span with ticks, and the inverse of the smallest; a damaged file may have other spans."""


def linear_ticks(most: float, count: int, least: float = 0.0) -> list[float]:
    """Return at most `count` + 1 multiples of 1, 2 or 5 times a power of ten between two values.

    Parameters
    ----------
    most, least
        The ends of the axis.
    count
        The number of steps that fit.
    """
    span = most - least
    if not 1 / _MOST < span < _MOST or count < 1:
        return [least]
    power = floor(log10(span / count))
    step = next(s * 10.0**p for p in (power, power + 1) for s in _STEPS if s * 10.0**p * count >= span * (1 - 1e-9))
    first = ceil(least / step - 1e-9)
    return [n * step for n in range(first, floor(most / step + 1e-9) + 1)]


def log_ticks(least: float, most: float, count: int) -> list[float]:
    """Return 1, 2 and 5 times powers of ten between two values; only powers of ten if these are more than `count`."""
    powers = range(floor(log10(least)) - 1, ceil(log10(most)) + 1)
    for steps in (_STEPS, (1,)):
        ticks = [s * 10.0**p for p in powers for s in steps if least <= s * 10.0**p <= most]
        if len(ticks) <= count:
            return ticks
    return ticks[:: max(1, ceil(len(ticks) / max(count, 1)))]
