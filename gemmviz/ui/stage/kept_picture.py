"""A part of the stage that is painted again only when something in it changed, and copied from a picture until then."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPixmap, QRegion

from gemmviz.ui.known import known

Result = TypeVar("Result")
Begin = Callable[[], Callable[[QPainter], bool]]
Paint = Callable[[QPainter, QRegion | None], None]
Layers = Callable[[QRegion | None], Iterator[Callable[[QPainter], object]]]


@dataclass
class _Coming:
    """A picture that is painted in pieces: its state, and the function that paints the next piece."""

    state: Any
    picture: QPixmap
    go_on: Callable[[QPainter], bool]


class KeptPicture:
    """The last picture of an opaque part of the stage."""

    def __init__(self) -> None:
        self._kept: tuple[Any, QPixmap] | None = None
        self._coming: _Coming | None = None
        self._next: _Coming | None = None
        self.spare: QPixmap | None = None
        """A picture that is not drawn any more: one of the same size is painted over it, as new memory takes longer."""
        self.painted = 0
        """How often the part was painted, and not copied."""

    def draw(
        self,
        painter: QPainter,
        place: QRectF,
        key: Any,
        ratio: float,
        paint: Paint,
        changed: Callable[[Any], QRegion | None] = lambda before: None,
    ) -> None:
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
            Paints the part with a painter; as far as a region needs it (None: all of it).
        changed
            Returns the places that differ from the picture of an earlier key; None if all may differ.
        """
        whole, sides = QRectF(place.toAlignedRect()), _sides(place)
        if key is None or _is_between(sides, ratio):
            self.painted += 1
            paint(painter, None)
            return
        state = key, sides, ratio
        if self._next is not None and self._next.state == state:
            self._take_next(whole, painter.font())
        if self._kept is None or self._kept[0] != state:
            self.painted += 1
            kept, self._kept = self._kept, None  # if painting fails, the picture is of no state
            same = kept is not None and kept[0][1:] == state[1:]
            region = changed(kept[0][0]) if kept is not None and same and whole == place else None
            # A picture of the same size is painted over: new memory for each step takes much longer.
            picture = kept[1] if kept is not None and same else self._memory(whole, ratio)
            if whole != place:
                picture.fill(Qt.GlobalColor.transparent)

            def paint_changed(into: QPainter) -> None:
                if region is not None:
                    into.setClipRegion(region)
                paint(into, region)

            if region is None or not region.isEmpty():
                _paint(picture, whole, painter.font(), paint_changed)
            self._kept = state, picture
        painter.drawPixmap(whole.topLeft(), self._kept[1])

    def _take_next(self, place: QRectF, font: QFont) -> None:
        """Finish the picture of the next key, and keep it."""
        coming, self._next = known(self._next), None
        while _paint(coming.picture, place, font, coming.go_on):
            pass
        self.painted += 1
        before, self._kept = self._kept, (coming.state, coming.picture)
        self.spare = before[1] if before is not None else self.spare

    def expects(self, place: QRectF, key: Any, ratio: float) -> bool:
        """Say whether the picture of a key is kept, or was begun: see `go_on_with_next`."""
        state, kept, coming = (key, _sides(place), ratio), self._kept, self._next
        return (kept is not None and kept[0] == state) or (coming is not None and coming.state == state)

    def go_on_with_next(
        self,
        place: QRectF,
        key: Any,
        ratio: float,
        font: QFont,
        layers: Layers,
        changed: Callable[[Any], QRegion | None],
        seconds: float,
    ) -> None:
        """Paint some layers of the picture that is likely to be drawn next; `draw` paints the others then.

        The picture that is kept stays as it is. A picture that was begun for another key is given up.

        Parameters
        ----------
        place, key, ratio, changed
            As for `draw`.
        font
            Of the painter.
        layers
            Yields functions that paint the part one after another, as far as a region needs it (None: all of it).
        seconds
            Processor time of this thread after which no further layer is painted now.
        """
        whole, sides = QRectF(place.toAlignedRect()), _sides(place)
        state, kept = (key, sides, ratio), self._kept
        if _is_between(sides, ratio) or whole != place or (kept is not None and kept[0] == state):
            return
        coming, self._next = self._next, None  # if painting fails, the picture is of no state
        end = thread_time() + seconds
        if coming is None or coming.state != state:
            region = changed(kept[0][0]) if kept is not None and kept[0][1:] == state[1:] else None
            same = coming if coming is not None and coming.state[1:] == state[1:] else None
            picture = same.picture if same is not None else self._memory(whole, ratio)
            under = known(kept)[1] if region is not None else None
            coming = _Coming(state, picture, _one_by_one(layers(region), region, under))
        while _paint(coming.picture, whole, font, coming.go_on) and thread_time() < end:
            pass
        self._next = coming

    def prepare(self, place: QRectF, key: Any, ratio: float, font: QFont, begin: Begin, seconds: float) -> bool:
        """Paint a part of the picture that will be drawn with these arguments; return whether it is ready.

        Until it is ready, the picture before can be drawn. A picture that was begun with other arguments is given up.

        Parameters
        ----------
        place, key, ratio
            As for `draw`.
        font
            Of the painter.
        begin
            Begins the picture: returns a function that paints the next piece of it with a painter, and returns whether
            there are more.
        seconds
            Processor time of this thread after which no further piece is painted now.
        """
        whole, sides = QRectF(place.toAlignedRect()), _sides(place)
        state = key, sides, ratio
        if _is_between(sides, ratio) or (self._kept is not None and self._kept[0] == state):
            return True  # `draw` needs no picture, or has it
        coming, self._coming = self._coming, None  # if painting fails, the picture is of no state
        if coming is None or coming.state != state:
            same = coming is not None and coming.state[1:] == state[1:]
            picture = known(coming).picture if same else self._memory(whole, ratio)
            if whole != place:
                picture.fill(Qt.GlobalColor.transparent)
            coming = _Coming(state, picture, begin())
        end = thread_time() + seconds
        while _paint(coming.picture, whole, font, coming.go_on):
            if thread_time() >= end:
                self._coming = coming
                return False
        self.painted += 1
        self._kept = state, coming.picture
        return True

    def let_go(self) -> QPixmap | None:
        """Keep no picture any more, and return one to paint over."""
        kept, self._kept, self._coming, self._next = self._kept, None, None, None
        return kept[1] if kept is not None else self.spare

    def _memory(self, place: QRectF, ratio: float) -> QPixmap:
        """Return a picture for a place, to be painted over."""
        spare, self.spare = self.spare, None
        width, height = round(place.width() * ratio), round(place.height() * ratio)
        if spare is not None and fits(spare, width, height, ratio):
            return spare
        picture = QPixmap(width, height)
        picture.setDevicePixelRatio(ratio)
        return picture


