"""Which places of the stage have to be painted again, and drawing within a place."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QRegion

from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.plan import Plan
from gemmviz.ui.stage.scene import Bounds, Panel

_PIECE = 80.0  # pixels of a way in one box
_AROUND = 8.0  # pixels round an array: frames of cells at its edges reach out of it


def box(place: Bounds | None) -> QRectF:
    """Return a place as a rectangle; an empty one for none."""
    return QRectF(place.left, place.top, place.width, place.height) if place is not None else QRectF()


def grown(place: Bounds) -> QRectF:
    """Return a place with all that letters and signs reach out of it."""
    return box(place).adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)


def needs(part: QRegion | None, place: Bounds | QRectF) -> bool:
    """Say whether a part of the stage (None: all of it) has something of a place."""
    if part is None:
        return True
    return part.intersects((place if isinstance(place, QRectF) else box(place)).toAlignedRect())


def covers(places: Sequence[QRectF], part: QRegion) -> bool:
    """Say whether places cover a part of the stage."""
    left = QRegion(part)
    for place in places:
        left -= QRegion(place.toAlignedRect())
    return left.isEmpty()


def boxes(region: QRegion) -> list[QRect]:
    """Return the boxes that a region consists of."""
    return [*region]  # type: ignore[misc]  # PySide6's stubs leave out that regions are iterated


def joined(places: Sequence[QRect]) -> QRegion:
    """Return several places as one region."""
    region = QRegion()
    for place in places:
        region += QRegion(place)
    return region


def along(begin: QRectF, end: QRectF, more: float) -> list[QRectF]:
    """Return boxes that cover all between two rectangles, with some pixels around: their bounds are mostly larger."""
    way = end.topLeft() - begin.topLeft()
    count = max(ceil(max(abs(way.x()), abs(way.y())) / _PIECE), 1)
    steps = [_between(begin, end, number / count) for number in range(count + 1)]
    return [one.united(other).adjusted(-more, -more, more, more) for one, other in pairwise(steps)]


def _between(begin: QRectF, end: QRectF, share: float) -> QRectF:
    top_left = begin.topLeft() + (end.topLeft() - begin.topLeft()) * share
    bottom_right = begin.bottomRight() + (end.bottomRight() - begin.bottomRight()) * share
    return QRectF(top_left, bottom_right)


def around(panel: Panel) -> QRectF:
    """Return the place of an array with all that is drawn at its edges."""
    return box(panel.place).adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)


def shown(panels: Sequence[Panel], part: QRegion | None) -> list[Panel]:
    """Return the arrays that have something in a part of the stage (None: all of it)."""
    return [p for p in panels if part is None or part.intersects(around(p).toAlignedRect())]


def changing(
    plan: Plan, moment: Moment, has_lens: bool, arrays: Sequence[int], ways: Sequence[QRectF] = ()
) -> list[QRect] | None:
    """Return the places that a step changes, without lens and words.

    Parameters
    ----------
    plan, moment
        Where everything stands, and the moment.
    has_lens
        Whether there is a lens: it covers the strip beside the shared tiles, and mostly the tiles, too.
    arrays
        The arrays that look different after the step.
    ways
        The places of the ways of values before and after it.

    Returns
    -------
    list or None
        In pixels; None if the step may change anything.
    """
    if moment.frozen or moment.outdated:
        return None
    places = [around(panel) for panel in plan.uncovered(has_lens) if panel.array in arrays]
    if plan.aside is not None:
        aside = QRectF(plan.aside.x, plan.aside.y, plan.aside.width, plan.aside.height)
        places.append(aside.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND))
    return [place.toAlignedRect() for place in (*places, *ways)]


def draw_within(place: QRect, layer: Callable[[QPainter], object], painter: QPainter) -> None:
    """Draw a layer within a place only."""
    painter.save()
    painter.setClipRect(place, Qt.ClipOperation.IntersectClip)
    layer(painter)
    painter.restore()
