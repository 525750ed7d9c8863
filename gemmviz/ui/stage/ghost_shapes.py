"""The shapes of copies on their way: which of them move as one, the rectangles round them, and the band behind them."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPolygonF

from gemmviz.trace.motion.flights import Flights

Floats = npt.NDArray[np.float64]


def together(flights: Flights) -> list[npt.NDArray[np.int64]]:
    """Return the copies that leave and land at the same steps and come from and go to the same arrays, together.

    Each box that the copy engine stores is by itself: boxes side by side in C may be apart in shared memory.
    """
    columns = (flights.begin, flights.end, flights.source, flights.target, flights.stored)
    # Later columns first: `np.lexsort` sorts by the last one.
    order = np.lexsort(columns[::-1])
    differs = np.zeros(len(order), bool)
    for column in columns:
        differs[1:] |= column[order][1:] != column[order][:-1]
    return np.split(order, np.flatnonzero(differs)) if len(order) else []


def bounds(x: Floats, y: Floats, side: Floats) -> QRectF:
    """Return the smallest rectangle round squares."""
    left, top = float(x.min()), float(y.min())
    return QRectF(left, top, float((x + side).max()) - left, float((y + side).max()) - top)


def hull(one: QRectF, other: QRectF) -> QPolygonF:
    """Return the smallest convex shape round two rectangles."""
    corners = [(x, y) for box in (one, other) for x in (box.left(), box.right()) for y in (box.top(), box.bottom())]
    points = sorted(set(corners))

    def half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for x, y in ordered:
            while len(found) > 1 and _turn(found[-2], found[-1], (x, y)) <= 0:
                found.pop()
            found.append((x, y))
        return found[:-1]

    return QPolygonF([QPointF(x, y) for x, y in (*half(points), *half(points[::-1]))])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def between(one: QRectF, other: QRectF, share: float) -> QRectF:
    """Return a rectangle on its way from one place to another."""
    ends = (one.topLeft(), other.topLeft()), (one.bottomRight(), other.bottomRight())
    return QRectF(*(begin + (end - begin) * share for begin, end in ends))
