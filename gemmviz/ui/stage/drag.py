"""A press of the mouse on the stage: a click, or a drag once the pointer has moved."""

from PySide6.QtCore import QPoint, QPointF

_CLICK = 4  # pixels that the pointer may move between press and release of a click


class Drag:
    """The pressed button of a mouse; all points are in the widget's pixels."""

    def __init__(self) -> None:
        self._at: QPoint | None = None
        self._dragged = False

    @property
    def pressed(self) -> bool:
        """Whether the button is pressed."""
        return self._at is not None

    def press(self, point: QPointF) -> None:
        """Begin a click or a drag."""
        self._at, self._dragged = point.toPoint(), False

    def move(self, point: QPointF) -> QPoint:
        """Return by how much the picture moves with the pointer; zero while it may still be a click."""
        moved = point.toPoint() - (self._at or point.toPoint())
        if not self._dragged and moved.manhattanLength() <= _CLICK:
            return QPoint()
        self._at, self._dragged = point.toPoint(), True
        return moved

    def release(self) -> bool:
        """End it, and return whether it was a click."""
        clicked = self._at is not None and not self._dragged
        self._at = None
        return clicked
