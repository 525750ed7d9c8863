"""The progress of a gesture at a fraction of a step: shares from 0 to 1, the same forwards and backwards.

A gesture connects two recorded steps. Only positions and opacities are interpolated; the value of a cell changes at
whole steps only.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Motion = Literal["full", "plain", "bare", "none", "line"]
"""The detail of a gesture: everything; without rise and band; also without shadow; nothing; only a line."""

RISEN, ARRIVED = 0.15, 0.90
"""Shares of a copy's gesture: when its ghosts have risen, and when they have arrived and begin to descend."""
MET, ADDED = 0.30, 0.90
"""Shares of a multiply-add's gesture: when its operands have met, and when the product has reached its sum."""
_WAITS_AT = 0.5  # the share of the path at which a copy of more than one step waits


def share(value: float | Floats, begin: float, end: float) -> Floats:
    """Return the position of a value between `begin` and `end` as a share: 0 before, 1 after."""
    return np.clip((np.asarray(value, np.float64) - begin) / (end - begin), 0.0, 1.0)


def in_out_cubic(value: float | Floats) -> Floats:
    """Return an eased share: slow at both ends."""
    x = np.asarray(value, np.float64)
    return np.where(x < 0.5, 4 * x**3, 1 - (2 - 2 * x) ** 3 / 2)


def out_cubic(value: float | Floats) -> Floats:
    """Return an eased share: slow at the end, never past it."""
    return 1 - (1 - np.asarray(value, np.float64)) ** 3


def copied(begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], position: float) -> Floats:
    """Return the finished share of the gestures of copies.

    Parameters
    ----------
    begin, end
        The steps of the read and of the write.
    position
        Step and fraction.

    Returns
    -------
    ndarray
        float64. A copy whose write is the next step takes that one step. Any other copy starts at its read, waits at
        0.5, and arrives at its write.
    """
    since, until = (position - steps.astype(np.float64) for steps in (begin, end))
    leaves, lands = share(since, 0.0, 1.0), share(until, -1.0, 0.0)
    near = end - begin <= 1
    return np.where(near, leaves, _WAITS_AT * leaves + (1 - _WAITS_AT) * lands)


def place(gesture: float | Floats) -> Floats:
    """Return the position of a ghost between its source (0) and its target (1) at a share of its gesture."""
    return in_out_cubic(share(gesture, RISEN, ARRIVED))


def lift(gesture: float | Floats) -> Floats:
    """Return the height of a ghost above the cells, from 0 to 1: it rises at the beginning, and descends at the end."""
    return np.minimum(share(gesture, 0.0, RISEN), 1 - share(gesture, ARRIVED, 1.0))


def met(fraction: float) -> float:
    """Return the position of two operands on their path to each other (1: they have met)."""
    return float(share(fraction, 0.0, MET))


def product_place(fraction: float) -> float:
    """Return the position of a product on its path to its sum (1: it has reached it)."""
    return float(out_cubic(share(fraction, MET, ADDED)))
