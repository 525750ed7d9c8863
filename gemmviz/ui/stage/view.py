"""The visible part of the stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from gemmviz.catalogue.matrices import C
from gemmviz.ui.stage.scene import Panel

NEAREST, FURTHEST = 1.0, 60.0
"""How far the stage can be zoomed: at 1 all of it is seen."""
_IN_SIGHT = 64.0  # pixels of some array that stay visible however far it is shifted


@dataclass(frozen=True)
class View:
    """The visible part of the stage: zoom about the origin, then a shift in pixels."""

    zoom: float = 1.0
    dx: float = 0.0
    dy: float = 0.0

    def zoomed(self, factor: float, at: QPointF, to: QPointF | None = None) -> "View":
        """Return the view after zooming, so that the point `at` moves to `to` (by default, stays)."""
        to = to or at
        zoom = min(max(self.zoom * factor, NEAREST), FURTHEST)
        factor = zoom / self.zoom
        return View(zoom, to.x() - (at.x() - self.dx) * factor, to.y() - (at.y() - self.dy) * factor)

    def shifted(self, x: float, y: float) -> "View":
        """Return the view after shifting it by some pixels."""
        return View(self.zoom, self.dx + x, self.dy + y)


def kept_in_sight(view: View, panels: Sequence[Panel], seen: QRectF) -> View:
    """Return the view shifted so that the arrays cannot be lost: their middle ground covers that of the stage.

    Parameters
    ----------
    view
        The requested view.
    panels
        Where the arrays stand in it.
    seen
        The part of the stage that shows them, in pixels.
    """
    if not panels:
        return view
    boxes = [QRectF(p.x, p.y, p.width, p.height) for p in panels]
    whole = boxes[0]
    for box in boxes[1:]:
        whole = whole.united(box)
    if view.zoom <= NEAREST:
        return View()
    middle = seen.center()
    x = min(max(middle.x(), whole.left()), whole.right()) - middle.x()
    y = min(max(middle.y(), whole.top()), whole.bottom()) - middle.y()
    if x or y:
        view = view.shifted(-x, -y)
        boxes = [box.translated(-x, -y) for box in boxes]
    if any(_shows(box, seen) for box in boxes):
        return view
    # The middle of the stage is over one of the empty corners: bring the nearest array back.
    moves = [_way(box, seen) for box in boxes]
    x, y = min(moves, key=lambda move: abs(move[0]) + abs(move[1]))
    return view.shifted(x, y)


def point_of_interest(panels: Sequence[Panel], seen: QRectF, cell: tuple[int, int, int] | None) -> QPointF:
    """Return the point to zoom about: the chosen cell, or the middle of the visible part of the largest array.

    Parameters
    ----------
    panels
        Where the arrays stand.
    seen
        The part of the stage that shows them, in pixels.
    cell
        Array, row and column of the chosen cell; None: none is chosen. One that is not visible does not count.
    """
    if cell is not None:
        array, row, column = cell
        panel = next(p for p in panels if p.array == array)
        at = QPointF(panel.x + (column + 0.5) * panel.cell, panel.y + (row + 0.5) * panel.cell)
        if seen.contains(at):
            return at
    boxes = [QRectF(p.x, p.y, p.width, p.height).intersected(seen) for p in panels]
    # C last: of several that are equally large, the product counts.
    boxes = [box for box in [*boxes[:C], *boxes[C + 1 :], boxes[C]] if not box.isEmpty()]
    if not boxes:
        return seen.center()
    largest = max(box.width() * box.height() for box in boxes)
    return [box for box in boxes if box.width() * box.height() > 0.99 * largest][-1].center()


def _shows(box: QRectF, seen: QRectF) -> bool:
    part = box.intersected(seen)
    return part.width() >= min(_IN_SIGHT, box.width()) - 0.5 and part.height() >= min(_IN_SIGHT, box.height()) - 0.5


def _way(box: QRectF, seen: QRectF) -> tuple[float, float]:
    """Return by how much a box must be moved to be seen."""
    wide, high = min(_IN_SIGHT, box.width()), min(_IN_SIGHT, box.height())
    x = max(seen.left() + wide - box.right(), 0.0) + min(seen.right() - wide - box.left(), 0.0)
    y = max(seen.top() + high - box.bottom(), 0.0) + min(seen.bottom() - high - box.top(), 0.0)
    return x, y