def fits(picture: QPixmap, width: int, height: int, ratio: float) -> bool:
    """Say whether a picture has a size, in device pixels."""
    return (picture.width(), picture.height(), picture.devicePixelRatio()) == (width, height, ratio)


def _one_by_one(
    layers: Iterator[Callable[[QPainter], object]], region: QRegion | None, under: QPixmap | None
) -> Callable[[QPainter], bool]:
    """Return a function that paints the next layer within a region, over another picture; see `_Coming`."""

    def copy(into: QPainter) -> None:
        if under is not None:
            into.resetTransform()
            into.drawPixmap(QPoint(), under)

    def clip(into: QPainter) -> None:
        if region is not None:
            into.setClipRegion(region)

    left = iter(layers if region is None or not region.isEmpty() else ())
    first: list[Callable[[QPainter], object]] = [copy]

    def go_on(into: QPainter) -> bool:
        if first:
            first.pop()(into)
            return True
        layer = next(left, None)
        if layer is None:
            return False
        clip(into)
        layer(into)
        return True

    return go_on


def _sides(place: QRectF) -> tuple[float, float, float, float]:
    whole = place.toAlignedRect()
    return whole.x(), whole.y(), whole.width(), whole.height()


def _is_between(sides: tuple[float, ...], ratio: float) -> bool:
    """Say whether a place is between two pixels of the screen: a copy would be blurred."""
    return any(side * ratio != round(side * ratio) for side in sides)


def _paint(picture: QPixmap, place: QRectF, font: QFont, paint: Callable[[QPainter], Result]) -> Result:
    """Paint something of a place into its picture; return the result of `paint`."""
    # If painting fails, the painter must end before its picture: Qt would crash otherwise.
    with QPainter(picture) as into:
        into.setFont(font)
        into.translate(-place.topLeft())
        return paint(into)
