"""A part of the stage that is painted again only when something in it changed, and copied from a picture until then."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap


class KeptPicture:
    """The last picture of an opaque part of the stage."""

    def __init__(self) -> None:
        self._kept: tuple[Any, QPixmap] | None = None
        self.painted = 0
        """How often the part was painted, and not copied."""

    def draw(self, painter: QPainter, place: QRectF, key: Any, ratio: float, paint: Callable[[QPainter], None]) -> None:
        """Draw the part.

        Parameters
        ----------
        painter, place
            Where to; the part covers all of the place.
        key
            All that the part depends on, other than `place` and `ratio`; None: it changes with every frame, so that no
            picture is kept.
        ratio
            Device pixels per pixel.
        paint
            Paints the part with a painter.
        """
        whole = QRectF(place.toAlignedRect())
        # Between two pixels of the screen, a copy would be blurred.
        sides = whole.x(), whole.y(), whole.width(), whole.height()
        between = any(side * ratio != round(side * ratio) for side in sides)
        if key is None or between:
            self.painted += 1
            paint(painter)
            return
        state = key, sides, ratio
        if self._kept is None or self._kept[0] != state:
            self.painted += 1
            # A picture of the same size is painted over: new memory for each step takes much longer.
            before = self._kept[1] if self._kept is not None and self._kept[0][1:] == state[1:] else None
            self._kept = None  # if painting fails, the picture is of no state
            self._kept = state, _picture(whole, whole == place, ratio, painter, paint, before)
        painter.drawPixmap(whole.topLeft(), self._kept[1])


def _picture(
    place: QRectF,
    covered: bool,
    ratio: float,
    like: QPainter,
    paint: Callable[[QPainter], None],
    before: QPixmap | None,
) -> QPixmap:
    """Paint a picture of a place, over an earlier one; one that is not `covered` to its edges is clear there."""
    picture = before
    if picture is None:
        picture = QPixmap(round(place.width() * ratio), round(place.height() * ratio))
        picture.setDevicePixelRatio(ratio)
    if not covered:
        picture.fill(Qt.GlobalColor.transparent)
    # If painting fails, the painter must end before its picture: Qt would crash otherwise.
    with QPainter(picture) as into:
        into.setFont(like.font())
        into.translate(-place.topLeft())
        paint(into)
    return picture
