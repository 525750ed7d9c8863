"""The form of a lens: a picture of one idea, drawn in a rectangle from a recording at a moment."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from gemmviz.catalogue.lens_names import LensName
from gemmviz.trace.lenses.fillings import State
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.box_pictures import BoxPictures
from gemmviz.ui.look.theme import Theme


@dataclass(frozen=True)
class LensMoment:
    """A moment of a recording, and the chosen places.

    Attributes
    ----------
    playable
        The recording.
    step
        The step, from 0.
    block, warp, lane
        The chosen ones, by number.
    cell
        The array and element that are chosen; None: none.
    """

    playable: Playable
    step: int
    block: int
    warp: int
    lane: int
    cell: tuple[int, int] | None = None


class Lens(Protocol):
    """One lens. It keeps no state: the same moment in the same rectangle gives the same picture."""

    name: LensName
    title: str
    """In English, marked for translation."""

    def suits(self, playable: Playable) -> bool:
        """Say whether a recording has something that this lens shows; quick, as it is asked for each recording."""

    def paint(self, painter: QPainter, rect: QRectF, moment: LensMoment, theme: Theme, font: QFont) -> None:
        """Draw a moment within a rectangle, with a heading.

        Parameters
        ----------
        painter, rect
            Where to; nothing is drawn outside. From 300 × 220 pixels on everything that matters is legible, and up to
            1200 × 800 the room is used.
        moment
            The moment.
        theme
            The colours.
        font
            The font of body text; headings and figures are larger or smaller by a factor.
        """


@runtime_checkable
class Lasting(Protocol):
    """A lens whose picture stays the same over many steps: it is not painted again meanwhile."""

    def state(self, moment: LensMoment) -> Hashable:
        """Return all that the picture of a recording depends on, of a moment."""


@dataclass(frozen=True)
class Place:
    """A rectangle of a matrix that a lens marks.

    Attributes
    ----------
    matrix
        `A` or `B`.
    row, column, rows, columns
        Its first row and column, and how many of each it has.
    what
        The number of the tile and its state: all that the mark depends on, besides the place.
    """

    matrix: int
    row: int
    column: int
    rows: int
    columns: int
    what: tuple[int, State]


@dataclass(frozen=True)
class MarkedPlaces:
    """The places that a lens marks on the stage, and how.

    Attributes
    ----------
    boxes
        Some of the places of `Marking.places`, in their order, each with its rectangle in pixels.
    whole
        The rectangle around the marks of all matrices, which decides the size of type.
    with_values
        Whether the cells below show their values, which stay legible.
    theme, font
        As for `Lens.paint`.
    pictures
        The pictures of boxes that were drawn before.
    """

    boxes: list[tuple[Place, QRectF]]
    whole: QRectF
    with_values: bool
    theme: Theme
    font: QFont
    pictures: BoxPictures


@runtime_checkable
class Marking(Protocol):
    """A lens that also marks places of the matrices, where these are on the stage with it."""

    name: str

    def places(self, playable: Playable, step: int, block: int) -> tuple[Place, ...]:
        """Return the places that it marks for a block at a step; where two overlap, the later one is on top."""

    def mark(self, painter: QPainter, marked: MarkedPlaces) -> None:
        """Draw the marks of places with a painter."""
