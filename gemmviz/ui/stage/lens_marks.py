"""What a lens marks on the matrices themselves: places of A and B, each drawn by the lens."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import Lens, Marking, Place
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
    """

    def __init__(self, playable: Playable, theme: Theme, font: QFont) -> None:
        self._playable, self._theme, self._font = playable, theme, font

    def _places(self, lens: Lens | None, moment: Moment) -> tuple[Place, ...]:
        return lens.places(self._playable, moment.step, moment.block) if isinstance(lens, Marking) else ()

    def changed(self, lens: Lens | None, before: Moment, now: Moment) -> list[int]:
        """Return the matrices whose marks differ at two moments of one block."""
        one, other = (set(self._places(lens, moment)) for moment in (before, now))
        return sorted({place.matrix for place in one ^ other})

    def draw(self, painter: QPainter, panels: list[Panel], seen: QRectF, moment: Moment, lens: Lens | None) -> None:
        """Draw the marks: areas, or frames where cells show their values.

        Parameters
        ----------
        painter, panels, seen
            The target, the places of the arrays, and the part that is not covered.
        moment, lens
            The moment, and the lens on the stage.
        """
        if not isinstance(lens, Marking):
            return
        by_array = {panel.array: panel for panel in panels}
        for place in self._places(lens, moment):
            panel = by_array.get(place.matrix)
            if panel is None:
                continue
            cell = panel.cell
            at = panel.x + place.column * cell, panel.y + place.row * cell
            box = QRectF(*at, place.columns * cell, place.rows * cell)
            if min(box.width(), box.height()) >= _LEAST_SIDE and box.intersects(seen):
                lens.mark(painter, box, place, cell >= SUM_CELL, self._theme, self._font)
