"""The marks of a lens on the matrices themselves: places of A and B, each drawn by the lens."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.box_pictures import BoxPictures
from gemmviz.ui.lenses.lens import Lens, MarkedPlaces, Marking, Place
from gemmviz.ui.look.theme import Theme
from gemmviz.ui.stage.cell_text import SUM_CELL
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.scene import Panel

_LEAST_SIDE = 6.0  # pixels of a place that is drawn


class LensMarks:
    """The marks on the matrices of one recording in one theme.

    Parameters
    ----------
    playable, theme, font
        The recording, its colours, and the base font.
    vector
        Draw for a device that keeps lines and texts: no picture of them is kept.
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont, vector: bool = False) -> None:
        self._playable, self._theme, self._font = playable, theme, font
        self.beside: Lens | None = None
        """A lens that does not stand on the stage but beside it, where there is none on the stage."""
        self._known: tuple[Lens | None, Marking | None] = None, None
        self.pictures, self._vector = BoxPictures(), vector

    def _marking(self, lens: Lens | None) -> Marking | None:
        """Return the lens, or that beside the stage, if it marks something; kept, as it takes long to find out."""
        lens = lens if lens is not None else self.beside
        if self._known[0] is not lens:
            self._known = lens, lens if isinstance(lens, Marking) else None
        return self._known[1]

    def _places(self, lens: Lens | None, moment: Moment) -> tuple[Place, ...]:
        marking = self._marking(lens)
        return marking.places(self._playable, moment.step, moment.block) if marking is not None else ()

    def name(self, lens: Lens | None) -> str:
        """Return the name of the lens that marks something; empty: none does."""
        marking = self._marking(lens)
        return marking.name if marking is not None else ""

    def changed(self, lens: Lens | None, before: Moment, now: Moment) -> list[int]:
        """Return the matrices whose marks differ at two moments of one block."""
        one, other = (set(self._places(lens, moment)) for moment in (before, now))
        return sorted({place.matrix for place in one ^ other})

    def draw(
        self,
        painter: QPainter,
        placed: list[Panel],
        seen: QRectF,
        moment: Moment,
        lens: Lens | None,
        ratio: float,
        only: list[Panel],
    ) -> None:
        """Draw the marks: areas, or frames where cells show their values.

        Parameters
        ----------
        painter, placed, seen
            The target, the places of the arrays, and the part that is not covered.
        moment, lens
            The moment, and the lens on the stage.
        ratio
            Device pixels per pixel.
        only
            The arrays whose marks are drawn.
        """
        marking = self._marking(lens)
        if marking is None:
            return
        boxes, whole = [], QRectF()
        for place in self._places(lens, moment):
            panel = placed[place.matrix]
            at = panel.x + place.column * panel.cell, panel.y + place.row * panel.cell
            box = QRectF(*at, place.columns * panel.cell, place.rows * panel.cell)
            if min(box.width(), box.height()) >= _LEAST_SIDE and box.intersects(seen):
                whole = whole.united(box)
                if panel in only:
                    boxes.append((place, box))
        if boxes:
            with_values = placed[boxes[0][0].matrix].cell >= SUM_CELL
            self.pictures.begin(None if self._vector else ratio, seen)
            marked = MarkedPlaces(boxes, whole, with_values, self._theme, self._font, self.pictures)
            marking.mark(painter, marked)
