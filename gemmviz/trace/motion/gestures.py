"""The progress of a gesture at a fraction of a step: shares from 0 to 1, the same forwards and backwards.

A gesture joins two recorded steps. Only places and opacities are between two values; the value of a cell changes at
whole steps only.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Motion = Literal["full", "plain", "bare", "none", "line"]
"""How much of a gesture is drawn: all of it; without rise and band; without shadow, too; nothing; a line instead."""

RISEN, ARRIVED = 0.15, 0.90
"""Of a copy's way: its ghosts have risen, and they have arrived and begin to land."""
MET, ADDED = 0.30, 0.90
"""Of a multiply-add: its operands have met, and the product has reached its sum."""
_WAITS_AT = 0.5  # of its way, a copy that takes more than one step


def share(value: float | Floats, begin: float, end: float) -> Floats:
    """Return how far a value has come from `begin` to `end`: 0 before, 1 behind."""
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
        float64. A copy whose write is the next step takes that one step. Any other leaves with its read, waits at 0.5,
        and lands with its write.
    """
    since, until = (position - steps.astype(np.float64) for steps in (begin, end))
    leaves, lands = share(since, 0.0, 1.0), share(until, -1.0, 0.0)
    near = end - begin <= 1
    return np.where(near, leaves, _WAITS_AT * leaves + (1 - _WAITS_AT) * lands)


def place(gesture: float | Floats) -> Floats:
    """Return how far a ghost is from its source (0) to its target (1) at a part of its gesture."""
    return in_out_cubic(share(gesture, RISEN, ARRIVED))


def lift(gesture: float | Floats) -> Floats:
    """Return the height of a ghost above the cells, from 0 to 1: it rises first, and lands last."""
    return np.minimum(share(gesture, 0.0, RISEN), 1 - share(gesture, ARRIVED, 1.0))


def met(fraction: float) -> float:
    """Return how far two operands are on their way to each other (1: they have met)."""
    return float(share(fraction, 0.0, MET))


def product_place(fraction: float) -> float:
    """Return how far a product is on its way to its sum."""
    return float(out_cubic(share(fraction, MET, ADDED)))
